/* SPDX-License-Identifier: MIT */
/* Whether a relay would be its own upstream. */
#ifndef SELFLOOP_H
#define SELFLOOP_H

#include "addr.h"

/* selfloop_would_be returns 1 when connections to |upstream| would come back to
 * a socket that listens on |listen|, before there is one: then the port may be
 * taken, by what was meant to be the upstream.  Only literal addresses,
 * `localhost` as an upstream and Unix sockets are known then. */
int selfloop_would_be(const struct addr *listen, const struct addr *upstream);

/* selfloop_is says the same of the listening socket |fd|, wherever it was
 * bound.  An upstream that is a name is not looked up but for `localhost`. */
int selfloop_is(int fd, const struct addr *upstream);

#endif
