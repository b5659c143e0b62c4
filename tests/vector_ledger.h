/* SPDX-License-Identifier: MIT */
/*
 * Checks that the books of a run balance: what every byte of a connection
 * was spent on, that each stream gave one call, that no name is missing.
 */
#ifndef VECTOR_LEDGER_H
#define VECTOR_LEDGER_H

#include "vector_lines.h"

/* struct vector_ledger_rules says what holds for a run. */
struct vector_ledger_rules {
    /* sent is how many bytes each side sent. */
    uint64_t sent[2];
    /* is_lossy is 1 when events may be missing (memory ran out): then only
     * what was written is checked. */
    int is_lossy;
    /* has_calls is 1 when call events were selected, has_frames when frame
     * events were as well. */
    int has_calls;
    int has_frames;
    /* is_orderly is 1 when every stream with a HEADERS frame must have a
     * call; 0 for random input, where such a frame can be late. */
    int is_orderly;
    /* preface is 1 when the client's bytes start with the whole preface. */
    int preface;
};

/* vector_ledger_check returns 0 when |lines| balance, or -1 after writing to
 * |problem| what does not. */
int vector_ledger_check(const struct vector_lines *lines,
                        const struct vector_ledger_rules *rules,
                        struct vector_buf *problem);

#endif
