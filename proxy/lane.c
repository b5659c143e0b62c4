/* SPDX-License-Identifier: MIT */
/* Owns the lines of one worker between an event and the sink, and the count of
 * those that were given up.  What is in a line is event.c's. */
#include "lane.h"

#include <assert.h>
#include <string.h>

#include "queue.h"
#include "sink.h"

void
lane_init(struct lane *lane, struct sink *sink)
{
    memset(lane, 0, sizeof(*lane));
    lane->sink = sink;
}

void
lane_clear(struct lane *lane)
{
    queue_block_free(lane->data);
    lane->data = NULL;
    lane->len = 0;
    lane->cap = 0;
    lane->line = 0;
}

void
lane_reset(struct lane *lane)
{
    assert(lane->line == lane->len && lane->sink == NULL);
    lane->len = 0;
    lane->line = 0;
}

void
lane_give_up(struct lane *lane, enum event_kind kind)
{
    lane->dropped[kind]++;
    lane->lost[kind]++;
}

static int
lane_is_full(const struct lane *lane)
{
    return lane->sink != NULL && sink_is_full(lane->sink) &&
           !sink_is_lossless(lane->sink);
}

int
lane_begin(struct lane *lane, enum event_kind kind)
{
    assert(lane->line == lane->len);
    if (!event_kind_is_vital(kind) && lane_is_full(lane)) {
        lane_give_up(lane, kind);
        return 0;
    }
    lane->kind = kind;
    lane->failed = 0;
    return 1;
}

char *
lane_reserve(struct lane *lane, size_t len)
{
    if (lane->failed)
        return NULL;
    /* One byte is kept for the newline, so that lane_end cannot fail. */
    if (len >= LANE_LINE_MAX || lane->len - lane->line + len >= LANE_LINE_MAX)
        lane->failed = 1;
    else if (lane->cap - lane->len <= len) {
        char *data = queue_block_grow(lane->data, lane->len,
                                      lane->len + len + 1, &lane->cap);
        lane->failed = data == NULL;
        lane->data = data != NULL ? data : lane->data;
    }
    return lane->failed ? NULL : lane->data + lane->len;
}

void
lane_append(struct lane *lane, const char *bytes, size_t len)
{
    char *to = lane_reserve(lane, len);

    if (to == NULL)
        return;
    memcpy(to, bytes, len);
    lane->len += len;
}

/* lane_hand_over gives the lines to the sink, which writes them, and those
 * that it has, at once if |wake| is 1. */
static void
lane_hand_over(struct lane *lane, int wake)
{
    assert(lane->line == lane->len);
    lane->data = sink_put(lane->sink, lane->data, lane->len, &lane->cap, wake);
    lane->len = 0;
    lane->line = 0;
    lane->is_handed = !wake;
}

void
lane_end(struct lane *lane)
{
    if (lane->failed || lane->len == lane->line) {
        lane->len = lane->line;
        lane->failed = 0;
        /* Who writes a vital one looks at lane->failed, and tries again. */
        if (!event_kind_is_vital(lane->kind)) {
            lane_give_up(lane, lane->kind);
        }
        return;
    }
    lane->data[lane->len++] = '\n';
    lane->line = lane->len;
    if (lane->sink != NULL && lane->len >= LANE_FLUSH)
        lane_hand_over(lane, 0);
}

int
lane_is_empty(const struct lane *lane)
{
    return lane->len == 0 && !lane->is_handed;
}

void
lane_flush(struct lane *lane)
{
    if (lane->sink != NULL && !lane_is_empty(lane))
        lane_hand_over(lane, 1);
}

uint64_t
lane_dropped_total(const struct lane *lane)
{
    uint64_t total = 0;

    for (int kind = 0; kind < EVENT_KINDS; kind++)
        total += lane->dropped[kind];
    return total;
}

int
lane_has_dropped(const struct lane *lane)
{
    return lane_dropped_total(lane) > 0 && !lane_is_full(lane);
}
