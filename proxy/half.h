/* SPDX-License-Identifier: MIT */
/*
 * A half is one side of a relay: a socket, the bytes it has not taken yet, and
 * what it is watched for.  It knows neither the other half nor why.
 */
#ifndef HALF_H
#define HALF_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stddef.h>
#include <stdint.h>

#include "side.h"

struct evbuffer;
struct relay;

/* What a half may be watched for. */
#define HALF_READ 1u
#define HALF_WRITE 2u
#define HALF_RESET 4u /* instead of the two: only to learn of a reset */

/* struct half_calls is what its events call, with the half as argument. */
struct half_calls {
    /* readable: bytes, a FIN or an error are there to receive. */
    event_callback_fn readable;
    /* writable: the socket takes bytes of the backlog. */
    event_callback_fn writable;
    /* edge: with HALF_RESET, something happened, perhaps a reset. */
    event_callback_fn edge;
};

/* struct half is embedded in a relay; the flags are the relay's to set. */
struct half {
    /* relay is the whole. */
    struct relay *relay;
    /* base and calls are for its events. */
    struct event_base *base;
    const struct half_calls *calls;
    /* side says which one this is. */
    enum side side;
    /* fd is its socket, -1 before the server is reached. */
    int fd;
    /* watched is what events are added for, of HALF_*. */
    unsigned watched;
    /* has_eof is 1 when the side has sent its FIN. */
    unsigned has_eof : 1;
    /* is_shut is 1 when it has been sent one. */
    unsigned is_shut : 1;
    /* is_paused is 1 when it is not read because of the other's backlog. */
    unsigned is_paused : 1;
    /* has_to_reset is 1 when it is to be closed by a reset. */
    unsigned has_to_reset : 1;
    /* backlog is what the socket has not taken; NULL when empty. */
    struct evbuffer *backlog;
    /* read is the event for reading, write for writing and resets. */
    struct event read;
    struct event write;
};

/* half_init makes a half without a socket. */
void half_init(struct half *half, struct relay *relay, enum side side,
               struct event_base *base, const struct half_calls *calls);

/* half_open gives |half| its socket, which it will close. */
void half_open(struct half *half, int fd);

/* half_close closes the socket, by a reset if it has to, and forgets the
 * backlog.  Bytes that the peer will never get must not look like an orderly
 * end: a backlog, too, makes it a reset. */
void half_close(struct half *half);

/* half_watch makes |want|, of HALF_*, what is watched, with no system call
 * for what stays as it is.  Returns 0, or -1 with errno when some of it could
 * not be had. */
int half_watch(struct half *half, unsigned want);

/* half_backlog returns how many bytes wait for the socket. */
size_t half_backlog(const struct half *half);

/* half_send gives |half| bytes to send: to the socket what it takes, the rest
 * to the backlog.  Returns 0, or -1 with errno when it is broken. */
int half_send(struct half *half, const uint8_t *data, size_t len);

/* half_drain sends what the socket takes of the backlog.  Returns as
 * half_send. */
int half_drain(struct half *half);

/* half_shut sends a FIN, once.  Returns as half_send. */
int half_shut(struct half *half);

#endif
