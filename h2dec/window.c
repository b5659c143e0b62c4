/* SPDX-License-Identifier: MIT */
/*
 * Owns flow control as a bystander sees it (RFC 9113, sections 5.2 and 6.9):
 * the windows of both sides, faults against them, and the time a sender had to
 * wait.  Which frames there are, and when a stream ends, is for others.
 *
 * A window is the initial one plus what WINDOW_UPDATE added and DATA took.  A
 * change of the initial window touches no stream; each stream catches up with
 * the changes when something happens on it, so a frame costs the same however
 * many streams are open.
 *
 * A sender is told of a larger window when that passes here, because it can
 * use it from then on; of a smaller one when its ACK passes, because DATA may
 * have been on its way.
 */
#include "conn.h"

/* Both kinds of window before any SETTINGS (section 6.9.2). */
#define WINDOW_FIRST 65535

void
h2dec_window_init(struct direction *dir)
{
    dir->flow.initial = WINDOW_FIRST;
    dir->flow.most = WINDOW_FIRST;
    dir->flow.sent = WINDOW_FIRST;
    dir->flow.window.delta = WINDOW_FIRST;
}

void
h2dec_window_open(struct h2dec_conn *conn, struct h2dec_stream *stream)
{
    for (int i = 0; i < 2; i++) {
        stream->window[i].n_changes = conn->dir[i].flow.n_changes;
        stream->headers_us[i] = H2DEC_NEVER;
        stream->first_data_us[i] = H2DEC_NEVER;
    }
}

/* ---- Faults ---------------------------------------------------------- */

/* A window that one of the sides has broken is worth nothing any more. */
static void
break_window(struct h2dec_window *window)
{
    window->is_broken = 1;
    window->is_stalled = 0;
}

static int
overflow(struct h2dec_conn *conn, const struct direction *opener,
         struct h2dec_window *window, struct h2dec_fault *fault)
{
    break_window(window);
    fault->code = H2DEC_FAULT_WINDOW_OVERFLOW;
    fault->limit = H2DEC_WINDOW_MAX;
    fault->reason = "the window becomes larger than 2^31-1";
    return h2dec_conn_report(conn, opener, fault);
}

/* ---- Stalls ---------------------------------------------------------- */

static void
stall_begin(struct h2dec_window *window, uint64_t now_us)
{
    if (!window->is_stalled && !window->is_broken) {
        window->is_stalled = 1;
        window->is_reopened = 0;
        window->stalled_us = now_us;
    }
}

/* The receiver has changed the window to |left|. */
static void
stall_look(struct h2dec_window *window, int64_t left, uint64_t now_us)
{
    if (!window->is_stalled || (left > 0) == window->is_reopened) {
        return;
    }
    window->is_reopened = left > 0;
    window->reopened_us = now_us;
}

static int
stall_report(struct h2dec_conn *conn, const struct direction *dir,
             const struct h2dec_window *window, struct h2dec_stream *stream,
             int resumed)
{
    struct h2dec_stall stall = {
        .side = dir->side,
        .window = window == &dir->flow.window ? H2DEC_WINDOW_CONNECTION
                                              : H2DEC_WINDOW_STREAM,
        .reopened = window->is_reopened,
        .resumed = (uint8_t)resumed,
        .started_us = window->stalled_us,
        .reopened_us = window->reopened_us,
        .ended_us = conn->now_us,
    };

    if (conn->callbacks->stall == NULL) {
        return 0;
    }
    return conn->callbacks->stall(&stall, stream, conn->user)
               ? H2DEC_ERR_CALLBACK
               : 0;
}

/* ---- Changes of the initial window ----------------------------------- */

/* The largest initial window that |dir| may know of. */
static uint32_t
most_known(const struct direction *dir)
{
    uint32_t most = dir->flow.initial;

    for (unsigned i = 0; i < dir->n_pending; i++) {
        const struct announced *window = &dir->pending[i].window;

        if (window->is_set && window->most > most) {
            most = window->most;
        }
    }
    return most;
}

void
h2dec_window_initial(struct h2dec_conn *conn, struct direction *dir,
                     uint32_t sent, uint64_t offset)
{
    struct flow_control *flow = &dir->flow;
    struct window_change *change =
        &flow->changes[flow->n_changes % H2DEC_CHANGES_MAX];
    uint32_t most = most_known(dir);

    if (most == flow->most && sent == flow->sent) {
        return;
    }
    flow->most = most;
    flow->sent = sent;
    change->at_us = conn->now_us;
    change->offset = offset;
    change->most = flow->most;
    change->sent = flow->sent;
    flow->n_changes++;
}

/* What |change| did to |stream|, on which nothing has happened since. */
static int
change_apply(struct h2dec_conn *conn, struct direction *dir,
             struct h2dec_stream *stream, const struct window_change *change)
{
    struct h2dec_window *window = &stream->window[dir->side];
    int64_t told = window->delta + change->sent;
    int64_t left = window->delta + change->most;

    if (told > H2DEC_WINDOW_MAX && !window->is_broken) {
        struct h2dec_fault fault = { .stream_id = stream->id,
                                     .type = H2DEC_SETTINGS,
                                     .offset = change->offset,
                                     .value = (uint64_t)told };

        return overflow(conn, &conn->dir[dir->side == H2DEC_CLIENT], window,
                        &fault);
    }
    if (left <= 0 && stream->blocks[dir->side] > 0 &&
        !stream->ended[dir->side]) {
        stall_begin(window, change->at_us);
    }
    stall_look(window, left, change->at_us);
    return 0;
}

int
h2dec_window_catch_up(struct h2dec_conn *conn, struct direction *dir,
                      struct h2dec_stream *stream)
{
    struct flow_control *flow = &dir->flow;
    struct h2dec_window *window = &stream->window[dir->side];
    uint32_t behind = flow->n_changes - window->n_changes;
    int rv = 0;

    if (conn->windows_lost) {
        return 0;
    }
    if (behind > H2DEC_CHANGES_MAX) {
        behind = H2DEC_CHANGES_MAX;
    }
    for (; rv == 0 && behind > 0; behind--) {
        uint32_t at = (flow->n_changes - behind) % H2DEC_CHANGES_MAX;

        rv = change_apply(conn, dir, stream, &flow->changes[at]);
    }
    window->n_changes = flow->n_changes;
    return rv;
}

/* ---- DATA ------------------------------------------------------------ */

/* The sender goes on: a stall is over.  One that goes on without having been
 * allowed to has not waited. */
static int
resume(struct h2dec_conn *conn, struct direction *dir,
       struct h2dec_window *window, struct h2dec_stream *stream)
{
    int was_waiting = window->is_stalled && window->is_reopened;

    if (!window->is_stalled) {
        return 0;
    }
    window->is_stalled = 0;
    return was_waiting ? stall_report(conn, dir, window, stream, 1) : 0;
}

/* Takes |length| bytes from |window|, of which |left| is left. */
static int
charge(struct h2dec_conn *conn, struct direction *dir,
       struct h2dec_window *window, int64_t left, const char *reason)
{
    uint32_t length = dir->frame.length;

    window->delta -= length;
    if (length <= left || window->is_broken) {
        return 0;
    }
    break_window(window);
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_WINDOW_EXCEEDED, length,
                            left > 0 ? (uint64_t)left : 0, reason);
}

static int
charge_stream(struct h2dec_conn *conn, struct direction *dir,
              struct h2dec_stream *stream)
{
    struct h2dec_window *window = &stream->window[dir->side];
    int rv = h2dec_window_catch_up(conn, dir, stream);

    if (rv == 0) {
        rv = resume(conn, dir, window, stream);
    }
    return rv ? rv
              : charge(conn, dir, window, window->delta + dir->flow.most,
                       "more DATA than the stream's window allows");
}

int
h2dec_window_data(struct h2dec_conn *conn, struct direction *dir)
{
    struct h2dec_window *window = &dir->flow.window;
    struct h2dec_stream *stream = dir->data_stream;
    int64_t left = window->delta;
    int rv = 0;

    /* An empty frame is always allowed, and does not say that more comes. */
    if (conn->windows_lost || dir->frame.stream_id == 0 ||
        dir->frame.length == 0) {
        return 0;
    }
    if (stream != NULL && !stream->ended[dir->side]) {
        int was_broken = stream->window[dir->side].is_broken;

        rv = charge_stream(conn, dir, stream);
        /* One frame, one fault. */
        if (stream->window[dir->side].is_broken && !was_broken &&
            dir->frame.length > left) {
            break_window(window);
        }
    }
    if (rv == 0) {
        rv = resume(conn, dir, window, stream);
    }
    return rv ? rv
              : charge(conn, dir, window, left,
                       "more DATA than the connection's window allows");
}

void
h2dec_window_sent(struct h2dec_conn *conn, struct direction *dir,
                  struct h2dec_stream *stream)
{
    if (conn->windows_lost) {
        return;
    }
    if (stream != NULL && !stream->ended[dir->side] &&
        stream->blocks[dir->side] > 0 &&
        stream->window[dir->side].delta + dir->flow.most <= 0) {
        stall_begin(&stream->window[dir->side], conn->now_us);
    }
    /* Whoever it is that waits for the connection is not known yet. */
    if (dir->flow.window.delta <= 0) {
        stall_begin(&dir->flow.window, conn->now_us);
    }
}

/* ---- WINDOW_UPDATE --------------------------------------------------- */

int
h2dec_window_update(struct h2dec_conn *conn, struct direction *dir,
                    struct h2dec_stream *stream, uint32_t increment)
{
    struct direction *sender = &conn->dir[dir->side == H2DEC_CLIENT];
    struct h2dec_window *window = &sender->flow.window;
    int64_t told = window->delta + increment;
    int64_t left = told;

    if (conn->windows_lost) {
        return 0;
    }
    if (stream != NULL) {
        int rv = h2dec_window_catch_up(conn, sender, stream);

        if (rv != 0) {
            return rv;
        }
        window = &stream->window[sender->side];
        told = window->delta + sender->flow.sent + increment;
        left = window->delta + sender->flow.most + increment;
    }
    if (window->is_broken) {
        return 0;
    }
    if (told > H2DEC_WINDOW_MAX) {
        struct h2dec_fault fault = { .stream_id = dir->frame.stream_id,
                                     .type = dir->frame.type,
                                     .offset = dir->frame.offset,
                                     .value = (uint64_t)told };

        return overflow(conn, dir, window, &fault);
    }
    window->delta += increment;
    stall_look(window, left, conn->now_us);
    return 0;
}

/* ---- The end --------------------------------------------------------- */

static void
end_side(struct h2dec_conn *conn, struct direction *dir,
         struct h2dec_stream *stream)
{
    struct h2dec_window *window = &stream->window[dir->side];

    /* A side that has ended had nothing more to send. */
    if (stream->ended[dir->side] || stream->blocks[dir->side] == 0) {
        return;
    }
    h2dec_window_catch_up(conn, dir, stream);
    if (window->is_stalled) {
        stall_report(conn, dir, window, stream, 0);
    }
    if (dir->flow.window.is_stalled) {
        stall_report(conn, dir, &dir->flow.window, stream, 0);
    }
}

void
h2dec_window_end(struct h2dec_conn *conn, struct h2dec_stream *stream)
{
    if (conn->windows_lost) {
        return;
    }
    end_side(conn, &conn->dir[H2DEC_CLIENT], stream);
    end_side(conn, &conn->dir[H2DEC_SERVER], stream);
}

void
h2dec_window_close(struct h2dec_conn *conn)
{
    for (int i = 0; i < 2 && !conn->windows_lost; i++) {
        struct direction *dir = &conn->dir[i];

        if (dir->flow.window.is_stalled) {
            dir->flow.window.is_stalled = 0;
            stall_report(conn, dir, &dir->flow.window, NULL, 0);
        }
    }
}
