/* SPDX-License-Identifier: MIT */
/*
 * Owns the client's bytes behind a request that asks for another protocol,
 * until the answer says whose they are: the other protocol's, or the next
 * requests.  What is asked for and what an answer is, is message.c's.
 */
#include "conn.h"

#include <stdlib.h>
#include <string.h>

/* CAP_FIRST holds what clients send ahead: a TLS hello, a preface. */
#define CAP_FIRST 1024
#define MARKS_FIRST 4

static struct direction *
client_of(struct h1dec_conn *conn)
{
    return &conn->dir[H1DEC_CLIENT];
}

void
h1dec_held_clear(struct held *held)
{
    free(held->data);
    free(held->marks);
    memset(held, 0, sizeof(*held));
}

/* ---- Holding --------------------------------------------------------- */

void
h1dec_held_begin(struct h1dec_conn *conn, struct h1dec_exchange *exchange)
{
    client_of(conn)->state = DIR_HELD;
    conn->held.exchange = exchange;
}

static int
grow(struct held *held, size_t len)
{
    size_t cap = held->cap > 0 ? held->cap : CAP_FIRST;
    uint8_t *data;

    while (cap < held->len + len) {
        cap *= 2;
    }
    if (cap == held->cap) {
        return 0;
    }
    data = realloc(held->data, cap);
    if (data == NULL) {
        return H1DEC_ERR_NOMEM;
    }
    held->data = data;
    held->cap = cap;
    return 0;
}

static int
grow_marks(struct held *held)
{
    size_t cap = held->marks_cap > 0 ? 2 * held->marks_cap : MARKS_FIRST;
    struct held_mark *marks;

    if (held->n_marks < held->marks_cap) {
        return 0;
    }
    marks = realloc(held->marks, cap * sizeof(*marks));
    if (marks == NULL) {
        return H1DEC_ERR_NOMEM;
    }
    held->marks = marks;
    held->marks_cap = cap;
    return 0;
}

/* When there are too many times to keep, the last one stands for more. */
static int
mark(struct held *held, uint64_t now_us)
{
    size_t n = held->n_marks;

    if (n == 0 ||
        (held->marks[n - 1].at_us != now_us && n < H1DEC_MARKS_MAX)) {
        if (grow_marks(held) != 0) {
            return H1DEC_ERR_NOMEM;
        }
        held->marks[held->n_marks++].at_us = now_us;
    }
    held->marks[held->n_marks - 1].end = held->len;
    return 0;
}

/* Nothing is kept of too much. */
static void
give_up(struct held *held)
{
    free(held->data);
    free(held->marks);
    held->data = NULL;
    held->marks = NULL;
    held->len = 0;
    held->n_marks = 0;
    held->is_over = 1;
}

int
h1dec_held_take(struct h1dec_conn *conn, const uint8_t *data, size_t len,
                uint64_t now_us)
{
    struct held *held = &conn->held;
    int rv;

    h1dec_conn_take(client_of(conn), len);
    if (held->is_over || len > H1DEC_PENDING_MAX - held->len) {
        give_up(held);
        return 0;
    }
    rv = grow(held, len);
    if (rv == 0) {
        memcpy(held->data + held->len, data, len);
        held->len += len;
        rv = mark(held, now_us);
    }
    return rv;
}

/* ---- The answer ------------------------------------------------------ */

/* let_go takes the bytes out of the connection, which has not had them then;
 * what was too much to keep stays with it. */
static struct held
let_go(struct h1dec_conn *conn)
{
    struct direction *dir = client_of(conn);
    struct held held = conn->held;

    memset(&conn->held, 0, sizeof(conn->held));
    dir->books.bytes -= held.len;
    dir->unbooked -= held.len;
    return held;
}

static int
over_limit(struct h1dec_conn *conn)
{
    struct direction *dir = client_of(conn);
    struct h1dec_fault fault = {
        .code = H1DEC_FAULT_PENDING_LIMIT,
        .offset = dir->books.bytes - dir->unbooked,
        .received = dir->unbooked,
        .reason = "bytes that waited for the answer to a request for another "
                  "protocol are more than the limit",
    };

    return h1dec_conn_lose(conn, dir, fault);
}

int
h1dec_held_release(struct h1dec_conn *conn)
{
    struct held held = let_go(conn);
    size_t at = 0;

    client_of(conn)->state = DIR_IDLE;
    if (held.is_over) {
        h1dec_held_clear(&held);
        return over_limit(conn);
    }
    for (size_t i = 0; i < held.n_marks; i++) {
        h1dec_conn_feed_side(conn, client_of(conn), held.data + at,
                             held.marks[i].end - at, held.marks[i].at_us);
        at = held.marks[i].end;
    }
    if (held.is_finished) {
        h1dec_conn_finish(conn, H1DEC_CLIENT);
    }
    h1dec_held_clear(&held);
    return conn->error;
}

int
h1dec_held_hand_over(struct h1dec_conn *conn, struct h1dec_exchange *exchange)
{
    const struct h1dec_callbacks *cb = conn->callbacks;
    struct held held = let_go(conn);
    int rv = 0;

    h1dec_conn_hand_over(conn, exchange);
    if ((held.len > 0 || held.is_over) && cb->handed != NULL &&
        cb->handed(held.data, held.len, conn->user) != 0) {
        rv = H1DEC_ERR_CALLBACK;
    }
    h1dec_held_clear(&held);
    return rv;
}

/* Nobody will ever know. */
void
h1dec_held_drop(struct h1dec_conn *conn)
{
    int is_finished = conn->held.is_finished;

    h1dec_conn_stop(client_of(conn), is_finished ? DIR_ENDED : DIR_LOST);
}
