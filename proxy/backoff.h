/* SPDX-License-Identifier: MIT */
/* Growing random delays for whatever is to be tried again: random, so that
 * those who failed together do not come back together. */
#ifndef BACKOFF_H
#define BACKOFF_H

#include <stdint.h>

/* BACKOFF_MIN_US and BACKOFF_MAX_US bound a delay: short enough not to be
 * noticed, and rare enough not to be felt. */
#define BACKOFF_MIN_US 50000u
#define BACKOFF_MAX_US 2000000u

/* struct backoff is all zero to begin with, and after a success. */
struct backoff {
    /* ceiling_us bounds the next delay; 0: none was taken yet. */
    uint32_t ceiling_us;
};

/* backoff_next returns the next delay in microseconds. */
uint32_t backoff_next(struct backoff *backoff);

#endif
