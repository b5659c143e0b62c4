/* SPDX-License-Identifier: MIT */
/* Owns the way tests put bytes into a line.  What is in a line is up to the
 * test; events are written by json.c. */
#ifndef LANE_RIG_H
#define LANE_RIG_H

#include <string.h>

#include "../../proxy/lane.h"

/* lane_append adds |len| bytes to the line under way. */
static inline void
lane_append(struct lane *lane, const char *bytes, size_t len)
{
    char *to = lane_reserve(lane, len);

    if (to == NULL)
        return;
    memcpy(to, bytes, len);
    lane->len += len;
}

#endif
