/* SPDX-License-Identifier: MIT */
/*
 * Owns the open exchanges, in the order of their requests, and when they end.
 * What their messages carry is message.c's.
 */
#include "conn.h"

#include <stdlib.h>

int
h1dec_exchange_new(struct h1dec_conn *conn, uint64_t now_us,
                   struct h1dec_exchange **exchange)
{
    struct h1dec_exchange *x;

    if (conn->n_exchanges >= H1DEC_EXCHANGES_MAX) {
        return H1DEC_ERR_EXCHANGES;
    }
    x = calloc(1, sizeof(*x));
    if (x == NULL) {
        return H1DEC_ERR_NOMEM;
    }
    conn->last_id++;
    x->id = conn->last_id;
    x->opened_us = now_us;
    if (conn->last != NULL) {
        conn->last->next = x;
    } else {
        conn->first = x;
    }
    conn->last = x;
    conn->n_exchanges++;
    *exchange = x;
    return 0;
}

/* Responses come in order, so that one alone can be answered and yet open:
 * the first, when its request is still under way. */
struct h1dec_exchange *
h1dec_exchange_waiting(const struct h1dec_conn *conn)
{
    struct h1dec_exchange *x = conn->first;

    if (x != NULL && x->ended[H1DEC_SERVER]) {
        x = x->next;
    }
    return x;
}

static void
unlink_exchange(struct h1dec_conn *conn, struct h1dec_exchange *exchange)
{
    struct h1dec_exchange *before = NULL;

    /* Nearly always the first one. */
    for (struct h1dec_exchange *x = conn->first; x != exchange; x = x->next) {
        before = x;
    }
    if (before != NULL) {
        before->next = exchange->next;
    } else {
        conn->first = exchange->next;
    }
    if (conn->last == exchange) {
        conn->last = before;
    }
    conn->n_exchanges--;
}

void
h1dec_exchange_end(struct h1dec_conn *conn, struct h1dec_exchange *exchange,
                   enum h1dec_end end)
{
    for (int i = 0; i < 2; i++) {
        if (conn->dir[i].exchange == exchange) {
            conn->dir[i].exchange = NULL;
        }
    }
    unlink_exchange(conn, exchange);
    if (conn->held.exchange == exchange) {
        h1dec_held_drop(conn);
    }
    if (conn->callbacks->exchange_end != NULL) {
        conn->callbacks->exchange_end(exchange, end, conn->user);
    }
    free(exchange);
}

/* Whether |dir| has sent the last message it will ever complete. */
static int
is_over(const struct direction *dir)
{
    return dir->is_closing || dir->state == DIR_HANDED ||
           dir->state == DIR_ENDED || dir->state == DIR_LOST;
}

/* A response nobody asked for has no request to wait for. */
void
h1dec_exchange_settle(struct h1dec_conn *conn, struct h1dec_exchange *exchange)
{
    int has_request =
        exchange->ended[H1DEC_CLIENT] || !exchange->begun[H1DEC_CLIENT];
    int has_response = exchange->ended[H1DEC_SERVER];

    if (has_request && has_response) {
        h1dec_exchange_end(conn, exchange, H1DEC_END_COMPLETE);
    } else if ((has_request || is_over(&conn->dir[H1DEC_CLIENT])) &&
               (has_response || is_over(&conn->dir[H1DEC_SERVER]))) {
        h1dec_exchange_end(conn, exchange, H1DEC_END_CONNECTION);
    }
}

void
h1dec_exchange_settle_all(struct h1dec_conn *conn)
{
    struct h1dec_exchange *x = conn->first;

    while (x != NULL) {
        struct h1dec_exchange *next = x->next;

        h1dec_exchange_settle(conn, x);
        x = next;
    }
}

void
h1dec_exchange_clear(struct h1dec_conn *conn)
{
    while (conn->first != NULL) {
        struct h1dec_exchange *x = conn->first;

        conn->first = x->next;
        free(x);
    }
    conn->last = NULL;
    conn->n_exchanges = 0;
}
