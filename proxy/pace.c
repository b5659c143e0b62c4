/* SPDX-License-Identifier: MIT */
/*
 * Owns what is concluded from the order of frames and the time between them:
 * when a stall, a row of PINGs or resets, or a full connection is worth a
 * notice.  What a window is and when it is empty is h2dec's.
 */
#include "pace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "tap_conn.h"

/*
 * Any bulk transfer comes to the end of its window again and again, and waits
 * until the receiver has read: some hundred times, microseconds to some
 * milliseconds each, in a 20 MiB message between processes of one machine
 * with windows of 64 KiB, and tens of milliseconds when that is busy.  That is
 * how flow control is meant to work.  A notice is due when a sender sat for
 * STALL_LONG_US at once, or when stalls of STALL_LEAST_US and more add up to
 * STALL_TOLD_US and to one part in STALL_SHARE of the call: a window that is
 * too small for the round trip makes a call of hardly anything else.
 */
#define STALL_LONG_US 200000
#define STALL_LEAST_US 10000
#define STALL_TOLD_US 100000
#define STALL_SHARE 2

/*
 * gRPC servers tolerate one PING in five minutes without calls and, beyond
 * it, two strikes; at the next one they close the connection
 * (ENHANCE_YOUR_CALM, too_many_pings).  DATA and HEADERS wipe the slate.
 */
#define STORM_PINGS_TOLERATED 3
#define STORM_SPACING_CLIENT_US (300u * 1000000u)

/* No client counts a server's PINGs that way.  What is closer than this, the
 * least that gRPC advises for keepalive, is none. */
#define STORM_SPACING_SERVER_US (10u * 1000000u)

/* No path has a round trip this long; a PING that was sent less before the
 * end may have been answered had there been time. */
#define PING_PATIENCE_US 500000

#define RESET_STORM_US 1000000

/* Load comes and goes: as many streams as allowed for a moment are no queue. */
#define FULL_LEAST_US 10000

/* ---- Stalls ---------------------------------------------------------- */

/* enum wait is what has been sent says of whether there is more to send. */
enum wait { WAIT_NO, WAIT_MAYBE, WAIT_YES };

/* A message begun is evidence, as is a body shorter than declared; after a
 * complete message the side may simply have nothing to say. */
static enum wait
wait_of(const struct call *call, enum side side,
        const struct h2dec_stream *stream)
{
    const struct flow *flow = &call->flow[side];
    uint64_t body_bytes = stream->ledger[side].body_bytes;

    if (flow->has_length && body_bytes < flow->length) {
        return WAIT_YES;
    }
    if (!flow->parsing || flow->coded) {
        return WAIT_MAYBE;
    }
    if (grpcframe_reader_rest(&flow->reader).bytes > 0) {
        return WAIT_YES;
    }
    /* A client that has sent nothing probably owes its request. */
    return side == SIDE_CLIENT && body_bytes == 0 ? WAIT_MAYBE : WAIT_NO;
}

/* Returns whether the sender was kept from sending: it had more to send, or it
 * went on sooner after the window was opened than it had been closed. */
static int
has_waited(const struct h2dec_stall *stall, const struct h2dec_stream *stream)
{
    enum wait wait = WAIT_MAYBE;

    if (stream == NULL) {
        return stall->resumed;
    }
    if (stall->resumed && stream->opened_us > stall->reopened_us) {
        return 0;
    }
    if (stream->user != NULL) {
        wait = wait_of(stream->user, (enum side)stall->side, stream);
    }
    if (wait == WAIT_YES) {
        return 1;
    }
    if (!stall->resumed) {
        return wait == WAIT_MAYBE && !stall->reopened;
    }
    return stall->ended_us - stall->reopened_us <=
           stall->reopened_us - stall->started_us;
}

static void
stalls_add(struct pace_stalls *stalls, uint64_t length_us)
{
    stalls->count++;
    stalls->total_us += length_us;
    if (length_us > stalls->longest_us) {
        stalls->longest_us = length_us;
    }
}

/* The last stall of |flow| will not become longer. */
static void
flow_settle(struct pace_flow *flow)
{
    uint64_t length_us = flow->until_us - flow->begun_us;

    if (!flow->is_stalled) {
        return;
    }
    flow->is_stalled = 0;
    stalls_add(&flow->stalls, length_us);
    if (length_us >= STALL_LEAST_US) {
        flow->noticed_us += length_us;
    }
}

/* Takes the time from |from_us| to |to_us|: a stall of its own, or more of the
 * last one when the other window was empty at the same time. */
static void
flow_wait(struct pace_flow *flow, uint64_t from_us, uint64_t to_us)
{
    if (flow->is_stalled && from_us >= flow->until_us) {
        flow_settle(flow);
    }
    if (!flow->is_stalled || from_us < flow->begun_us) {
        flow->begun_us = from_us;
    }
    if (!flow->is_stalled || to_us > flow->until_us) {
        flow->until_us = to_us;
    }
    flow->is_stalled = 1;
}

static void
call_stall(struct call *call, const struct h2dec_stall *stall,
           uint64_t from_us, uint64_t now_us)
{
    struct pace_flow *flow = &call->pace[stall->side];
    uint64_t shut_us = stall->reopened ? stall->reopened_us : now_us;

    /* One that had its window again and was ended by then had waited so long
     * only. */
    flow_wait(flow, from_us, stall->resumed ? now_us : shut_us);
    flow->empty_us[stall->window] += shut_us - from_us;
}

/* Keeps the stalls of the connection's window, which several calls may have
 * waited for. */
static void
connection_stall(struct pace_dir *dir, const struct h2dec_stall *stall,
                 const struct h2dec_stream *stream, int is_wait,
                 uint64_t now_us)
{
    if (!stall->resumed && stream != NULL) {
        dir->waited |= (uint8_t)is_wait;
        return;
    }
    if (is_wait || dir->waited) {
        stalls_add(&dir->connection, now_us - stall->started_us);
    }
    dir->waited = 0;
}

void
pace_stall(struct tap *tap, const struct h2dec_stall *stall,
           struct h2dec_stream *stream)
{
    int is_wait = has_waited(stall, stream);
    uint64_t from_us = stall->started_us;

    if (stall->window == H2DEC_WINDOW_CONNECTION) {
        connection_stall(&tap->pace.dir[stall->side], stall, stream, is_wait,
                         tap->now_us);
    }
    if (!is_wait || stream == NULL || stream->user == NULL) {
        return;
    }
    if (from_us < stream->opened_us) {
        from_us = stream->opened_us;
    }
    call_stall(stream->user, stall, from_us, tap->now_us);
}

static int
is_noticeable(const struct pace_flow *flow, uint64_t call_us)
{
    return flow->stalls.longest_us >= STALL_LONG_US ||
           (flow->noticed_us >= STALL_TOLD_US &&
            flow->noticed_us >= call_us / STALL_SHARE);
}

static void
tell_stall(struct call *call, enum side side)
{
    const struct pace_flow *flow = &call->pace[side];
    const char *window = flow->empty_us[H2DEC_WINDOW_CONNECTION] >
                                 flow->empty_us[H2DEC_WINDOW_STREAM]
                             ? "connection"
                             : "stream";
    struct notice notice;

    if (!is_noticeable(flow, call->tap->now_us - call->started_us)) {
        return;
    }
    notice_init(&notice, NOTICE_FLOW_CONTROL_STALL, side, call->id);
    notice_detail(&notice,
                  "the %s had more to send but waited %" PRIu64 " times, %"
                  PRIu64 " us altogether and %" PRIu64 " us at most, for the "
                  "other side to open the window of the %s",
                  side_name(side), flow->stalls.count, flow->stalls.total_us,
                  flow->stalls.longest_us, window);
    notice_text(&notice, "window", window, strlen(window));
    notice_number(&notice, "stalls", flow->stalls.count);
    notice_number(&notice, "stalled_us", flow->stalls.total_us);
    notice_number(&notice, "longest_us", flow->stalls.longest_us);
    tap_notice(call->tap, &notice);
}

static void
flow_end(struct call *call, const struct h2dec_stream *stream, enum side side)
{
    struct pace_flow *flow = &call->pace[side];
    struct pace_stalls *stalls = &call->tap->pace.dir[side].stalls;

    flow_settle(flow);
    stalls->count += flow->stalls.count;
    stalls->total_us += flow->stalls.total_us;
    if (flow->stalls.longest_us > stalls->longest_us) {
        stalls->longest_us = flow->stalls.longest_us;
    }
    if (stream->headers_us[side] != H2DEC_NEVER &&
        stream->first_data_us[side] != H2DEC_NEVER) {
        flow->has_first_data = 1;
        flow->first_data_us =
            stream->first_data_us[side] - stream->headers_us[side];
    }
    tell_stall(call, side);
}

void
pace_call_end(struct call *call, const struct h2dec_stream *stream)
{
    flow_end(call, stream, SIDE_CLIENT);
    flow_end(call, stream, SIDE_SERVER);
}

/* ---- PINGs ----------------------------------------------------------- */

static void
tell_ping_storm(struct tap *tap, enum side side)
{
    const struct pace_dir *dir = &tap->pace.dir[side];
    uint64_t spacing_us = (dir->run_to_us - dir->run_from_us) / (dir->run - 1);
    struct notice notice;

    notice_init(&notice, NOTICE_PING_STORM, side, 0);
    notice_detail(&notice,
                  "%" PRIu64 " PINGs with neither DATA nor HEADERS between, %"
                  PRIu64 " us apart on average and %" PRIu64 " us at least",
                  dir->run, spacing_us, dir->run_least_us);
    notice_number(&notice, "pings", dir->run);
    notice_number(&notice, "spacing_us", spacing_us);
    notice_number(&notice, "shortest_us", dir->run_least_us);
    tap_notice(tap, &notice);
}

static void
run_end(struct tap *tap, enum side side)
{
    struct pace_dir *dir = &tap->pace.dir[side];

    if (dir->run > STORM_PINGS_TOLERATED) {
        tell_ping_storm(tap, side);
    }
    dir->run = 0;
}

static void
run_add(struct tap *tap, enum side side)
{
    struct pace_dir *dir = &tap->pace.dir[side];
    uint64_t spacing_us = side == SIDE_CLIENT ? STORM_SPACING_CLIENT_US
                                              : STORM_SPACING_SERVER_US;
    uint64_t apart_us = tap->now_us - dir->run_to_us;

    if (dir->run > 0 && apart_us >= spacing_us) {
        run_end(tap, side);
    }
    if (dir->run == 0) {
        dir->run_from_us = tap->now_us;
        dir->run_least_us = UINT64_MAX;
    } else if (apart_us < dir->run_least_us) {
        dir->run_least_us = apart_us;
    }
    dir->run_to_us = tap->now_us;
    dir->run++;
}

static void
ping_sent(struct tap *tap, const struct h2dec_ping *ping)
{
    struct pace_dir *dir = &tap->pace.dir[ping->side];

    dir->pings++;
    run_add(tap, (enum side)ping->side);
    /* Behind one that is not tracked none is: many PINGs look the same, and
     * only their order tells whose ACK it is. */
    if (dir->n_open == PACE_PINGS_MAX || dir->n_untracked > 0) {
        dir->n_untracked++;
        return;
    }
    dir->open[dir->n_open].at_us = tap->now_us;
    memcpy(dir->open[dir->n_open].opaque, ping->opaque, H2DEC_PING_LEN);
    dir->n_open++;
}

static void
trip_add(struct pace_dir *dir, uint64_t trip_us)
{
    if (dir->answered == 0 || trip_us < dir->trip_min_us) {
        dir->trip_min_us = trip_us;
    }
    if (trip_us > dir->trip_max_us) {
        dir->trip_max_us = trip_us;
    }
    dir->trip_sum_us += trip_us;
    dir->answered++;
}

/* An ACK for the oldest PING of |dir| with the same data. */
static void
ping_answered(struct pace_dir *dir, const struct h2dec_ping *ping,
              uint64_t now_us)
{
    unsigned i = 0;

    while (i < dir->n_open &&
           memcmp(dir->open[i].opaque, ping->opaque, H2DEC_PING_LEN) != 0) {
        i++;
    }
    if (i == dir->n_open) {
        dir->n_untracked -= dir->n_untracked > 0;
        return;
    }
    trip_add(dir, now_us - dir->open[i].at_us);
    dir->n_open--;
    memmove(&dir->open[i], &dir->open[i + 1],
            (dir->n_open - i) * sizeof(dir->open[0]));
}

void
pace_ping(struct tap *tap, const struct h2dec_ping *ping)
{
    if (ping->ack) {
        ping_answered(&tap->pace.dir[side_other((enum side)ping->side)], ping,
                      tap->now_us);
    } else {
        ping_sent(tap, ping);
    }
}

void
pace_goaway(struct tap *tap, enum side side)
{
    run_end(tap, side_other(side));
}

static void
tell_unanswered(struct tap *tap, enum side side)
{
    const struct pace_dir *dir = &tap->pace.dir[side];
    enum side other = side_other(side);
    uint64_t waited_us;
    struct notice notice;

    /* Where the other side cannot be read its ACK cannot be seen. */
    if (dir->n_open == 0 ||
        h2dec_conn_is_lost(tap->h2, (enum h2dec_side)other)) {
        return;
    }
    waited_us = tap->now_us - dir->open[0].at_us;
    if (waited_us < PING_PATIENCE_US) {
        return;
    }
    notice_init(&notice, NOTICE_PING_UNANSWERED, other, 0);
    notice_detail(&notice,
                  "the connection ended %" PRIu64 " us after a PING that this "
                  "side has not answered; PINGs without answer: %" PRIu64,
                  waited_us, dir->n_open + dir->n_untracked);
    notice_number(&notice, "pings", dir->n_open + dir->n_untracked);
    notice_number(&notice, "outstanding_us", waited_us);
    tap_notice(tap, &notice);
}

/* ---- Resets ---------------------------------------------------------- */

static void
tell_reset_storm(struct tap *tap, enum side side, uint64_t within_us)
{
    struct notice notice;

    notice_init(&notice, NOTICE_RESET_STORM, side, 0);
    notice_detail(&notice, "%d RST_STREAM within %" PRIu64 " us",
                  PACE_RESETS_MAX + 1, within_us);
    notice_number(&notice, "resets", PACE_RESETS_MAX + 1);
    notice_number(&notice, "within_us", within_us);
    tap_notice(tap, &notice);
}

static void
reset_add(struct tap *tap, enum side side)
{
    struct pace_dir *dir = &tap->pace.dir[side];
    uint64_t *place;
    uint64_t within_us;

    if (dir->resets == 0) {
        dir->reset_us = calloc(PACE_RESETS_MAX, sizeof(*dir->reset_us));
    }
    dir->resets++;
    if (dir->reset_us == NULL) {
        return; /* memory is out: a notice less */
    }
    /* It holds the time of the one PACE_RESETS_MAX before this one. */
    place = &dir->reset_us[dir->resets % PACE_RESETS_MAX];
    within_us = tap->now_us - *place;
    *place = tap->now_us;
    if (dir->resets <= PACE_RESETS_MAX || within_us >= RESET_STORM_US) {
        dir->is_storming = 0;
    } else if (!dir->is_storming) {
        dir->is_storming = 1;
        tell_reset_storm(tap, side, within_us);
    }
}

void
pace_frame(struct tap *tap, const struct h2dec_frame *frame)
{
    if (frame->type == H2DEC_RST_STREAM) {
        reset_add(tap, (enum side)frame->side);
    } else if (frame->type == H2DEC_DATA || frame->type == H2DEC_HEADERS) {
        run_end(tap, SIDE_CLIENT);
        run_end(tap, SIDE_SERVER);
    }
}

/* ---- Open streams ---------------------------------------------------- */

static void
tell_full(struct tap *tap, enum side side, uint32_t limit, uint64_t length_us)
{
    struct pace_dir *dir = &tap->pace.dir[side];
    struct notice notice;

    if (dir->told_full || length_us < FULL_LEAST_US) {
        return;
    }
    dir->told_full = 1;
    notice_init(&notice, NOTICE_STREAM_LIMIT_REACHED, side, 0);
    notice_detail(&notice,
                  "for %" PRIu64 " us as many streams were open as the other "
                  "side allows, %" PRIu32,
                  length_us, limit);
    notice_number(&notice, "limit", limit);
    notice_number(&notice, "limited_us", length_us);
    tap_notice(tap, &notice);
}

static void
look_at_streams(struct tap *tap, enum side side)
{
    const struct h2dec_concurrency *now =
        h2dec_conn_concurrency(tap->h2, (enum h2dec_side)side);
    struct pace_dir *dir = &tap->pace.dir[side];
    /* A limit of 0 is how clients refuse pushes. */
    int is_full = now->has_limit && now->open > 0 && now->open >= now->limit;

    if (is_full == dir->is_full) {
        return;
    }
    dir->is_full = (uint8_t)is_full;
    if (is_full) {
        dir->full_us = tap->now_us;
        return;
    }
    dir->full_total_us += tap->now_us - dir->full_us;
    tell_full(tap, side, now->limit, tap->now_us - dir->full_us);
}

void
pace_streams(struct tap *tap)
{
    look_at_streams(tap, SIDE_CLIENT);
    look_at_streams(tap, SIDE_SERVER);
}

/* ---- The end --------------------------------------------------------- */

void
pace_close(struct tap *tap)
{
    for (int i = 0; i < 2 && tap->h2 != NULL; i++) {
        struct pace_dir *dir = &tap->pace.dir[i];

        run_end(tap, (enum side)i);
        tell_unanswered(tap, (enum side)i);
        free(dir->reset_us);
        dir->reset_us = NULL;
    }
}

struct pace_figures
pace_figures(const struct tap *tap, enum side side)
{
    const struct pace_dir *dir = &tap->pace.dir[side];
    struct pace_figures figures = {
        .limited_us = dir->full_total_us,
        .pings = dir->pings,
        .answered = dir->answered,
        .ping_min_us = dir->trip_min_us,
        .ping_avg_us =
            dir->answered > 0 ? dir->trip_sum_us / dir->answered : 0,
        .ping_max_us = dir->trip_max_us,
        .resets = dir->resets,
        .stalls = dir->stalls,
        .connection_stalls = dir->connection,
    };

    if (tap->h2 != NULL) {
        const struct h2dec_concurrency *opened =
            h2dec_conn_concurrency(tap->h2, (enum h2dec_side)side);

        figures.peak_streams = opened->peak;
        figures.has_limit = opened->has_limit;
        figures.stream_limit = opened->limit;
    }
    return figures;
}
