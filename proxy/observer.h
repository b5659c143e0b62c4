/* SPDX-License-Identifier: MIT */
/*
 * What a relay tells whoever watches a connection: the only thing that relay
 * and tap share.  The relay calls it after the bytes have been sent on; what
 * an observer does, or fails to do, never changes what is relayed.
 *
 * Times are microseconds of the monotonic clock.  Memory given to a callback
 * is valid until it returns.
 */
#ifndef OBSERVER_H
#define OBSERVER_H

#include <stddef.h>
#include <stdint.h>

#include "side.h"

/* enum conn_reason says why a connection ended. */
enum conn_reason {
    CONN_CLIENT_CLOSED, /* the client's FIN came first */
    CONN_SERVER_CLOSED, /* the server's FIN came first */
    CONN_CLIENT_RESET,  /* RST from, or a write error to, the client */
    CONN_SERVER_RESET,  /* the same on the server's side */
    CONN_CONNECT_FAILED,
    CONN_TIMEOUT, /* --idle-timeout */
    CONN_SHUTDOWN /* grpctap is stopping */
};

/* struct observer is a watcher of one connection.  No pointer is NULL. */
struct observer {
    /* opened: the server was reached (or not: closed follows at once).
     * |server| is its address as text, |connect_us| how long it took. */
    void (*opened)(void *user, const char *server, uint64_t connect_us,
                   uint64_t now_us);
    /* bytes: |len| > 0 bytes that |from| sent, in order. */
    void (*bytes)(void *user, enum side from, const uint8_t *data, size_t len,
                  uint64_t now_us);
    /* eof: |from| has sent its last byte (FIN). */
    void (*eof)(void *user, enum side from, uint64_t now_us);
    /* closed: the connection is over; |error| is NULL or says what went
     * wrong.  The last call: |user| may be freed in it. */
    void (*closed)(void *user, enum conn_reason reason, const char *error,
                   uint64_t now_us);
};

#endif
