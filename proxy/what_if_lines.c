/* SPDX-License-Identifier: MIT */
/*
 * Owns the way of the events of --what-if: its thread writes lines into a lane
 * of its own and posts them, a worker puts them among its own.  What is in a
 * line is event_what_if.c's, when there is time for it what_if.c's.
 */
#include <string.h>

#include "event_what_if.h"
#include "net.h"
#include "what_if_parts.h"

#define NS_PER_US UINT64_C(1000)

/* ---- The thread's side ----------------------------------------------- */

static void
write_entry(struct what_if *w, struct what_if_entry *entry, int is_final)
{
    struct event_what_if_facts facts = {
        .entry = entry,
        .counts = what_if_entry_counts(entry),
        .is_final = is_final,
    };
    uint64_t news = facts.counts.messages_seen + facts.counts.sampled;

    if (news == 0 || (news == entry->reported && !is_final))
        return;
    entry->reported = news;
    for (unsigned i = 0; i < w->config.list.n; i++) {
        facts.choice = &w->config.list.choices[i];
        facts.figures = what_if_stats_figures(entry->stats, i);
        event_what_if(&w->lane, (int64_t)net_now_us() + net_wall_offset_us(),
                      &facts);
    }
}

/* From here on the lane is the collector's, until it is empty. */
static void
post(struct what_if *w)
{
    if (w->lane.len > 0 || lane_dropped_total(&w->lane) > 0)
        atomic_store(&w->is_posted, 1);
}

void
what_if_lines_write(struct what_if *w)
{
    uint64_t now_us = net_now_us();

    if (w->next == NULL && now_us * NS_PER_US >= w->due_ns) {
        w->due_ns = (now_us + w->config.event_us) * NS_PER_US;
        if (w->config.wants_events)
            w->next = atomic_load(&w->table.first);
    }
    while (w->next != NULL && !atomic_load(&w->is_posted) &&
           !atomic_load(&w->is_stopping)) {
        write_entry(w, w->next, 0);
        w->next = w->next->next;
        if (w->next == NULL || w->lane.len >= LANE_FLUSH)
            post(w);
        /* Who wants the lock need not wait for all entries. */
        pthread_mutex_unlock(&w->lock);
        pthread_mutex_lock(&w->lock);
    }
}

void
what_if_lines_write_last(struct what_if *w)
{
    struct what_if_entry *entry = atomic_load(&w->table.first);

    w->next = NULL;
    for (; entry != NULL && w->config.wants_events; entry = entry->next)
        write_entry(w, entry, 1);
    post(w);
}

/* ---- The worker's side ----------------------------------------------- */

/* Returns the length of the line. */
static size_t
take_line(const char *line, size_t len, struct lane *lane)
{
    const char *end = memchr(line, '\n', len);
    size_t n = end != NULL ? (size_t)(end - line) : len;

    if (lane_begin(lane, EVENT_WHAT_IF)) {
        lane_append(lane, line, n);
        lane_end(lane);
    }
    return n < len ? n + 1 : len;
}

int
what_if_collect(struct what_if *w, struct lane *lane)
{
    size_t enough;

    if (w == NULL || !atomic_load(&w->is_posted))
        return 0;
    for (; w->lane.dropped[EVENT_WHAT_IF] > 0;
         w->lane.dropped[EVENT_WHAT_IF]--)
        lane_give_up(lane, EVENT_WHAT_IF);
    enough = w->taken + LANE_FLUSH;
    while (w->taken < w->lane.len && w->taken < enough)
        w->taken += take_line(w->lane.data + w->taken,
                              w->lane.len - w->taken, lane);
    if (w->taken < w->lane.len)
        return 1;
    w->taken = 0;
    lane_reset(&w->lane);
    atomic_store(&w->is_posted, 0);
    return 0;
}
