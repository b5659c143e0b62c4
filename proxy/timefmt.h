/* SPDX-License-Identifier: MIT */
/* Points in time as text. */
#ifndef TIMEFMT_H
#define TIMEFMT_H

#include <stdint.h>

/* TIME_TEXT_LEN is the length of 2026-11-30T17:40:57.123456Z with its NUL. */
#define TIME_TEXT_LEN 28

/* time_format writes |wall_us| (microseconds since 1970, UTC) as RFC 3339. */
void time_format(int64_t wall_us, char out[TIME_TEXT_LEN]);

/* struct time_memo keeps the last time in text: of times in one second, most
 * of it is the same.  All zero at first. */
struct time_memo {
    /* second is that of text, since 1970, plus 1; 0: there is none. */
    int64_t second;
    char text[TIME_TEXT_LEN];
};

/* time_format_memo is time_format with the help of |memo|, which owns the
 * text. */
const char *time_format_memo(struct time_memo *memo, int64_t wall_us);

#endif
