/* SPDX-License-Identifier: MIT */
/* Whether a relay would be its own upstream. */
#ifndef SELFLOOP_H
#define SELFLOOP_H

#include "addr.h"

/* selfloop_is returns 1 when connections to |upstream|, or to one of the
 * addresses its name stands for, would come back to a socket that listens on
 * |listen|.  What cannot be resolved is not. */
int selfloop_is(const struct addr *listen, const struct addr *upstream);

#endif
