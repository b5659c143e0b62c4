/* SPDX-License-Identifier: MIT */
/*
 * What the microbenches share: rounds, the clock, the output.  A program has a
 * list of pieces of work; each round does every one of them for a while and
 * notes the CPU time it took, so that all of them see the same machine.
 *
 * Usage of each program: [--rounds N] [--ms N] [--only NAME] [FILE]
 * It prints one JSON object: a member for each piece of work, with the
 * nanoseconds that one unit took in each round.
 */
#ifndef MICRO_H
#define MICRO_H

#include <stddef.h>
#include <stdint.h>

/* MICRO_ROUNDS_MAX bounds --rounds. */
#define MICRO_ROUNDS_MAX 100

/* struct micro_bench is one piece of work. */
struct micro_bench {
    const char *name;
    /* unit is what is counted: "frame", "message". */
    const char *unit;
    /* run does some of it, a millisecond or so, and returns how many units
     * that were. */
    uint64_t (*run)(void);
    /* bytes is how many a unit has; 0 where they mean nothing. */
    uint64_t bytes;
    /* ns is what a unit took, in each round. */
    double ns[MICRO_ROUNDS_MAX];
};

/* struct micro_options is the command line. */
struct micro_options {
    unsigned rounds;
    /* ms is how long a piece of work goes on in a round. */
    unsigned ms;
    /* only names the one piece of work to do; NULL: all. */
    const char *only;
    /* file is the argument, or NULL. */
    const char *file;
};

/* micro_options_parse reads the command line; exits with 2 when it is wrong. */
struct micro_options micro_options_parse(int argc, char **argv);

/* micro_run does |n| pieces of work as |options| says and prints what came of
 * it.  Returns the exit status. */
int micro_run(const struct micro_options *options, struct micro_bench *benches,
              size_t n);

/* micro_check ends the program with |what| unless |is_true|: a bench that
 * measures something else than it says is worth nothing. */
void micro_check(int is_true, const char *what);

/* micro_alloc returns |len| bytes, and never NULL. */
void *micro_alloc(size_t len);

/* struct micro_buf is bytes that grow at the end; zeros are an empty one. */
struct micro_buf {
    uint8_t *data;
    size_t len;
    size_t cap;
};

/* micro_buf_add appends |len| bytes. */
void micro_buf_add(struct micro_buf *buf, const void *data, size_t len);

/* micro_text appends |len| bytes of records as JSON has them, which compress
 * about as well as real ones. */
void micro_text(struct micro_buf *buf, size_t len);

#endif
