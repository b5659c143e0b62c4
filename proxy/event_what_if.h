/* SPDX-License-Identifier: MIT */
/* The event `what_if`.  See event.h. */
#ifndef EVENT_WHAT_IF_H
#define EVENT_WHAT_IF_H

#include <stdint.h>

#include "what_if_list.h"
#include "what_if_stats.h"
#include "what_if_table.h"

struct lane;

/* struct event_what_if_facts is what one event says. */
struct event_what_if_facts {
    /* entry is the method and direction, counts those of it. */
    const struct what_if_entry *entry;
    struct what_if_counts counts;
    /* choice is the codec, figures what came of it. */
    const struct what_if_choice *choice;
    struct what_if_figures figures;
    /* is_final is 1 at the end of the run. */
    int is_final;
};

/* event_what_if writes one; |wall_us| is UTC in microseconds. */
void event_what_if(struct lane *lane, int64_t wall_us,
                   const struct event_what_if_facts *facts);

/* EVENT_WHAT_IF_USED_MAX holds the names of all codecs. */
#define EVENT_WHAT_IF_USED_MAX 64

/* event_what_if_is_used_known returns 1 when it is known of all messages what
 * they were sent as. */
int event_what_if_is_used_known(const struct what_if_counts *counts);

/* event_what_if_used writes what messages were compressed with on the wire,
 * names joined by commas; empty when none was. */
void event_what_if_used(const struct what_if_counts *counts,
                        char used[EVENT_WHAT_IF_USED_MAX]);

#endif
