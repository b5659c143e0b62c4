/* SPDX-License-Identifier: MIT */
/*
 * Owns the way from an address to a connected socket: one attempt per
 * connection, over all addresses of a name.  The client's side, and what to
 * do about a failure, are the relay's.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "upstream.h"

#include <errno.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/util.h>
#include <netdb.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "backoff.h"
#include "net.h"
#include "worker.h"

/* ERROR_MAX holds an address and what the system says about it. */
#define ERROR_MAX (ADDR_TEXT_MAX + 128)

/* struct attempt is one way from a client to the server. */
struct attempt {
    struct worker *worker;
    /* done is called with user when it is over. */
    attempt_done *done;
    void *user;
    /* lookup is the DNS request under way, or NULL. */
    struct evdns_getaddrinfo_request *lookup;
    /* found is what it gave, owned; NULL before, or if not needed. */
    struct addrinfo *found;
    /* next is the address to try next; NULL: none is left. */
    const struct addrinfo *next;
    /* fd is the socket that connects, or -1. */
    int fd;
    /* is_starved is 1 while it waits for a descriptor. */
    int is_starved;
    /* is_cancelled is 1 when only the last callback of lookup is due. */
    int is_cancelled;
    /* io is the event of fd. */
    struct event io;
    /* step is a pause before going on. */
    struct event step;
    /* deadline is --connect-timeout. */
    struct event deadline;
    /* backoff paces the pauses. */
    struct backoff backoff;
    /* server is the last address tried, error the last thing wrong. */
    char server[ADDR_TEXT_MAX];
    char error[ERROR_MAX];
};

static void on_connect(evutil_socket_t fd, short what, void *arg);

/* upstream_know adds an address to those that are known. */
static void
upstream_know(struct upstream *upstream, const void *sa, size_t len)
{
    int i = upstream->known != NULL;
    struct addrinfo *entry = &upstream->entries[i];

    memcpy(&upstream->addresses[i], sa, len);
    entry->ai_family = upstream->addresses[i].ss_family;
    entry->ai_addr = (struct sockaddr *)&upstream->addresses[i];
    entry->ai_addrlen = (socklen_t)len;
    if (i > 0)
        upstream->entries[0].ai_next = entry;
    upstream->known = upstream->entries;
}

/* upstream_know_literal adds |host| if it is an address, not a name. */
static void
upstream_know_literal(struct upstream *upstream, const char *host)
{
    struct addrinfo hints, *list = NULL;
    char port[8];

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    (void)snprintf(port, sizeof(port), "%u", (unsigned)upstream->addr->port);
    if (getaddrinfo(host, port, &hints, &list) != 0)
        return;
    upstream_know(upstream, list->ai_addr, list->ai_addrlen);
    freeaddrinfo(list);
}

void
upstream_init(struct upstream *upstream, const struct addr *addr,
              uint64_t timeout_us)
{
    struct sockaddr_un sun;

    memset(upstream, 0, sizeof(*upstream));
    upstream->addr = addr;
    upstream->timeout_us = timeout_us;
    if (addr->kind == ADDR_UNIX) {
        memset(&sun, 0, sizeof(sun));
        sun.sun_family = AF_UNIX;
        memcpy(sun.sun_path, addr->path, sizeof(sun.sun_path));
        upstream_know(upstream, &sun, sizeof(sun));
    } else if (strcasecmp(addr->host, "localhost") == 0) {
        /* RFC 6761, section 6.3: both loopback addresses, and no question to
         * a server, whatever the hosts file has. */
        upstream_know_literal(upstream, "127.0.0.1");
        upstream_know_literal(upstream, "::1");
    } else {
        upstream_know_literal(upstream, addr->host);
    }
}

/* attempt_starve notes that no socket was to be had because of |error|; 0:
 * there is one, or none is wanted any more. */
static void
attempt_starve(struct attempt *attempt, int error)
{
    if (attempt->is_starved != (error != 0))
        worker_starve(attempt->worker, error);
    attempt->is_starved = error != 0;
}

/* attempt_free frees |attempt| and what it holds. */
static void
attempt_free(struct attempt *attempt)
{
    attempt_starve(attempt, 0);
    event_del(&attempt->io);
    event_del(&attempt->step);
    event_del(&attempt->deadline);
    if (attempt->fd >= 0)
        close(attempt->fd);
    if (attempt->found != NULL)
        evutil_freeaddrinfo(attempt->found);
    free(attempt);
}

void
attempt_cancel(struct attempt *attempt)
{
    if (attempt->lookup == NULL) {
        attempt_free(attempt);
        return;
    }
    /* The resolver calls back once more, and until then may touch us. */
    event_del(&attempt->deadline);
    attempt->is_cancelled = 1;
    attempt->worker->n_lookups++;
    evdns_getaddrinfo_cancel(attempt->lookup);
}

/* attempt_finish tells |fd|, which is no longer the attempt's, and frees. */
static void
attempt_finish(struct attempt *attempt, int fd)
{
    char server[ADDR_TEXT_MAX], error[ERROR_MAX];
    attempt_done *done = attempt->done;
    void *user = attempt->user;

    memcpy(server, attempt->server, sizeof(server));
    memcpy(error, attempt->error, sizeof(error));
    attempt->fd = -1;
    attempt_cancel(attempt);
    done(user, fd, server, fd < 0 ? error : NULL);
}

/* attempt_blame notes what went wrong: the last one is reported. */
static void __attribute__((format(printf, 2, 3)))
attempt_blame(struct attempt *attempt, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(attempt->error, sizeof(attempt->error), format, args);
    va_end(args);
}

/* attempt_pause goes on after |delay_us|. */
static void
attempt_pause(struct attempt *attempt, uint32_t delay_us)
{
    struct timeval delay = { .tv_sec = delay_us / 1000000,
                             .tv_usec = delay_us % 1000000 };

    evtimer_add(&attempt->step, &delay);
}

/* attempt_open starts to connect to |to|.  Returns 0 or -1 with errno. */
static int
attempt_open(struct attempt *attempt, const struct addrinfo *to)
{
    attempt->fd = net_socket(to->ai_family);
    if (attempt->fd < 0)
        return -1;
    if (connect(attempt->fd, to->ai_addr, to->ai_addrlen) < 0
        && errno != EINPROGRESS)
        return -1;
    event_assign(&attempt->io, attempt->worker->base, attempt->fd, EV_WRITE,
                 on_connect, attempt);
    return event_add(&attempt->io, NULL);
}

/* attempt_connect tries the next address.  Returns 1 when there is something
 * to wait for, 0 to try the one after it. */
static int
attempt_connect(struct attempt *attempt)
{
    const struct addrinfo *to = attempt->next;
    int error;

    addr_format_socket(to->ai_addr, to->ai_addrlen, attempt->server);
    error = attempt_open(attempt, to) < 0 ? errno : 0;
    attempt_starve(attempt, net_is_exhausted(error) ? error : 0);
    if (error == 0)
        return 1;
    attempt_blame(attempt, "connect to %s: %s", attempt->server,
                  strerror(error));
    if (attempt->fd >= 0)
        close(attempt->fd);
    attempt->fd = -1;
    /* EAGAIN is a Unix listener whose queue is full. */
    if (net_is_exhausted(error) || error == EAGAIN) {
        attempt_pause(attempt, backoff_next(&attempt->backoff));
        return 1;
    }
    attempt->next = to->ai_next;
    return 0;
}

static void
attempt_go_on(struct attempt *attempt)
{
    while (attempt->next != NULL) {
        if (attempt_connect(attempt))
            return;
    }
    attempt_pause(attempt, 0); /* done is not called from attempt_start */
}

static void
on_step(evutil_socket_t fd, short what, void *arg)
{
    struct attempt *attempt = arg;

    (void)fd;
    (void)what;
    if (attempt->next == NULL)
        attempt_finish(attempt, -1);
    else
        attempt_go_on(attempt);
}

/* on_connect: the socket is connected, or not. */
static void
on_connect(evutil_socket_t fd, short what, void *arg)
{
    struct attempt *attempt = arg;
    int error = net_error(attempt->fd);

    (void)fd;
    (void)what;
    if (error == 0 && net_is_self(attempt->fd))
        error = ECONNREFUSED;
    if (error == 0) {
        attempt_finish(attempt, attempt->fd);
        return;
    }
    attempt_blame(attempt, "connect to %s: %s", attempt->server,
                  strerror(error));
    close(attempt->fd);
    attempt->fd = -1;
    attempt->next = attempt->next->ai_next;
    attempt_go_on(attempt);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct attempt *attempt = arg;
    uint64_t ms = attempt->worker->upstream->timeout_us / 1000;

    (void)fd;
    (void)what;
    attempt_blame(attempt, "%s %s: no success within %llu ms",
                  attempt->lookup != NULL ? "resolve" : "connect to",
                  attempt->server, (unsigned long long)ms);
    attempt_finish(attempt, -1);
}

static void
on_resolved(int error, struct evutil_addrinfo *found, void *arg)
{
    struct attempt *attempt = arg;

    attempt->lookup = NULL;
    attempt->found = found;
    if (attempt->is_cancelled) {
        attempt->worker->n_lookups--;
        attempt_free(attempt);
        return;
    }
    attempt->next = found;
    if (found == NULL)
        attempt_blame(attempt, "resolve %s: %s",
                      attempt->worker->upstream->addr->host,
                      error != 0 ? evutil_gai_strerror(error)
                                 : "no address");
    attempt_go_on(attempt);
}

/* attempt_resolve looks the name up; on_resolved may come at once. */
static void
attempt_resolve(struct attempt *attempt, const struct addr *addr)
{
    struct evdns_base *dns = worker_dns(attempt->worker);
    struct evdns_getaddrinfo_request *lookup;
    struct addrinfo hints;
    char port[8];

    if (dns == NULL) {
        attempt_blame(attempt, "resolve %s: no resolver", addr->host);
        attempt_pause(attempt, 0);
        return;
    }
    memset(&hints, 0, sizeof(hints));
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_protocol = IPPROTO_TCP;
    (void)snprintf(port, sizeof(port), "%u", (unsigned)addr->port);
    /* NULL: on_resolved was called. */
    lookup = evdns_getaddrinfo(dns, addr->host, port, &hints, on_resolved,
                               attempt);
    if (lookup != NULL)
        attempt->lookup = lookup;
}

struct attempt *
attempt_start(struct worker *worker, attempt_done *done, void *user)
{
    const struct upstream *upstream = worker->upstream;
    struct attempt *attempt = calloc(1, sizeof(*attempt));
    struct timeval timeout;

    if (attempt == NULL)
        return NULL;
    attempt->worker = worker;
    attempt->done = done;
    attempt->user = user;
    attempt->fd = -1;
    addr_format(upstream->addr, attempt->server);
    event_assign(&attempt->io, worker->base, -1, EV_WRITE, on_connect,
                 attempt);
    evtimer_assign(&attempt->step, worker->base, on_step, attempt);
    evtimer_assign(&attempt->deadline, worker->base, on_deadline, attempt);
    if (upstream->timeout_us > 0) {
        timeout.tv_sec = (time_t)(upstream->timeout_us / 1000000);
        timeout.tv_usec = (suseconds_t)(upstream->timeout_us % 1000000);
        evtimer_add(&attempt->deadline, &timeout);
    }
    attempt->next = upstream->known;
    if (upstream->known != NULL)
        attempt_go_on(attempt);
    else
        attempt_resolve(attempt, upstream->addr);
    return attempt;
}

const char *
attempt_server(const struct attempt *attempt)
{
    return attempt->server;
}
