/* SPDX-License-Identifier: MIT */
/* Points in time as text. */
#ifndef TIMEFMT_H
#define TIMEFMT_H

#include <stdint.h>

/* TIME_TEXT_LEN is the length of 2026-11-30T17:40:57.123456Z with its NUL. */
#define TIME_TEXT_LEN 28

/* time_format writes |wall_us| (microseconds since 1970, UTC) as RFC 3339. */
void time_format(int64_t wall_us, char out[TIME_TEXT_LEN]);

#endif
