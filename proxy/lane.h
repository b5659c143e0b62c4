/* SPDX-License-Identifier: MIT */
/*
 * A lane is where one worker writes its events: whole JSON lines collect in
 * it during a round of the event loop, or several when they follow each other
 * closely (see worker.c), and are then handed to the sink, so that no lock
 * stands on the path of a byte and no line is ever torn.
 *
 * A lane belongs to one thread.
 */
#ifndef LANE_H
#define LANE_H

#include <stddef.h>
#include <stdint.h>

#include "kind.h"

struct sink;

/* LANE_FLUSH is how much a lane collects before it hands lines over by itself,
 * so that a lane of many tiny frames stays bounded; below QUEUE_BLOCK, so that
 * a block need not grow for it. */
#define LANE_FLUSH (48u << 10)

/* LANE_LINE_MAX bounds one line; a longer one is dropped.  The decoders bound
 * what goes into an event far below this. */
#define LANE_LINE_MAX (16u << 20)

/* struct lane collects lines. */
struct lane {
    /* data holds the lines; a block, see queue_block_grow. */
    char *data;
    /* len is how much of data is filled. */
    size_t len;
    /* cap is the size of data. */
    size_t cap;
    /* line is where the line under way starts. */
    size_t line;
    /* is_handed is 1 when the sink has been given lines that it need not
     * write yet. */
    int is_handed;
    /* failed is 1 when memory ran out in the line under way, or it became
     * too long: it will be dropped. */
    int failed;
    /* kind is the kind of the line under way. */
    enum event_kind kind;
    /* sink takes the lines; NULL keeps them in data. */
    struct sink *sink;
    /* dropped counts the events given up, by kind, since last reported. */
    uint64_t dropped[EVENT_KINDS];
    /* lost counts the events given up, by kind, in the whole run. */
    uint64_t lost[EVENT_KINDS];
};

/* lane_init sets up |lane| for |sink|. */
void lane_init(struct lane *lane, struct sink *sink);

/* lane_clear frees what |lane| holds; lines not handed over are lost.  The
 * counts stay. */
void lane_clear(struct lane *lane);

/*
 * lane_begin starts a line of |kind|.  Returns 1, or 0 when the output is full
 * and the event is dropped (and counted): then nothing is to be appended.
 * Kinds for which event_kind_is_vital holds are never dropped.
 */
int lane_begin(struct lane *lane, enum event_kind kind);

/* lane_append adds |len| bytes to the line under way. */
void lane_append(struct lane *lane, const char *bytes, size_t len);

/* lane_reserve makes room for |len| more bytes and returns where they go, or
 * NULL (memory; the line will be dropped).  lane->len is for the caller to
 * advance by what it wrote. */
char *lane_reserve(struct lane *lane, size_t len);

/* lane_end ends the line under way with a newline, or takes it back and counts
 * it as dropped when it failed (of a kind that is never dropped it is not
 * counted). */
void lane_end(struct lane *lane);

/* lane_reset forgets the complete lines of |lane|, which has no sink, and keeps
 * their memory. */
void lane_reset(struct lane *lane);

/* lane_give_up counts an event of |kind| as dropped that could not even be
 * begun. */
void lane_give_up(struct lane *lane, enum event_kind kind);

/* lane_is_empty returns 1 when there are no lines to flush. */
int lane_is_empty(const struct lane *lane);

/* lane_flush has the complete lines written; never between lane_begin and
 * lane_end.  Who has many lines does it now and then: see LANE_FLUSH. */
void lane_flush(struct lane *lane);

/* lane_has_dropped returns 1 when drops are unreported and there is room in
 * the output to report them: best asked at the start of a round, so that the
 * report stands where the gap is. */
int lane_has_dropped(const struct lane *lane);

/* lane_dropped_total returns how many events are dropped and unreported. */
uint64_t lane_dropped_total(const struct lane *lane);

#endif
