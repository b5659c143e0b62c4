/* SPDX-License-Identifier: MIT */
/*
 * The listening socket: opens it, accepts from it, and lets it rest when
 * connections or descriptors run out.  It does not know what becomes of a
 * connection.
 */
#ifndef LISTENER_H
#define LISTENER_H

#include <stdint.h>
#include <sys/socket.h>

#include "addr.h"

struct event_base;
struct listener;

/* struct listener_calls is what a listener asks its owner. */
struct listener_calls {
    /* has_room returns 1 when one more connection is allowed. */
    int (*has_room)(void *user);
    /* is_starved returns 1 while an accepted connection waits for a
     * descriptor: then no other is to take it. */
    int (*is_starved)(void *user);
    /* accepted hands over the non-blocking |fd| of a connection from
     * |peer|. */
    void (*accepted)(void *user, int fd, const struct sockaddr_storage *peer,
                     socklen_t len);
};

/* listener_open binds |addr| and listens.  A Unix socket that nobody listens
 * on any more is replaced, a live one is not.  Returns NULL after logging
 * why. */
struct listener *listener_open(const struct addr *addr);

/* listener_text returns the address really bound. */
const char *listener_text(const struct listener *listener);

/* listener_fd returns the listening socket, for questions about it. */
int listener_fd(const struct listener *listener);

/* listener_start accepts connections in |base|.  Returns 0 or -1. */
int listener_start(struct listener *listener, struct event_base *base,
                   const struct listener_calls *calls, void *user);

/* listener_is_capped returns 1 when accepting stopped because has_room said
 * no: listener_uncap is then to be called once there is room. */
int listener_is_capped(const struct listener *listener);

/* listener_uncap looks again whether there is room. */
void listener_uncap(struct listener *listener);

/* listener_rest stops accepting for a while because |what| failed with the
 * errno |error|, out of descriptors or memory; accepting resumes by
 * itself. */
void listener_rest(struct listener *listener, const char *what, int error);

/* listener_stop stops listening and removes a Unix socket's file; the rest
 * stays readable. */
void listener_stop(struct listener *listener);

/* listener_free frees |listener|, stopping it first; NULL is fine. */
void listener_free(struct listener *listener);

#endif
