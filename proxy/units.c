/* SPDX-License-Identifier: MIT */
/* Owns the reading of numbers, sizes and times.  Which option takes which is
 * options.c's. */
#include "units.h"

#include <stddef.h>
#include <string.h>

const struct unit units_none[] = {{"", 1}, {NULL, 0}};

const struct unit units_size[] = {
    {"", 1},           {"K", 1u << 10},   {"M", 1u << 20}, {"G", 1u << 30},
    {"k", 1u << 10},   {"m", 1u << 20},   {"g", 1u << 30}, {"KiB", 1u << 10},
    {"MiB", 1u << 20}, {"GiB", 1u << 30}, {NULL, 0},
};

const struct unit units_time[] = {
    {"", 1000000},
    {"us", 1},
    {"ms", 1000},
    {"s", 1000000},
    {"m", 60 * 1000000u},
    {"h", 3600 * UINT64_C(1000000)},
    {NULL, 0},
};

/* units_digits reads digits from |*text| and moves it behind them. */
static int
units_digits(const char **text, uint64_t *value)
{
    const char *p = *text;
    uint64_t n = 0;

    if (*p < '0' || *p > '9')
        return -1;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return -1;
        n = n * 10 + digit;
    }
    *text = p;
    *value = n;
    return 0;
}

int
units_parse(const char *text, const struct unit *units, uint64_t max,
            uint64_t *value)
{
    uint64_t n;

    if (units_digits(&text, &n) != 0)
        return -1;
    while (units->name != NULL && strcmp(units->name, text) != 0)
        units++;
    if (units->name == NULL || n > max / units->factor)
        return -1;
    *value = n * units->factor;
    return 0;
}
