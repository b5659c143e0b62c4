/* SPDX-License-Identifier: MIT */
/* The events of a run rather than of a connection.  See event.h. */
#ifndef EVENT_RUN_H
#define EVENT_RUN_H

#include <stdint.h>

struct lane;

/* struct run_totals is what `stop` reports of the whole run, whatever
 * --events selected. */
struct run_totals {
    /* connections accepted. */
    uint64_t connections;
    /* calls, messages and notices seen. */
    uint64_t calls;
    uint64_t messages;
    uint64_t notices;
    /* bytes_from_* are TCP payload bytes read. */
    uint64_t bytes_from_client;
    uint64_t bytes_from_server;
    /* dropped is how many events were given up. */
    uint64_t dropped;
    /* duration_us is the time since `start`. */
    uint64_t duration_us;
};

/* The functions return 0, or -1 when memory ran out and nothing was written.
 *
 * event_start writes `start`: |listen| is the address really bound.  |wall_us|
 * is UTC in microseconds, here and below. */
int event_start(struct lane *lane, int64_t wall_us, const char *listen,
                const char *upstream);

/* event_stop writes `stop`. */
int event_stop(struct lane *lane, int64_t wall_us,
               const struct run_totals *totals);

/* event_dropped writes `dropped` with lane->dropped and empties it; when that
 * fails for want of memory the counts stay for the next time. */
int event_dropped(struct lane *lane, int64_t wall_us);

#endif
