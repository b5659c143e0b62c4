/* SPDX-License-Identifier: MIT */
/* Owns the choice of what is tried, and the counting of what is seen: all in
 * the worker's thread, a few instructions where a message is not taken.  What
 * a message is decides call_sample.c. */
#include "what_if_tap.h"

#include "net.h"
#include "what_if_parts.h"

void
what_if_flow_open(struct what_if *what_if, struct what_if_flow *flow,
                  enum side side, const char *path, size_t path_len)
{
    flow->entry = what_if_table_find(&what_if->table, side, path, path_len);
}

void
what_if_flow_take(struct what_if *what_if, struct what_if_flow *flow,
                  uint64_t expected, const uint8_t *data, size_t len)
{
    struct what_if_queue *queue = &what_if->queue;

    if (!flow->is_begun) {
        size_t guess = expected > WHAT_IF_MESSAGE_MAX ? WHAT_IF_MESSAGE_MAX + 1
                                                      : (size_t)expected;

        flow->is_begun = 1;
        flow->skip = (uint8_t)what_if_queue_begin(
            queue, flow->entry, guess, net_now_us(), &flow->sample);
    }
    if (flow->sample != NULL)
        flow->skip =
            (uint8_t)what_if_queue_add(queue, &flow->sample, data, len);
}

/* What becomes of the message that |message| is about. */
static enum what_if_skip
flow_settle(struct what_if *what_if, struct what_if_flow *flow,
            const struct what_if_message *message)
{
    struct what_if_sample *sample = flow->sample;

    flow->sample = NULL;
    if (message->is_decoded && sample != NULL)
        return what_if_queue_put(&what_if->queue, sample);
    what_if_queue_drop(&what_if->queue, sample);
    if (!message->is_decoded)
        return WHAT_IF_UNDECODED;
    return flow->is_begun ? (enum what_if_skip)flow->skip : WHAT_IF_EMPTY;
}

static void
count_used(struct what_if_entry *entry, const struct what_if_message *message)
{
    if (message->is_wire_unknown)
        atomic_fetch_add(&entry->used_unknown, 1);
    else
        atomic_fetch_add(&entry->used_bytes, message->wire_bytes);
    if (message->codec == GRPCFRAME_CODEC_NONE)
        return;
    if (message->is_hidden)
        atomic_fetch_add(&entry->used_hidden, 1);
    else
        atomic_fetch_add(&entry->used[message->codec], 1);
}

void
what_if_flow_end(struct what_if *what_if, struct what_if_flow *flow,
                 const struct what_if_message *message)
{
    struct what_if_entry *entry = flow->entry;
    enum what_if_skip skip;

    /* Before it can be tried: see what_if_entry_counts. */
    atomic_fetch_add(&entry->messages_seen, 1);
    if (message->is_decoded) {
        atomic_fetch_add(&entry->bytes_seen, message->decoded_bytes);
        count_used(entry, message);
    }
    skip = flow_settle(what_if, flow, message);
    if (skip != WHAT_IF_TAKEN)
        atomic_fetch_add(&entry->skipped[skip], 1);
    flow->is_begun = 0;
}

void
what_if_flow_drop(struct what_if *what_if, struct what_if_flow *flow)
{
    if (flow->sample != NULL)
        what_if_queue_drop(&what_if->queue, flow->sample);
    flow->sample = NULL;
    flow->is_begun = 0;
}
