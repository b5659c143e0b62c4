/* SPDX-License-Identifier: MIT */
/*
 * Owns the listening socket from bind to close, and when it rests: at the
 * limit of connections, and out of descriptors.  Connections are its owner's.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "listener.h"

#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backoff.h"
#include "log.h"
#include "net.h"

/* BACKLOG is how many connections wait to be accepted; the system cuts it to
 * what it allows. */
#define BACKLOG 4096

/* ACCEPTS_MAX bounds what one event accepts, so that a flood of connections
 * leaves time for those that are there. */
#define ACCEPTS_MAX 64

/* enum listener_mood is where a lack of descriptors has brought us. */
enum listener_mood {
    MOOD_WELL,
    MOOD_RESTING, /* not accepting */
    MOOD_TRYING   /* accepting again, not known to be well */
};

/* struct listener is a listening socket. */
struct listener {
    /* addr is as given, text as bound. */
    struct addr addr;
    char text[ADDR_TEXT_MAX];
    /* fd is the socket, -1 once stopped. */
    int fd;
    /* is_capped is 1 when has_room said no; read by other threads. */
    _Atomic int is_capped;
    /* was_capped is 1 when that has been said. */
    int was_capped;
    /* mood and backoff are about descriptors. */
    enum listener_mood mood;
    struct backoff backoff;
    /* readable is the event of fd, timer ends a rest or a trial. */
    struct event *readable;
    struct event *timer;
    /* calls and user are the owner's. */
    const struct listener_calls *calls;
    void *user;
    /* device and inode tell our Unix socket's file from a later one's. */
    dev_t device;
    ino_t inode;
};

/* ---- opening ---- */

/* bind_to binds and listens.  Returns the socket, or -1 with errno. */
static int
bind_to(int family, const struct sockaddr *sa, socklen_t len)
{
    int fd = net_socket(family), on = 1, error;

    if (fd < 0)
        return -1;
    if (family != AF_UNIX)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, sa, len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* open_inet binds the first address of the host that can be bound.  Returns
 * the socket, or -1 and in |*why| the reason. */
static int
open_inet(const struct addr *addr, const char **why)
{
    struct addrinfo hints, *list = NULL, *at;
    char port[8];
    int fd = -1, error;

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    (void)snprintf(port, sizeof(port), "%u", (unsigned)addr->port);
    error = getaddrinfo(addr->host, port, &hints, &list);
    if (error != 0) {
        *why = error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error);
        return -1;
    }
    for (at = list; at != NULL && fd < 0; at = at->ai_next)
        fd = bind_to(at->ai_family, at->ai_addr, at->ai_addrlen);
    *why = strerror(errno);
    freeaddrinfo(list);
    return fd;
}

/* is_stale returns 1 when the socket's file is there but nobody listens. */
static int
is_stale(const struct sockaddr_un *sun)
{
    struct stat st;
    int fd, is_refused;

    if (lstat(sun->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return 0;
    fd = net_socket(AF_UNIX);
    if (fd < 0)
        return 0;
    is_refused = connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) < 0
                 && errno == ECONNREFUSED;
    close(fd);
    return is_refused;
}

/* open_unix is open_inet for a Unix socket. */
static int
open_unix(struct listener *listener, const char **why)
{
    struct sockaddr_un sun;
    struct stat st;
    int fd;

    memset(&sun, 0, sizeof(sun));
    sun.sun_family = AF_UNIX;
    memcpy(sun.sun_path, listener->addr.path, sizeof(sun.sun_path));
    if (is_stale(&sun)) {
        log_info("removing %s, which nobody listens on", sun.sun_path);
        (void)unlink(sun.sun_path);
    }
    fd = bind_to(AF_UNIX, (const struct sockaddr *)&sun, sizeof(sun));
    *why = strerror(errno);
    if (fd >= 0 && lstat(sun.sun_path, &st) == 0) {
        listener->device = st.st_dev;
        listener->inode = st.st_ino;
    }
    return fd;
}

/* note_address writes the address really bound into text. */
static void
note_address(struct listener *listener)
{
    struct sockaddr_storage own;
    socklen_t len = sizeof(own);

    memset(&own, 0, sizeof(own));
    if (getsockname(listener->fd, (struct sockaddr *)&own, &len) == 0)
        addr_format_socket((const struct sockaddr *)&own, len,
                           listener->text);
}

struct listener *
listener_open(const struct addr *addr)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    const char *why;

    if (listener == NULL) {
        log_error("cannot listen: out of memory");
        return NULL;
    }
    listener->addr = *addr;
    addr_format(addr, listener->text);
    if (addr->kind == ADDR_UNIX)
        listener->fd = open_unix(listener, &why);
    else
        listener->fd = open_inet(addr, &why);
    if (listener->fd < 0) {
        log_error("cannot listen on %s: %s", listener->text, why);
        free(listener);
        return NULL;
    }
    note_address(listener);
    return listener;
}

const char *
listener_text(const struct listener *listener)
{
    return listener->text;
}

int
listener_fd(const struct listener *listener)
{
    return listener->fd;
}

/* ---- accepting ---- */

/* listener_watch accepts if nothing speaks against it. */
static void
listener_watch(struct listener *listener)
{
    if (listener->fd < 0)
        return;
    if (listener->mood == MOOD_RESTING || atomic_load(&listener->is_capped))
        event_del(listener->readable);
    else
        event_add(listener->readable, NULL);
}

static void
listener_arm_timer(struct listener *listener)
{
    uint32_t delay_us = backoff_next(&listener->backoff);
    struct timeval delay = { .tv_sec = delay_us / 1000000,
                             .tv_usec = delay_us % 1000000 };

    evtimer_add(listener->timer, &delay);
}

void
listener_rest(struct listener *listener, const char *what, int error)
{
    if (listener->fd < 0 || listener->mood == MOOD_RESTING)
        return;
    if (listener->mood == MOOD_WELL)
        log_warning("%s: %s; not accepting connections until that is over",
                    what, strerror(error));
    listener->mood = MOOD_RESTING;
    listener_watch(listener);
    listener_arm_timer(listener);
}

/* on_timer ends a rest with a trial, and a trial that went well. */
static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct listener *listener = arg;

    (void)fd;
    (void)what;
    if (listener->calls->is_starved(listener->user)) {
        listener_arm_timer(listener);
    } else if (listener->mood == MOOD_RESTING) {
        listener->mood = MOOD_TRYING;
        listener_watch(listener);
        listener_arm_timer(listener);
    } else {
        listener->mood = MOOD_WELL;
        listener->backoff.ceiling_us = 0;
        log_warning("accepting connections again");
    }
}

/* listener_cap stops at the limit.  Returns 1 when it did; 0 when a
 * connection ended meanwhile, of which its thread may not have told. */
static int
listener_cap(struct listener *listener)
{
    atomic_store(&listener->is_capped, 1);
    if (listener->calls->has_room(listener->user)) {
        atomic_store(&listener->is_capped, 0);
        return 0;
    }
    listener_watch(listener);
    if (!listener->was_capped)
        log_warning("at the limit of connections; "
                    "further ones wait until one ends");
    listener->was_capped = 1;
    return 1;
}

int
listener_is_capped(const struct listener *listener)
{
    return atomic_load(&listener->is_capped);
}

void
listener_uncap(struct listener *listener)
{
    if (!listener_is_capped(listener)
        || !listener->calls->has_room(listener->user))
        return;
    atomic_store(&listener->is_capped, 0);
    listener_watch(listener);
}

/* is_peers_fault returns 1 for errors of accept that concern one connection
 * that is gone already, not the listener. */
static int
is_peers_fault(int error)
{
    return error == ECONNABORTED || error == EPROTO || error == EPERM
           || error == ENETDOWN || error == ENOPROTOOPT
           || error == EHOSTUNREACH || error == ENETUNREACH;
}

/* accept_one returns 1 when there may be more to accept. */
static int
accept_one(struct listener *listener)
{
    struct sockaddr_storage peer;
    socklen_t len;
    int fd;

    if (!listener->calls->has_room(listener->user) && listener_cap(listener))
        return 0;
    memset(&peer, 0, sizeof(peer));
    fd = net_accept(listener->fd, &peer, &len);
    if (fd >= 0)
        listener->calls->accepted(listener->user, fd, &peer, len);
    else if (net_would_block(errno))
        return 0;
    else if (!is_peers_fault(errno))
        listener_rest(listener, "accept", errno);
    /* Handing a connection over may have brought a rest, too. */
    return listener->mood != MOOD_RESTING;
}

static void
on_acceptable(evutil_socket_t fd, short what, void *arg)
{
    struct listener *listener = arg;

    (void)fd;
    (void)what;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        if (!accept_one(listener))
            return;
    }
}

int
listener_start(struct listener *listener, struct event_base *base,
               const struct listener_calls *calls, void *user)
{
    listener->calls = calls;
    listener->user = user;
    listener->readable = event_new(base, listener->fd, EV_READ | EV_PERSIST,
                                   on_acceptable, listener);
    listener->timer = evtimer_new(base, on_timer, listener);
    if (listener->readable == NULL || listener->timer == NULL
        || event_add(listener->readable, NULL) < 0) {
        log_error("cannot accept connections: out of memory");
        return -1;
    }
    return 0;
}

/* remove_file removes our Unix socket's file, if it is still ours. */
static void
remove_file(const struct listener *listener)
{
    struct stat st;

    if (listener->addr.kind == ADDR_UNIX
        && lstat(listener->addr.path, &st) == 0
        && st.st_dev == listener->device && st.st_ino == listener->inode)
        (void)unlink(listener->addr.path);
}

void
listener_stop(struct listener *listener)
{
    if (listener->fd < 0)
        return;
    if (listener->readable != NULL)
        event_free(listener->readable);
    if (listener->timer != NULL)
        event_free(listener->timer);
    listener->readable = NULL;
    listener->timer = NULL;
    remove_file(listener);
    close(listener->fd);
    listener->fd = -1;
}

void
listener_free(struct listener *listener)
{
    if (listener == NULL)
        return;
    listener_stop(listener);
    free(listener);
}
