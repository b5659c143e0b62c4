/* SPDX-License-Identifier: MIT */
/* Owns the playing of tables in all cuts and with all failures; the tables are
 * the tests'. */
#include "vector_h1_rows.h"

#include <stdio.h>
#include <string.h>

#include "vector_alloc.h"

#define RANDOM_CUTS 20

void
vector_h1_row_script(const struct vector_h1_row *row,
                     struct vector_h1_script *script)
{
    for (size_t i = 0; i < VECTOR_H1_STEPS && row->steps[i] != NULL; i++) {
        const char *step = row->steps[i];
        enum h1dec_side side = *step == '>' ? H1DEC_CLIENT : H1DEC_SERVER;

        if (strcmp(step + 1, "$") == 0) {
            vector_h1_end(script, side);
        } else {
            vector_h1_add(script, side, step + 1, strlen(step + 1));
        }
    }
}

static void
tell(struct vector_buf *problem, const char *what, const char *expected,
     const char *got)
{
    vector_buf_text(problem, what);
    vector_buf_text(problem, "\n--- expected\n");
    vector_buf_text(problem, expected);
    vector_buf_text(problem, "--- got\n");
    vector_buf_text(problem, got);
}

/* text_of is never NULL. */
static const char *
text_of(const struct vector_buf *buf)
{
    return buf->data != NULL ? (const char *)buf->data : "";
}

/* play compares a run with |whole|, all of it or only its ends. */
static void
play(const struct vector_h1_script *script, enum vector_h1_cut cut,
     uint64_t at, const struct vector_h1_log *whole,
     struct vector_buf *problem)
{
    static const char *const names[] = { "whole", "byte by byte", "cut once",
                                         "cut at random",
                                         "with the client ahead" };
    struct vector_h1_log log = { 0 };
    const char *expected = text_of(&whole->text);
    const char *got;

    vector_h1_play(script, cut, at, &log);
    got = text_of(&log.text);
    if (cut == VECTOR_H1_AHEAD) {
        expected = text_of(&whole->ends);
        got = text_of(&log.ends);
    }
    if (strcmp(got, expected) != 0 || log.problem.len > 0) {
        tell(problem, names[cut], expected, got);
        vector_buf_text(problem, text_of(&log.problem));
    }
    vector_h1_log_clear(&log);
}

void
vector_h1_row_check(const struct vector_h1_row *row,
                    struct vector_buf *problem)
{
    struct vector_h1_script script = { 0 };
    struct vector_h1_log whole = { 0 };
    size_t len;

    vector_h1_row_script(row, &script);
    len = vector_h1_len(&script);
    vector_h1_play(&script, VECTOR_H1_WHOLE, 0, &whole);
    vector_buf_text(problem, text_of(&whole.problem));
    if (strcmp(text_of(&whole.text), row->log) != 0) {
        tell(problem, "whole", row->log, text_of(&whole.text));
    }
    play(&script, VECTOR_H1_BYTES, 0, &whole, problem);
    for (size_t at = 1; at < len && problem->len == 0; at++) {
        play(&script, VECTOR_H1_AT, at, &whole, problem);
    }
    for (uint64_t seed = 0; seed < RANDOM_CUTS && problem->len == 0; seed++) {
        play(&script, VECTOR_H1_RANDOM, seed, &whole, problem);
        if (row->is_free) {
            play(&script, VECTOR_H1_AHEAD, seed, &whole, problem);
        }
    }
    vector_h1_log_clear(&whole);
    vector_h1_script_clear(&script);
}

/* ---- Failures -------------------------------------------------------- */

/* sweep_one lets the |nth| allocation fail; 0 when there were fewer. */
static int
sweep_one(const struct vector_h1_script *script, uint64_t nth,
          enum vector_alloc_mode mode, enum vector_h1_cut cut,
          struct vector_buf *problem)
{
    struct vector_h1_log log = { 0 };
    int has_failed;

    vector_alloc_arm(nth, mode);
    vector_h1_play(script, cut, 0, &log);
    has_failed = vector_alloc_disarm();
    vector_buf_text(problem, text_of(&log.problem));
    if (log.error != (has_failed ? H1DEC_ERR_NOMEM : 0)) {
        vector_buf_text(problem, "the wrong error without memory\n");
    }
    vector_h1_log_clear(&log);
    return has_failed;
}

void
vector_h1_row_sweep_alloc(const struct vector_h1_row *row,
                          struct vector_buf *problem)
{
    struct vector_h1_script script = { 0 };

    vector_h1_row_script(row, &script);
    for (int i = 0; i < 4; i++) {
        enum vector_alloc_mode mode =
            i % 2 ? VECTOR_ALLOC_ONCE : VECTOR_ALLOC_FOR_GOOD;
        enum vector_h1_cut cut = i / 2 ? VECTOR_H1_BYTES : VECTOR_H1_WHOLE;
        uint64_t nth = 1;

        while (sweep_one(&script, nth, mode, cut, problem)) {
            nth++;
        }
        /* A connection alone takes three. */
        if (nth < 3) {
            vector_buf_text(problem, "allocations do not fail\n");
        }
    }
    vector_h1_script_clear(&script);
}

void
vector_h1_row_sweep_calls(const struct vector_h1_row *row,
                          struct vector_buf *problem)
{
    struct vector_h1_script script = { 0 };
    struct vector_h1_log whole = { 0 };

    vector_h1_row_script(row, &script);
    vector_h1_play(&script, VECTOR_H1_WHOLE, 0, &whole);
    for (uint64_t nth = 1; nth <= whole.n_calls; nth++) {
        struct vector_h1_log log = { .stop_at = nth };

        vector_h1_play(&script, VECTOR_H1_WHOLE, 0, &log);
        vector_buf_text(problem, text_of(&log.problem));
        /* What fails at the end of a side is not returned by a feed. */
        if (log.error != 0 && log.error != H1DEC_ERR_CALLBACK) {
            vector_buf_text(problem, "the wrong error from a callback\n");
        }
        if (log.n_calls != nth) {
            vector_buf_text(problem, "the failing callback is not the last\n");
        }
        vector_h1_log_clear(&log);
    }
    vector_h1_log_clear(&whole);
    vector_h1_script_clear(&script);
}

unsigned
vector_h1_rows_run(const struct vector_h1_row *rows, size_t n,
                   void (*check)(const struct vector_h1_row *row,
                                 struct vector_buf *problem))
{
    unsigned n_failed = 0;

    for (size_t i = 0; i < n; i++) {
        struct vector_buf problem = { 0 };

        check(&rows[i], &problem);
        if (problem.len > 0) {
            fprintf(stderr, "%s: %s\n", rows[i].name, text_of(&problem));
            n_failed++;
        }
        vector_buf_clear(&problem);
    }
    return n_failed;
}
