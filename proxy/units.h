/* SPDX-License-Identifier: MIT */
/* Numbers with a unit, as written on a command line. */
#ifndef UNITS_H
#define UNITS_H

#include <stdint.h>

/* struct unit is a row of a table; a row with a NULL name ends it. */
struct unit {
    /* name is what stands behind the digits; "" for nothing. */
    const char *name;
    /* factor is what the digits are multiplied by. */
    uint64_t factor;
};

/* units_none, units_size and units_time are the tables in use: plain numbers,
 * bytes, microseconds. */
extern const struct unit units_none[];
extern const struct unit units_size[];
extern const struct unit units_time[];

/*
 * units_parse reads decimal digits and one of the names in |units|, and
 * nothing else: no sign, no space, no fraction, no trailing junk.  Returns 0;
 * or -1 for anything else, and for a value over |max|.
 */
int units_parse(const char *text, const struct unit *units, uint64_t max,
                uint64_t *value);

#endif
