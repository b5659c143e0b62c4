/* SPDX-License-Identifier: MIT */
/* Doubles a ceiling and picks a delay in its upper half.  Timers are the
 * callers'. */
#include "backoff.h"

#include <event2/util.h>

uint32_t
backoff_next(struct backoff *backoff)
{
    uint32_t random, half;

    if (backoff->ceiling_us == 0)
        backoff->ceiling_us = BACKOFF_MIN_US;
    else if (backoff->ceiling_us < BACKOFF_MAX_US / 2)
        backoff->ceiling_us *= 2;
    else
        backoff->ceiling_us = BACKOFF_MAX_US;
    half = backoff->ceiling_us / 2;
    evutil_secure_rng_get_bytes(&random, sizeof(random));
    /* The first delay is the least one allowed, so it is not halved. */
    if (half < BACKOFF_MIN_US)
        return BACKOFF_MIN_US + random % half;
    return half + random % half;
}
