/* SPDX-License-Identifier: MIT */
/* Owns the form of times.  Computes the date itself: an event is written with
 * each message, and gmtime_r would take more time than the rest of it. */
#include "timefmt.h"

#define US_PER_DAY (86400LL * 1000000)

static void
put_digits(char *out, unsigned n, unsigned value)
{
    while (n > 0) {
        out[--n] = (char)('0' + value % 10);
        value /= 10;
    }
}

/* Days since 1970-01-01 to the Gregorian date; years begin in March, so that
 * the leap day is the last one. */
static void
put_date(char *out, int64_t days)
{
    int64_t shifted = days + 719468; /* since 0000-03-01 */
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    unsigned day = (unsigned)(shifted - era * 146097);
    unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    unsigned in_year = day - (365 * year + year / 4 - year / 100);
    unsigned shifted_month = (5 * in_year + 2) / 153;
    unsigned month = shifted_month < 10 ? shifted_month + 3
                                        : shifted_month - 9;
    int64_t full_year = era * 400 + year + (month <= 2 ? 1 : 0);

    put_digits(out, 4, (unsigned)full_year);
    out[4] = '-';
    put_digits(out + 5, 2, month);
    out[7] = '-';
    put_digits(out + 8, 2, in_year - (153 * shifted_month + 2) / 5 + 1);
}

void
time_format(int64_t wall_us, char out[TIME_TEXT_LEN])
{
    int64_t days = wall_us / US_PER_DAY;
    int64_t in_day = wall_us % US_PER_DAY;
    unsigned seconds;

    if (in_day < 0) {
        in_day += US_PER_DAY;
        days--;
    }
    seconds = (unsigned)(in_day / 1000000);
    put_date(out, days);
    out[10] = 'T';
    put_digits(out + 11, 2, seconds / 3600);
    out[13] = ':';
    put_digits(out + 14, 2, seconds / 60 % 60);
    out[16] = ':';
    put_digits(out + 17, 2, seconds % 60);
    out[19] = '.';
    put_digits(out + 20, 6, (unsigned)(in_day % 1000000));
    out[26] = 'Z';
    out[27] = '\0';
}

const char *
time_format_memo(struct time_memo *memo, int64_t wall_us)
{
    int64_t second = wall_us / 1000000;

    if (wall_us < 0 || memo->second != second + 1) {
        time_format(wall_us, memo->text);
        memo->second = wall_us < 0 ? 0 : second + 1;
    } else {
        put_digits(memo->text + 20, 6, (unsigned)(wall_us % 1000000));
    }
    return memo->text;
}
