/* SPDX-License-Identifier: MIT */
/*
 * How workers make the observers of their connections.  A watch is a table of
 * functions, so that neither worker nor relay knows what a tap is; watch_tap
 * is the one of the program, tests bring their own.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdint.h>

#include "observer.h"

struct lane;
struct run_totals;
struct summary;

/* struct watch makes observers. No pointer is NULL. */
struct watch {
    /* observer is the table by which an observer is called. */
    const struct observer *observer;
    /* shared_new makes what the observers of one worker share; |config| is
     * worker_config.watch_config, |summary| may be NULL.  |wall_offset_us|
     * plus a monotonic time is UTC.  Returns NULL for want of memory. */
    void *(*shared_new)(const void *config, struct lane *lane,
                        struct summary *summary, int64_t wall_offset_us);
    /* shared_free frees it, after all its observers were closed. */
    void (*shared_free)(void *shared);
    /* shared_set_wall corrects the wall clock. */
    void (*shared_set_wall)(void *shared, int64_t wall_offset_us);
    /* shared_add_totals adds the figures so far to |totals|. */
    void (*shared_add_totals)(const void *shared, struct run_totals *totals);
    /* observer_new makes the observer of the connection |conn| from |client|.
     * NULL, for want of memory: it goes unobserved. */
    void *(*observer_new)(void *shared, uint64_t conn, const char *client,
                          uint64_t now_us);
};

/* watch_tap makes taps; its watch_config is a struct tap_config. */
extern const struct watch watch_tap;

#endif
