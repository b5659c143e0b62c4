/* SPDX-License-Identifier: MIT */
/* --what-if from the inside: what what_if.c, what_if_lines.c, what_if_tap.c and
 * what_if_report.c share. */
#ifndef WHAT_IF_PARTS_H
#define WHAT_IF_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "lane.h"
#include "what_if.h"
#include "what_if_bench.h"
#include "what_if_budget.h"
#include "what_if_queue.h"
#include "what_if_stats.h"
#include "what_if_table.h"

struct what_if {
    /* config is a copy of the caller's. */
    struct what_if_config config;
    /* table and queue are where workers and the thread meet. */
    struct what_if_table table;
    struct what_if_queue queue;
    /* bench and budget are the thread's. */
    struct what_if_bench *bench;
    struct what_if_budget budget;
    /* lane takes the events.  It has no sink, whose lock workers wait for: a
     * worker collects the lines while is_posted is 1, the thread touches them
     * while it is 0.  taken is how far they have been collected. */
    struct lane lane;
    atomic_int is_posted;
    size_t taken;
    /* next is the entry to write of next; NULL between rounds of events. */
    struct what_if_entry *next;
    /* lock is held by the thread but while it compresses and while it waits,
     * and given up between two entries it writes: who has it may use all but
     * the bench, the budget and posted lines.  No worker takes it; at the end
     * of the run what_if_finish does. */
    pthread_mutex_t lock;
    /* wake ends a wait of the thread, ended one for it. */
    pthread_cond_t wake;
    pthread_cond_t ended;
    pthread_t thread;
    /* is_started is 1 when there is a thread, has_ended once it has done its
     * work. */
    int is_started;
    int has_ended;
    /* is_stopping is 1 when it shall end; is_abandoned, when nobody waits for
     * it any more: it then touches nothing. */
    atomic_int is_stopping;
    int is_abandoned;
    /* abandoned links those of which is_abandoned is 1. */
    struct what_if *abandoned;
    /* current is the sample under way, or NULL. */
    struct what_if_sample *current;
    /* spent_ns is its CPU time as of the last look. */
    uint64_t spent_ns;
    /* due_ns is when events are written next, stop_ns when it is to stop
     * trying, once it is stopping. */
    uint64_t due_ns;
    uint64_t stop_ns;
};

/* what_if_lines_write goes on with a round of events, or begins one that is
 * due: as far as the lane has room, and with the lock given up between entries.
 * For the thread. */
void what_if_lines_write(struct what_if *what_if);

/* what_if_lines_write_last writes and posts the last events, with the lock and
 * without the thread. */
void what_if_lines_write_last(struct what_if *what_if);

#endif
