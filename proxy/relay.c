/* SPDX-License-Identifier: MIT */
/*
 * Owns the life of a connection: order, back-pressure, half-close, reset and
 * the end.  Each side is a `struct half`, and every callback serves both.
 * What the bytes mean is the observer's affair.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "relay.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "half.h"
#include "log.h"
#include "net.h"
#include "observer.h"
#include "upstream.h"
#include "worker.h"

/* struct relay is a connection. */
struct relay {
    /* link is the place in the worker's list. */
    struct relay_link link;
    struct worker *worker;
    /* attempt is the way to the server while it is not reached. */
    struct attempt *attempt;
    /* observer is NULL when there is none. */
    void *observer;
    /* started_us is when the client was taken on. */
    uint64_t started_us;
    /* touched_us is when bytes last moved. */
    uint64_t touched_us;
    /* is_open is 1 when the observer knows of the server. */
    int is_open;
    /* end is the reason if both sides end in peace. */
    enum conn_reason end;
    /* halves are the client's and the server's, by enum side. */
    struct half halves[2];
};

static const char *const side_names[] = { "client", "server" };

static struct half *
half_other(struct half *half)
{
    return &half->relay->halves[side_other(half->side)];
}

/* ---- the observer, which may be missing ---- */

static const struct observer *
relay_observer(const struct relay *relay)
{
    return relay->worker->config->watch->observer;
}

static void
tell_opened(struct relay *relay, const char *server, uint64_t now_us)
{
    relay->is_open = 1;
    if (relay->observer != NULL)
        relay_observer(relay)->opened(relay->observer, server,
                                      now_us - relay->started_us, now_us);
}

static void
tell_bytes(struct half *from, const uint8_t *data, size_t len, uint64_t now_us)
{
    struct relay *relay = from->relay;

    worker_touch(relay->worker, relay, now_us);
    if (relay->observer != NULL)
        relay_observer(relay)->bytes(relay->observer, from->side, data, len,
                                     now_us);
}

static void
tell_eof(struct half *from, uint64_t now_us)
{
    struct relay *relay = from->relay;

    if (relay->observer != NULL)
        relay_observer(relay)->eof(relay->observer, from->side, now_us);
}

static void
tell_closed(struct relay *relay, enum conn_reason reason, const char *error,
            uint64_t now_us)
{
    if (relay->observer != NULL)
        relay_observer(relay)->closed(relay->observer, reason, error, now_us);
    relay->observer = NULL;
}

/* ---- interest ---- */

/* half_interest derives what |half| is to be watched for. */
static unsigned
half_interest(const struct half *half)
{
    const struct relay *relay = half->relay;
    unsigned want = 0;

    if (half->fd < 0)
        return 0;
    if (!half->has_eof && !half->is_paused && !relay->worker->is_held
        && relay->attempt == NULL)
        want |= HALF_READ;
    if (half_backlog(half) > 0)
        want |= HALF_WRITE;
    if (want == 0 && relay->worker->can_edge)
        want = HALF_RESET;
    return want;
}

/* half_pace pauses |half| at a high backlog of the other side and lets it go
 * on at half of that. */
static void
half_pace(struct half *half)
{
    size_t backlog = half_backlog(half_other(half));

    if (backlog >= RELAY_BACKLOG_HIGH)
        half->is_paused = 1;
    else if (backlog <= RELAY_BACKLOG_HIGH / 2)
        half->is_paused = 0;
}

/* half_check asserts what holds between two events. */
static void
half_check(struct half *half)
{
    assert(half->fd >= 0 || half->watched == 0);
    assert(half->relay->attempt == NULL || !(half->watched & HALF_READ));
    assert(half_backlog(half)
           < RELAY_BACKLOG_HIGH + (size_t)WORKER_BUFFER_SIZE);
    assert(!half->is_shut || half_other(half)->has_eof);
    (void)half;
}

/* ---- the end ---- */

/* relay_end is the one way out: it closes and frees everything. */
static void
relay_end(struct relay *relay, enum conn_reason reason, const char *error,
          uint64_t now_us)
{
    half_close(&relay->halves[SIDE_CLIENT]);
    half_close(&relay->halves[SIDE_SERVER]);
    if (!relay->is_open)
        tell_opened(relay, attempt_server(relay->attempt), now_us);
    if (relay->attempt != NULL)
        attempt_cancel(relay->attempt);
    tell_closed(relay, reason, error, now_us);
    worker_list_remove(relay->worker, relay);
    worker_ended(relay->worker);
    free(relay);
}

/*
 * half_rescue passes on what a broken |half| had sent before, such as the
 * answer of a server that reset the connection over bytes it did not want.
 * It ends when the other side no longer takes it: it will be reset, and would
 * lose what it has not taken.
 */
static void
half_rescue(struct half *half, uint64_t now_us)
{
    uint8_t *buffer = half->relay->worker->buffer;
    struct half *other = half_other(half);
    int is_taken = 1;

    if (half->has_eof || other->fd < 0)
        return;
    while (is_taken && half_backlog(other) == 0) {
        ssize_t len = recv(half->fd, buffer, WORKER_BUFFER_SIZE, 0);

        if (len <= 0)
            return;
        is_taken = half_send(other, buffer, (size_t)len) == 0;
        tell_bytes(half, buffer, (size_t)len, now_us);
    }
}

/* half_fail ends the relay because |half| is broken: |what| to it met
 * |error|.  The other side gets a reset, too. */
static void
half_fail(struct half *half, const char *what, int error, uint64_t now_us)
{
    char text[128];

    half_rescue(half, now_us);
    half_other(half)->has_to_reset = 1;
    (void)snprintf(text, sizeof(text), "%s %s: %s", what,
                   side_names[half->side], strerror(error));
    relay_end(half->relay,
              half->side == SIDE_CLIENT ? CONN_CLIENT_RESET
                                        : CONN_SERVER_RESET,
              text, now_us);
}

/* ---- the bytes ---- */

/* half_pass_eof passes the other side's FIN on to |half| once everything
 * before it is sent.  Returns 0 or -1 with errno. */
static int
half_pass_eof(struct half *half)
{
    if (half->fd < 0 || half_backlog(half) > 0 || !half_other(half)->has_eof)
        return 0;
    return half_shut(half);
}

/* A socket that is not connected any more has been reset. */
static int
shut_error(int error)
{
    return error == ENOTCONN ? ECONNRESET : error;
}

/* relay_settle ends every event: it passes on FINs, ends the relay when both
 * sides are done, and derives what to watch.  |relay| may be gone after. */
static void
relay_settle(struct relay *relay, uint64_t now_us)
{
    for (int side = 0; side < 2; side++) {
        struct half *half = &relay->halves[side];

        if (half_pass_eof(half) < 0) {
            half_fail(half, "shutdown towards", shut_error(errno), now_us);
            return;
        }
        half_pace(half);
    }
    if (relay->halves[0].is_shut && relay->halves[1].is_shut) {
        relay_end(relay, relay->end, NULL, now_us);
        return;
    }
    for (int side = 0; side < 2; side++) {
        struct half *half = &relay->halves[side];

        if (half_watch(half, half_interest(half)) < 0) {
            half_fail(half, "watch the", errno, now_us);
            return;
        }
        half_check(half);
    }
}

/* half_take_eof notes the FIN of |half|. */
static void
half_take_eof(struct half *half, uint64_t now_us)
{
    struct relay *relay = half->relay;
    int error = 0;

    half->has_eof = 1;
    if (!half_other(half)->has_eof)
        relay->end = half->side == SIDE_CLIENT ? CONN_CLIENT_CLOSED
                                               : CONN_SERVER_CLOSED;
    if (half_pass_eof(half_other(half)) < 0)
        error = shut_error(errno);
    tell_eof(half, now_us);
    if (error != 0)
        half_fail(half_other(half), "shutdown towards", error, now_us);
    else
        relay_settle(relay, now_us);
}

/* half_take_bytes passes on |len| bytes that |half| sent, in the worker's
 * buffer, and shows them to the observer after that. */
static void
half_take_bytes(struct half *half, size_t len, uint64_t now_us)
{
    struct relay *relay = half->relay;
    struct worker *worker = relay->worker;
    int error = 0;

    if (half_send(half_other(half), worker->buffer, len) < 0)
        error = errno;
    tell_bytes(half, worker->buffer, len, now_us);
    if (error != 0) {
        half_fail(half_other(half), "send to", error, now_us);
        return;
    }
    worker_after_bytes(worker);
    relay_settle(relay, now_us);
}

/* on_readable takes one buffer, no more, so that a busy connection leaves
 * their turn to the others. */
static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct half *half = arg;
    struct worker *worker = half->relay->worker;
    uint64_t now_us = worker_now(worker);
    ssize_t len = recv(half->fd, worker->buffer, worker->read_size, 0);

    (void)fd;
    (void)what;
    if (len > 0)
        half_take_bytes(half, (size_t)len, now_us);
    else if (len == 0)
        half_take_eof(half, now_us);
    else if (!net_would_block(errno))
        half_fail(half, "receive from", errno, now_us);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct half *half = arg;
    struct worker *worker = half->relay->worker;
    uint64_t now_us = worker_now(worker);

    (void)fd;
    (void)what;
    if (half_drain(half) < 0) {
        half_fail(half, "send to", errno, now_us);
        return;
    }
    worker_touch(worker, half->relay, now_us);
    relay_settle(half->relay, now_us);
}

/* half_probe ends the relay when |half|, which is neither read nor written,
 * has been reset.  Returns 1 when it did. */
static int
half_probe(struct half *half, uint64_t now_us)
{
    int error = half->fd >= 0 ? net_error(half->fd) : 0;

    if (error != 0)
        half_fail(half, "connection to", error, now_us);
    return error != 0;
}

/* on_edge: something happened to a side that is neither read nor written;
 * only a reset matters. */
static void
on_edge(evutil_socket_t fd, short what, void *arg)
{
    struct half *half = arg;

    (void)fd;
    (void)what;
    (void)half_probe(half, worker_now(half->relay->worker));
}

/* ---- the beginning ---- */

static const struct half_calls half_calls = {
    .readable = on_readable,
    .writable = on_writable,
    .edge = on_edge,
};

/* on_reached: the server was reached, or will not be. */
static void
on_reached(void *user, int fd, const char *server, const char *error)
{
    struct relay *relay = user;
    uint64_t now_us = worker_now(relay->worker);

    relay->attempt = NULL;
    tell_opened(relay, server, now_us);
    if (fd < 0) {
        relay->halves[SIDE_CLIENT].has_to_reset = 1;
        relay_end(relay, CONN_CONNECT_FAILED, error, now_us);
        return;
    }
    half_open(&relay->halves[SIDE_SERVER], fd);
    worker_touch(relay->worker, relay, now_us);
    relay_settle(relay, now_us);
}

/* relay_new makes a relay of |message|, not yet in any list. */
static struct relay *
relay_new(struct worker *worker, const struct worker_message *message,
          uint64_t now_us)
{
    struct relay *relay = calloc(1, sizeof(*relay));

    if (relay == NULL)
        return NULL;
    relay->worker = worker;
    relay->started_us = now_us;
    relay->touched_us = now_us;
    for (int side = 0; side < 2; side++)
        half_init(&relay->halves[side], relay, (enum side)side, worker->base,
                  &half_calls);
    relay->attempt = attempt_start(worker, on_reached, relay);
    if (relay->attempt == NULL) {
        free(relay);
        return NULL;
    }
    half_open(&relay->halves[SIDE_CLIENT], message->fd);
    return relay;
}

void
relay_start(struct worker *worker, const struct worker_message *message,
            uint64_t now_us)
{
    const struct watch *watch = worker->config->watch;
    struct relay *relay = relay_new(worker, message, now_us);
    char client[ADDR_TEXT_MAX];

    if (relay == NULL) {
        log_error("out of memory: a connection is reset");
        net_reset_on_close(message->fd);
        close(message->fd);
        worker_ended(worker);
        return;
    }
    worker_list_add(worker, relay);
    addr_format_socket((const struct sockaddr *)&message->peer,
                       message->peer_len, client);
    relay->observer = watch->observer_new(worker->shared, message->conn,
                                          client, now_us);
    if (relay->observer == NULL) {
        log_error("out of memory: connection %llu is relayed unseen",
                  (unsigned long long)message->conn);
        lane_give_up(&worker->lane, EVENT_CONNECTION_OPEN);
        lane_give_up(&worker->lane, EVENT_CONNECTION_CLOSE);
    }
    relay_settle(relay, now_us);
}

struct relay_link *
relay_link(struct relay *relay)
{
    return &relay->link;
}

uint64_t
relay_touched_us(const struct relay *relay)
{
    return relay->touched_us;
}

void
relay_touch(struct relay *relay, uint64_t now_us)
{
    relay->touched_us = now_us;
}

void
relay_reconsider(struct relay *relay, uint64_t now_us)
{
    for (int side = 0; side < 2; side++) {
        struct half *half = &relay->halves[side];

        /* When held, what could not be added is the watch for resets, which
         * is not worth a connection. */
        if (half_watch(half, half_interest(half)) < 0
            && !relay->worker->is_held) {
            half_fail(half, "watch the", errno, now_us);
            return;
        }
    }
}

void
relay_probe(struct relay *relay, uint64_t now_us)
{
    for (int side = 0; side < 2; side++) {
        struct half *half = &relay->halves[side];

        if (half->watched == 0 && half_probe(half, now_us))
            return;
    }
}

void
relay_stop(struct relay *relay, uint64_t now_us)
{
    for (int side = 0; side < 2; side++) {
        struct half *half = &relay->halves[side];

        if (half_backlog(half) > 0)
            (void)half_drain(half);
        (void)half_pass_eof(half);
    }
    relay_end(relay, CONN_SHUTDOWN, NULL, now_us);
}

void
relay_expire(struct relay *relay, uint64_t now_us)
{
    if (relay->attempt != NULL)
        worker_touch(relay->worker, relay, now_us);
    else
        relay_end(relay, CONN_TIMEOUT, NULL, now_us);
}
