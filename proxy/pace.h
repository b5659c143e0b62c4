/* SPDX-License-Identifier: MIT */
/*
 * Pace: what the order of frames and the time between them say about a
 * connection.  Time spent on empty windows, PINGs and their round trips,
 * storms, and how many streams are open at once.
 */
#ifndef PACE_H
#define PACE_H

#include <stddef.h>
#include <stdint.h>

#include "../h2dec/h2dec.h"
#include "side.h"

struct call;
struct tap;

/* PACE_PINGS_MAX bounds the PINGs of a side whose round trips are measured at
 * once; of more only their number is kept. */
#define PACE_PINGS_MAX 8

/* PACE_RESETS_MAX is how many RST_STREAM of one side within a second are no
 * storm. */
#define PACE_RESETS_MAX 100

/* struct pace_stalls counts the stalls of a sender. */
struct pace_stalls {
    uint64_t count;
    /* total_us and longest_us are their lengths. */
    uint64_t total_us;
    uint64_t longest_us;
};

/* struct pace_flow is one direction of a call. */
struct pace_flow {
    /* has_first_data is 1 once header block and DATA have come; then
     * first_data_us is the time between them. */
    uint8_t has_first_data;
    uint64_t first_data_us;
    /* stalls are those on the window of the stream or the connection, times
     * on both windows at once counted once; complete at the call's end. */
    struct pace_stalls stalls;
    /* is_stalled is 1 when there is one not yet in stalls, which may turn out
     * to be longer, from begun_us to until_us. */
    uint8_t is_stalled;
    uint64_t begun_us;
    uint64_t until_us;
    /* noticed_us is the length of those that are worth a notice. */
    uint64_t noticed_us;
    /* empty_us[enum h2dec_window_kind] is for how long which was empty. */
    uint64_t empty_us[2];
};

/* struct pace_ping is a PING that waits for its ACK. */
struct pace_ping {
    uint64_t at_us;
    uint8_t opaque[H2DEC_PING_LEN];
};

/* struct pace_dir is what one side does. */
struct pace_dir {
    /* open are its PINGs without ACK, the oldest first; n_untracked came
     * when there was no room. */
    struct pace_ping open[PACE_PINGS_MAX];
    unsigned n_open;
    uint64_t n_untracked;
    /* pings counts all, answered those whose round trip is known. */
    uint64_t pings;
    uint64_t answered;
    uint64_t trip_sum_us;
    uint64_t trip_min_us;
    uint64_t trip_max_us;
    /* run counts PINGs in a row, from run_from_us to run_to_us, the nearest
     * two being run_least_us apart. */
    uint64_t run;
    uint64_t run_from_us;
    uint64_t run_to_us;
    uint64_t run_least_us;
    /* resets counts RST_STREAM; reset_us is a ring of the times of the last
     * PACE_RESETS_MAX, allocated at the first one. */
    uint64_t resets;
    uint64_t *reset_us;
    /* is_storming is 1 while a storm goes on that has been told. */
    uint8_t is_storming;
    /* is_full is 1 while as many streams of this side are open as the other
     * allows, since full_us; told_full after the notice. */
    uint8_t is_full;
    uint8_t told_full;
    uint64_t full_us;
    /* full_total_us is for how long altogether. */
    uint64_t full_total_us;
    /* stalls are those of its calls, of each call by itself; connection those
     * on the connection's window, which waited says that a call that has
     * ended had to wait for. */
    struct pace_stalls stalls;
    struct pace_stalls connection;
    uint8_t waited;
};

/* struct pace is the pace of a connection. */
struct pace {
    struct pace_dir dir[2];
};

/* struct pace_figures is what connection_close says of one side. */
struct pace_figures {
    /* peak_streams is how many of the streams it opened were open at once. */
    uint32_t peak_streams;
    /* stream_limit is how many the other side allows, if has_limit. */
    uint8_t has_limit;
    uint32_t stream_limit;
    /* limited_us is for how long that many were open. */
    uint64_t limited_us;
    /* pings counts its PINGs, answered those whose round trip was measured
     * here: to the other side and back. */
    uint64_t pings;
    uint64_t answered;
    /* ping_*_us are of these; meaningless while answered is 0. */
    uint64_t ping_min_us;
    uint64_t ping_avg_us;
    uint64_t ping_max_us;
    /* resets counts its RST_STREAM. */
    uint64_t resets;
    /* stalls are those of its calls, connection_stalls the part of them (and
     * what no call waited for) on the connection's window. */
    struct pace_stalls stalls;
    struct pace_stalls connection_stalls;
};

/* pace_figures returns the figures of |side| so far; valid after pace_close,
 * too. */
struct pace_figures pace_figures(const struct tap *tap, enum side side);

/* pace_frame takes any frame. */
void pace_frame(struct tap *tap, const struct h2dec_frame *frame);

/* pace_ping takes a PING frame. */
void pace_ping(struct tap *tap, const struct h2dec_ping *ping);

/* pace_goaway says that |side| has sent GOAWAY; before its notice, of which
 * PINGs may be the cause. */
void pace_goaway(struct tap *tap, enum side side);

/* pace_stall takes a stall. */
void pace_stall(struct tap *tap, const struct h2dec_stall *stall,
                struct h2dec_stream *stream);

/* pace_streams says that the number of open streams, or its limit, may have
 * changed. */
void pace_streams(struct tap *tap);

/* pace_call_end completes call->pace and tells what is worth telling. */
void pace_call_end(struct call *call, const struct h2dec_stream *stream);

/* pace_close ends the connection and frees what is allocated. */
void pace_close(struct tap *tap);

#endif
