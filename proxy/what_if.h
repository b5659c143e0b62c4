/* SPDX-License-Identifier: MIT */
/*
 * --what-if: what the messages that pass would cost under other codecs.  A
 * thread of its own compresses some of them with each codec of a list, within
 * a share of CPU, and writes events; what it does not try is counted.
 *
 * Workers meet it in what_if_tap.h.  The order of use:
 *
 *     what_if_new, (the run: what_if_collect now and then), what_if_finish,
 *     what_if_collect, what_if_print, what_if_free
 */
#ifndef WHAT_IF_H
#define WHAT_IF_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "what_if_list.h"

/* WHAT_IF_CPU_DEFAULT is the share of one core, in percent. */
#define WHAT_IF_CPU_DEFAULT 10

/* WHAT_IF_EVENT_US is how often events are written while there is something
 * new. */
#define WHAT_IF_EVENT_US 10000000u

/* WHAT_IF_COLLECT_US is how often a worker asks for events: a piece of
 * LANE_FLUSH bytes each time, too little for its traffic to notice. */
#define WHAT_IF_COLLECT_US 50000u

/* WHAT_IF_REST_US is how long, at the end, what still waits is tried, without
 * regard to the share; WHAT_IF_PATIENCE_US, how long the message under way then
 * is waited for. */
#define WHAT_IF_REST_US 1000000u
#define WHAT_IF_PATIENCE_US 2000000u

struct lane;
struct what_if;

/* struct what_if_config says what to try. */
struct what_if_config {
    /* list is the codecs. */
    struct what_if_list list;
    /* cpu_percent is the share of one core, 1 to 100. */
    unsigned cpu_percent;
    /* wants_events is 1 when events are selected. */
    int wants_events;
    /* event_us is how often events are written; 0: WHAT_IF_EVENT_US. */
    uint64_t event_us;
    /* hurry (may be NULL) is set to 1, by the handler of a signal perhaps, for
     * what_if_finish to wait for nothing any more. */
    const atomic_int *hurry;
};

/* what_if_new starts the thread; |config| is copied.  NULL after logging
 * why. */
struct what_if *what_if_new(const struct what_if_config *config);

/*
 * what_if_collect puts events that the thread has written into |lane|, a piece
 * at a time, and counts those it had no memory for as dropped there.  Returns 1
 * while there is more.  Every WHAT_IF_COLLECT_US from one worker, whose lane it
 * is; NULL is fine.
 */
int what_if_collect(struct what_if *what_if, struct lane *lane);

/* what_if_finish has the thread try what waits, within bounds, and writes the
 * last events, to be collected; no worker runs any more.  Takes
 * WHAT_IF_PATIENCE_US at most; NULL is fine. */
void what_if_finish(struct what_if *what_if);

/* what_if_print writes a table of all methods; after what_if_finish. */
void what_if_print(const struct what_if *what_if, FILE *file);

/* what_if_free frees |what_if|; NULL is fine. */
void what_if_free(struct what_if *what_if);

#endif
