/* SPDX-License-Identifier: MIT */
/*
 * Rules that hold for every input, checked against a second reading of the
 * bytes: what tests/README.md calls rules 4, 5 and 7.  The ledger (rule 3) is
 * vector_ledger.c's.
 */
#ifndef VECTOR_RULES_H
#define VECTOR_RULES_H

#include "vector_lines.h"
#include "vector_walk.h"

/* vector_rules_check returns 0 when |lines|, all that the first |limit| bytes
 * of |script| gave, keep the rules, or -1 after writing to |problem| what
 * does not.  Events must not be missing for want of memory. */
int vector_rules_check(const struct vector_script *script, size_t limit,
                       const struct vector_lines *lines,
                       struct vector_buf *problem);

/* struct rules_run is a run whose frames have been found, for the files that
 * own a rule. */
struct rules_run {
    /* lines is what was written, problem where a fault is described. */
    const struct vector_lines *lines;
    struct vector_buf *problem;
    /* close is the connection_close event. */
    const cJSON *close;
    /* walk holds the frames of the part that could be framed. */
    struct vector_walk walk;
    /* events is the mask of what was selected. */
    unsigned events;
    /* has_gaps is 1 when more stream ids were skipped than are remembered:
     * then one that never was looks like one that has ended. */
    int has_gaps;
};

/* vector_rules_late checks rule 5 of an HTTP/2 connection. */
void vector_rules_late(struct rules_run *run);

/* vector_rules_cause checks rule 7. */
void vector_rules_cause(const struct vector_lines *lines,
                        struct vector_buf *problem);

/* rules_notice returns 1 when there is a notice |code|; of |from|, or of any
 * side where that is NULL. */
int rules_notice(const struct vector_lines *lines, const char *code,
                 const char *from);

/* rules_has_preface returns 1 when the client's preface is in its bytes:
 * without it what looks like frames need not be any. */
int rules_has_preface(const struct vector_walk *walk);

/* rules_side returns the name of |side| in events. */
const char *rules_side(enum side side);

#endif
