/* SPDX-License-Identifier: MIT */
/*
 * Plays the bytes of HTTP/1.x connections into h1dec, cut in any way, and
 * keeps a log of what it reports.  What must always hold (balanced books, one
 * end for each exchange) is checked here; what must be reported is the
 * caller's to compare.
 */
#ifndef VECTOR_H1_H
#define VECTOR_H1_H

#include "../h1dec/h1dec.h"
#include "vector_buf.h"

/* struct vector_h1_step is bytes of one side, or the end of it. */
struct vector_h1_step {
    enum h1dec_side side;
    /* is_end is 1 when the side ends; there are no bytes then. */
    int is_end;
    struct vector_buf bytes;
};

/* struct vector_h1_script is a connection: the steps in the order in which
 * they passed.  All zero is an empty one. */
struct vector_h1_script {
    /* steps is n_steps of steps_cap. */
    struct vector_h1_step *steps;
    size_t n_steps;
    size_t steps_cap;
};

/* vector_h1_add appends bytes of |side|; to the last step where that is of the
 * same side. */
void vector_h1_add(struct vector_h1_script *script, enum h1dec_side side,
                   const void *data, size_t len);

/* vector_h1_end appends the end of |side|. */
void vector_h1_end(struct vector_h1_script *script, enum h1dec_side side);

/* vector_h1_len returns the bytes of all steps. */
size_t vector_h1_len(const struct vector_h1_script *script);

/* vector_h1_script_clear frees the steps. */
void vector_h1_script_clear(struct vector_h1_script *script);

/* enum vector_h1_cut is how steps are cut. */
enum vector_h1_cut {
    VECTOR_H1_WHOLE,  /* not at all */
    VECTOR_H1_BYTES,  /* into single bytes */
    VECTOR_H1_AT,     /* once, |at| bytes from the beginning */
    VECTOR_H1_RANDOM, /* at random, |at| is the seed */
    /* At random, and the client runs ahead at random: a step of the server
     * waits only for those of the client before it. */
    VECTOR_H1_AHEAD
};

/* struct vector_h1_log is what came of playing; all zero but stop_at and
 * quiet before. */
struct vector_h1_log {
    /* stop_at is the callback that fails, counted from 1; 0 is none. */
    uint64_t stop_at;
    /* is_quiet is 1 when text is not wanted. */
    int is_quiet;
    /* text is everything, in order; adjacent pieces of a body are one. */
    struct vector_buf text;
    /* ends is exchange_end alone, and the books. */
    struct vector_buf ends;
    /* problem is what must never be; empty when all is well. */
    struct vector_buf problem;
    /* error is the fatal error, or 0. */
    int error;
    /* n_calls counts callbacks but exchange_end. */
    uint64_t n_calls;
    /* n_opened and n_ended count exchanges; n_open_max is the most that were
     * open at a time. */
    uint64_t n_opened;
    uint64_t n_ended;
    uint64_t n_open_max;
    /* n_faults counts by code. */
    unsigned n_faults[H1DEC_FAULT_PENDING_LIMIT + 1];
    /* last_fault is the last one. */
    struct h1dec_fault last_fault;
    /* unused[side] is bytes that belong to another protocol. */
    uint64_t unused[2];
    /* books[side] at the end. */
    struct h1dec_books books[2];
    /* Private: the sum of the ledgers of ended exchanges, and the body under
     * way. */
    uint64_t ledgers[2];
    struct h1dec_conn *conn;
    struct vector_buf body;
    uint64_t body_id;
    uint64_t body_chunk;
    enum h1dec_side body_side;
};

/* vector_h1_play plays |script| and closes the connection. */
void vector_h1_play(const struct vector_h1_script *script,
                    enum vector_h1_cut cut, uint64_t at,
                    struct vector_h1_log *log);

/* vector_h1_log_clear frees what |log| holds. */
void vector_h1_log_clear(struct vector_h1_log *log);

#endif
