/* SPDX-License-Identifier: MIT */
/*
 * Reaching the server: resolves a name, tries its addresses in order, and
 * gives up in time.  It never blocks, and knows nothing of the connection
 * that waits.
 */
#ifndef UPSTREAM_H
#define UPSTREAM_H

#include <netdb.h>
#include <stdint.h>
#include <sys/socket.h>

#include "addr.h"

struct attempt;
struct worker;

/* struct upstream is where to connect; read by all workers. */
struct upstream {
    /* addr is as the command line has it. */
    const struct addr *addr;
    /* known is the list of addresses that need no look-up; NULL: a name
     * that does. */
    const struct addrinfo *known;
    /* entries and addresses are what known consists of. */
    struct addrinfo entries[2];
    struct sockaddr_storage addresses[2];
    /* timeout_us is --connect-timeout; 0: none. */
    uint64_t timeout_us;
};

/* upstream_init prepares |addr|, which has to outlive |upstream|; |upstream|
 * is not to be moved. */
void upstream_init(struct upstream *upstream, const struct addr *addr,
                   uint64_t timeout_us);

/*
 * attempt_done is told the connected, non-blocking |fd|, now the callee's, or
 * -1 and in |error| a sentence that says why.  |server| is the last address
 * tried.  The attempt and the texts are gone when it returns.
 */
typedef void attempt_done(void *user, int fd, const char *server,
                          const char *error);

/* attempt_start begins to connect; |done| is never called before it has
 * returned.  Returns NULL for want of memory. */
struct attempt *attempt_start(struct worker *worker, attempt_done *done,
                              void *user);

/* attempt_server returns the last address tried, as text. */
const char *attempt_server(const struct attempt *attempt);

/* attempt_cancel gives up; |done| is not called. */
void attempt_cancel(struct attempt *attempt);

#endif
