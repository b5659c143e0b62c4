/* SPDX-License-Identifier: MIT */
/*
 * Owns scripts of HTTP/1.x bytes and the ways to cut them.  How what they
 * come to is written down is vector_h1_log.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "vector_alloc.h"
#include "vector_h1.h"
#include "vector_h1_log.h"

/* ---- Scripts --------------------------------------------------------- */

static struct vector_h1_step *
add_step(struct vector_h1_script *script, enum h1dec_side side)
{
    struct vector_h1_step *step;

    if (script->n_steps == script->steps_cap) {
        script->steps_cap = 2 * script->steps_cap + 8;
        script->steps = vector_grow(script->steps, script->steps_cap,
                                    sizeof(*script->steps));
    }
    step = &script->steps[script->n_steps];
    script->n_steps++;
    memset(step, 0, sizeof(*step));
    step->side = side;
    return step;
}

void
vector_h1_add(struct vector_h1_script *script, enum h1dec_side side,
              const void *data, size_t len)
{
    struct vector_h1_step *step = NULL;

    if (script->n_steps > 0) {
        step = &script->steps[script->n_steps - 1];
    }
    if (step == NULL || step->side != side || step->is_end) {
        step = add_step(script, side);
    }
    vector_buf_add(&step->bytes, data, len);
}

void
vector_h1_end(struct vector_h1_script *script, enum h1dec_side side)
{
    add_step(script, side)->is_end = 1;
}

size_t
vector_h1_len(const struct vector_h1_script *script)
{
    size_t len = 0;

    for (size_t i = 0; i < script->n_steps; i++) {
        len += script->steps[i].bytes.len;
    }
    return len;
}

void
vector_h1_script_clear(struct vector_h1_script *script)
{
    for (size_t i = 0; i < script->n_steps; i++) {
        vector_buf_clear(&script->steps[i].bytes);
    }
    free(script->steps);
    memset(script, 0, sizeof(*script));
}

/* ---- Playing --------------------------------------------------------- */

/* struct play is one run of a script. */
struct play {
    const struct vector_h1_script *script;
    struct vector_h1_log *log;
    enum vector_h1_cut cut;
    /* at is a position, or the state of the random generator. */
    uint64_t at;
    /* fed is how much of each step has been fed; ends count for 1. */
    size_t *fed;
    /* total is the sum of that, without the ends. */
    size_t total;
    /* byte is room for one, which needs no new copy each time. */
    uint8_t *byte;
};

static uint32_t
play_random(struct play *play)
{
    /* The constants of Knuth's MMIX generator. */
    play->at = play->at * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(play->at >> 33);
}

/* feed gives the library a copy of just this size, so that a memory checker
 * sees what is read behind it. */
static void
feed(struct play *play, size_t index, size_t len)
{
    const struct vector_h1_step *step = &play->script->steps[index];
    struct vector_h1_log *log = play->log;
    int armed = vector_alloc_pause();
    uint8_t *copy = len == 1 ? play->byte : vector_alloc(len);
    size_t used = len + 1;
    int rv;

    memcpy(copy, step->bytes.data + play->fed[index], len);
    vector_alloc_resume(armed);
    rv = h1dec_conn_feed(log->conn, step->side, copy, len, &used, index + 1);
    armed = vector_alloc_pause();
    if (copy != play->byte) {
        free(copy);
    }
    vector_h1_log_fed(log, step->side, len, used, rv);
    vector_alloc_resume(armed);
    play->fed[index] += len;
    play->total += len;
}

static size_t
piece_len(struct play *play, size_t left)
{
    size_t len = left;

    switch (play->cut) {
    case VECTOR_H1_WHOLE:
        break;
    case VECTOR_H1_BYTES:
        len = 1;
        break;
    case VECTOR_H1_AT:
        if (play->at > play->total && play->at - play->total < left) {
            len = (size_t)(play->at - play->total);
        }
        break;
    case VECTOR_H1_RANDOM:
    case VECTOR_H1_AHEAD:
        /* Short ones and long ones, whatever there is to cut. */
        len = play_random(play) % 4 == 0 ? 1 + play_random(play) % 4
                                         : 1 + play_random(play) % 700;
        break;
    }
    return len < left ? len : left;
}

/* advance feeds a piece of step |index|, or its end. */
static void
advance(struct play *play, size_t index)
{
    const struct vector_h1_step *step = &play->script->steps[index];
    struct h1dec_conn *conn = play->log->conn;
    uint8_t nothing = 0;
    size_t used = 1;

    if (step->is_end) {
        h1dec_conn_finish(conn, step->side);
        h1dec_conn_finish(conn, step->side);
        play->fed[index] = 1;
        return;
    }
    feed(play, index, piece_len(play, step->bytes.len - play->fed[index]));
    h1dec_conn_feed(conn, step->side, &nothing, 0, &used, index + 1);
    vector_h1_log_fed(play->log, step->side, 0, used, play->log->error);
}

static int
is_done(const struct play *play, size_t index)
{
    const struct vector_h1_step *step = &play->script->steps[index];

    return play->fed[index] >= (step->is_end ? 1 : step->bytes.len);
}

/* next_of returns the first step of |side| that is not done. */
static size_t
next_of(const struct play *play, enum h1dec_side side, size_t from)
{
    while (from < play->script->n_steps &&
           (play->script->steps[from].side != side || is_done(play, from))) {
        from++;
    }
    return from;
}

static void
play_in_order(struct play *play)
{
    for (size_t i = 0; i < play->script->n_steps; i++) {
        while (!is_done(play, i)) {
            advance(play, i);
        }
    }
}

static void
play_ahead(struct play *play)
{
    size_t n = play->script->n_steps;
    size_t client = next_of(play, H1DEC_CLIENT, 0);
    size_t server = next_of(play, H1DEC_SERVER, 0);

    while (client < n || server < n) {
        int is_client_next = server == n || client < server;

        /* The client's end is no reason for a server not to go on. */
        if (server < n && is_client_next == 0 && client < n &&
            !play->script->steps[client].is_end) {
            is_client_next = (int)(play_random(play) % 2);
        }
        advance(play, is_client_next ? client : server);
        client = next_of(play, H1DEC_CLIENT, client);
        server = next_of(play, H1DEC_SERVER, server);
    }
}

void
vector_h1_play(const struct vector_h1_script *script, enum vector_h1_cut cut,
               uint64_t at, struct vector_h1_log *log)
{
    struct play play = { script, log, cut, at, NULL, 0, NULL };
    int armed = vector_alloc_pause();

    play.fed = vector_alloc((script->n_steps + 1) * sizeof(*play.fed));
    play.byte = vector_alloc(1);
    vector_alloc_resume(armed);
    if (vector_h1_log_open(log)) {
        if (cut == VECTOR_H1_AHEAD) {
            play_ahead(&play);
        } else {
            play_in_order(&play);
        }
        h1dec_conn_close(log->conn);
        h1dec_conn_close(log->conn);
        vector_h1_log_close(log);
    }
    armed = vector_alloc_pause();
    free(play.fed);
    free(play.byte);
    vector_alloc_resume(armed);
}
