/* SPDX-License-Identifier: MIT */
/*
 * Owns the connection: feeding, what lies between messages, what is lost or
 * handed over, and the end.  Messages are message.c's.
 */
#include "conn.h"

#include <stdlib.h>
#include <string.h>

static int
make_directions(struct h1dec_conn *conn)
{
    int rv = 0;

    for (int i = 0; i < 2 && rv == 0; i++) {
        struct direction *dir = &conn->dir[i];

        dir->side = (enum h1dec_side)i;
        dir->conn = conn;
        rv = h1dec_parser_new(&dir->parser, &h1dec_message_sink, dir);
    }
    return rv;
}

int
h1dec_conn_new(struct h1dec_conn **conn,
               const struct h1dec_callbacks *callbacks, void *user)
{
    struct h1dec_conn *c = calloc(1, sizeof(*c));

    if (c == NULL || make_directions(c) != 0) {
        h1dec_conn_free(c);
        return H1DEC_ERR_NOMEM;
    }
    c->callbacks = callbacks;
    c->user = user;
    *conn = c;
    return 0;
}

void
h1dec_conn_free(struct h1dec_conn *conn)
{
    if (conn == NULL) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        h1dec_parser_free(conn->dir[i].parser);
        h1dec_store_clear(&conn->dir[i].store);
    }
    h1dec_held_clear(&conn->held);
    h1dec_exchange_clear(conn);
    free(conn);
}

/* ---- Faults, and what is lost ---------------------------------------- */

static uint64_t
exchange_of(const struct h1dec_conn *conn, const struct direction *dir)
{
    const struct h1dec_exchange *exchange = dir->exchange;

    if (exchange == NULL && dir->side == H1DEC_SERVER) {
        exchange = h1dec_exchange_waiting(conn);
    }
    return exchange != NULL ? exchange->id : 0;
}

int
h1dec_conn_fault(struct h1dec_conn *conn, const struct direction *dir,
                 struct h1dec_fault fault)
{
    fault.side = dir->side;
    if (fault.code != H1DEC_FAULT_DESYNC) {
        fault.exchange = exchange_of(conn, dir);
    }
    if (conn->callbacks->fault != NULL &&
        conn->callbacks->fault(&fault, conn->user) != 0) {
        return H1DEC_ERR_CALLBACK;
    }
    return 0;
}

/* What |dir| has not booked, and all that follows, is undecoded. */
void
h1dec_conn_stop(struct direction *dir, enum dir_state state)
{
    if (dir->side == H1DEC_CLIENT) {
        h1dec_held_clear(&dir->conn->held);
    }
    dir->books.undecoded_bytes += dir->unbooked;
    dir->unbooked = 0;
    dir->exchange = NULL;
    dir->state = state;
    h1dec_store_clear(&dir->store);
}

int
h1dec_conn_lose(struct h1dec_conn *conn, struct direction *dir,
                struct h1dec_fault fault)
{
    int rv = h1dec_conn_fault(conn, dir, fault);

    h1dec_conn_stop(dir, DIR_LOST);
    if (rv == 0) {
        h1dec_exchange_settle_all(conn);
    }
    return rv;
}

/* After a fatal error nothing is decoded any more; exchanges wait for
 * h1dec_conn_close. */
static void
fail(struct h1dec_conn *conn, int error)
{
    conn->error = error;
    h1dec_conn_stop(&conn->dir[H1DEC_CLIENT], DIR_LOST);
    h1dec_conn_stop(&conn->dir[H1DEC_SERVER], DIR_LOST);
}

static void
end_all(struct h1dec_conn *conn)
{
    while (conn->first != NULL) {
        h1dec_exchange_end(conn, conn->first, H1DEC_END_CONNECTION);
    }
}

/* Requests that were parsed behind the one that is answered were none. */
void
h1dec_conn_hand_over(struct h1dec_conn *conn, struct h1dec_exchange *exchange)
{
    conn->is_switched = 1;
    h1dec_conn_stop(&conn->dir[H1DEC_CLIENT], DIR_HANDED);
    h1dec_conn_stop(&conn->dir[H1DEC_SERVER], DIR_HANDED);
    h1dec_exchange_end(conn, exchange, H1DEC_END_SWITCHED);
    end_all(conn);
}

/* ---- Between messages ------------------------------------------------ */

void
h1dec_conn_take(struct direction *dir, size_t n)
{
    dir->books.bytes += n;
    dir->unbooked += n;
}

static size_t
blank_lines(const uint8_t *data, size_t len)
{
    size_t n = 0;

    while (n < len && (data[n] == '\r' || data[n] == '\n')) {
        n++;
    }
    return n;
}

static int
lose_sync(struct h1dec_conn *conn, struct direction *dir, const char *reason)
{
    struct h1dec_fault fault = {
        .code = H1DEC_FAULT_DESYNC,
        .offset = dir->start,
        .reason = reason,
    };

    return h1dec_conn_lose(conn, dir, fault);
}

/* No byte of the message is taken yet. */
static int
begin_message(struct h1dec_conn *conn, struct direction *dir, uint64_t now_us)
{
    dir->start = dir->books.bytes;
    dir->start_us = now_us;
    if (dir->side == H1DEC_CLIENT) {
        h1dec_message_begin(dir);
        return 0;
    }
    if (dir->is_closing) {
        return lose_sync(conn, dir,
                         "bytes after a response that was to be the last");
    }
    dir->was_asked = h1dec_exchange_waiting(conn) != NULL;
    dir->version_len = 0;
    dir->state = DIR_VERSION;
    return 0;
}

static int
feed_idle(struct h1dec_conn *conn, struct direction *dir, const uint8_t *data,
          size_t len, size_t *used, uint64_t now_us)
{
    *used = blank_lines(data, len);
    dir->books.bytes += *used;
    dir->books.connection_bytes += *used;
    return *used < len ? begin_message(conn, dir, now_us) : 0;
}

static int
not_a_response(struct h1dec_conn *conn, struct direction *dir)
{
    struct h1dec_fault fault = {
        .code = H1DEC_FAULT_PARSE,
        .offset = dir->start + dir->version_len,
        .reason = "a response does not begin with HTTP/",
    };

    if (dir->has_answered && !dir->was_asked) {
        return lose_sync(conn, dir,
                         "bytes after a complete response, and no request "
                         "waits for one");
    }
    return h1dec_conn_lose(conn, dir, fault);
}

/* The first bytes of a response are looked at here: what is none can be the
 * end of a longer body than its head has told. */
static int
feed_version(struct h1dec_conn *conn, struct direction *dir,
             const uint8_t *data, size_t len, size_t *used)
{
    static const char version[] = RESPONSE_BEGIN;

    *used = 0;
    while (*used < len && version[dir->version_len] != '\0') {
        if (data[*used] != (uint8_t)version[dir->version_len]) {
            return not_a_response(conn, dir);
        }
        h1dec_conn_take(dir, 1);
        dir->version_len++;
        *used += 1;
    }
    if (version[dir->version_len] == '\0') {
        h1dec_message_begin(dir);
    }
    return 0;
}

/* ---- Feeding --------------------------------------------------------- */

static int
step(struct h1dec_conn *conn, struct direction *dir, const uint8_t *data,
     size_t len, size_t *used, uint64_t now_us)
{
    switch (dir->state) {
    case DIR_IDLE:
        return feed_idle(conn, dir, data, len, used, now_us);
    case DIR_VERSION:
        return feed_version(conn, dir, data, len, used);
    case DIR_MESSAGE:
        return h1dec_message_feed(conn, dir, data, len, used);
    case DIR_HELD:
        *used = len;
        return h1dec_held_take(conn, data, len, now_us);
    case DIR_HANDED:
    case DIR_ENDED:
    case DIR_LOST:
        break;
    }
    dir->books.bytes += len;
    dir->books.undecoded_bytes += len;
    *used = len;
    return 0;
}

/* A message may be complete with its head: there is a step to make although
 * no byte is left. */
static int
has_step(const struct direction *dir, size_t len)
{
    if (dir->state == DIR_HANDED) {
        return 0;
    }
    return len > 0 || (dir->state == DIR_MESSAGE &&
                       h1dec_parser_is_complete(dir->parser));
}

size_t
h1dec_conn_feed_side(struct h1dec_conn *conn, struct direction *dir,
                     const uint8_t *data, size_t len, uint64_t now_us)
{
    size_t used = 0;

    dir->now_us = now_us;
    while (has_step(dir, len - used)) {
        size_t n = 0;
        int rv = step(conn, dir, data + used, len - used, &n, now_us);

        used += n;
        if (rv != 0) {
            fail(conn, rv);
        }
    }
    return used;
}

int
h1dec_conn_feed(struct h1dec_conn *conn, enum h1dec_side side,
                const uint8_t *data, size_t len, size_t *used, uint64_t now_us)
{
    *used = h1dec_conn_feed_side(conn, &conn->dir[side], data, len, now_us);
    return conn->error;
}

/* ---- The end --------------------------------------------------------- */

/* Whether nothing of |dir| is left to be ended. */
static int
is_stopped(const struct direction *dir)
{
    return dir->state == DIR_HANDED || dir->state == DIR_ENDED ||
           dir->state == DIR_LOST;
}

void
h1dec_conn_finish(struct h1dec_conn *conn, enum h1dec_side side)
{
    struct direction *dir = &conn->dir[side];
    int rv = 0;

    if (is_stopped(dir)) {
        return;
    }
    if (dir->state == DIR_HELD) {
        conn->held.is_finished = 1;
        return;
    }
    if (dir->state != DIR_IDLE) {
        rv = h1dec_message_cut(conn, dir);
    }
    if (rv != 0) {
        fail(conn, rv);
        return;
    }
    h1dec_conn_stop(dir, DIR_ENDED);
    h1dec_exchange_settle_all(conn);
}

void
h1dec_conn_abandon(struct h1dec_conn *conn, enum h1dec_side side)
{
    struct direction *dir = &conn->dir[side];

    if (!is_stopped(dir)) {
        h1dec_conn_stop(dir, DIR_LOST);
        h1dec_exchange_settle_all(conn);
    }
}

void
h1dec_conn_close(struct h1dec_conn *conn)
{
    h1dec_conn_finish(conn, H1DEC_CLIENT);
    h1dec_conn_finish(conn, H1DEC_SERVER);
    end_all(conn);
}

/* ---- Questions ------------------------------------------------------- */

int
h1dec_conn_is_switched(const struct h1dec_conn *conn)
{
    return conn->is_switched;
}

const struct h1dec_books *
h1dec_conn_books(const struct h1dec_conn *conn, enum h1dec_side side)
{
    return &conn->dir[side].books;
}

int
h1dec_conn_is_lost(const struct h1dec_conn *conn, enum h1dec_side side)
{
    return conn->dir[side].state == DIR_LOST;
}
