/* SPDX-License-Identifier: MIT */
/*
 * Owns what a frame does once it is complete: streams are opened and ended,
 * the frame is reported.  Its payload has been taken apart by payload.c.
 */
#include "conn.h"

#include <string.h>

/* ---- What payload.c needs, too --------------------------------------- */

int
h2dec_act_report(struct h2dec_conn *conn, struct direction *dir,
                 struct h2dec_stream *stream)
{
    if (conn->callbacks->frame == NULL) {
        return 0;
    }
    return conn->callbacks->frame(&dir->frame, stream, conn->user)
               ? H2DEC_ERR_CALLBACK
               : 0;
}

int
h2dec_act_idle(struct h2dec_conn *conn, struct direction *dir)
{
    uint8_t type = dir->frame.type;

    if (conn->joined || dir->frame.stream_id == 0 ||
        (type != H2DEC_DATA && type != H2DEC_RST_STREAM &&
         type != H2DEC_WINDOW_UPDATE)) {
        return 0;
    }
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_STREAM_ID, 0, 0,
                            "the stream has not been opened");
}

int
h2dec_act_after_end(struct h2dec_conn *conn, struct direction *dir,
                    const struct h2dec_stream *stream)
{
    if (!stream->ended[dir->side]) {
        return 0;
    }
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_AFTER_END, 0, 0,
                            "a frame after END_STREAM");
}

/* ---- Opening --------------------------------------------------------- */

/* Whether opening |dir|'s frame's stream breaks section 5.1.1. */
static int
open_is_fault(const struct h2dec_conn *conn, const struct direction *dir,
              uint32_t id)
{
    if (conn->joined) {
        return 0;
    }
    return (id % 2 == 1) != (dir->side == H2DEC_CLIENT) ||
           id < conn->streams.highest[id % 2];
}

static int
goaway_fault(struct h2dec_conn *conn, struct direction *dir, uint32_t id)
{
    uint32_t last = h2dec_goaway_limit(conn, id);

    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_AFTER_GOAWAY, id, last,
                            "a stream was opened after GOAWAY had excluded "
                            "it");
}

static int
open_stream(struct h2dec_conn *conn, struct direction *dir, uint32_t id,
            struct h2dec_stream **stream)
{
    int rv = h2dec_stream_open(&conn->streams, id, stream);

    if (rv != 0) {
        return rv;
    }
    h2dec_window_open(conn, *stream);
    (*stream)->opened_us = dir->frame.first_byte_us;
    (*stream)->refused = id > h2dec_goaway_limit(conn, id);
    if (dir->frame.type == H2DEC_PUSH_PROMISE) {
        (*stream)->promised = 1;
        (*stream)->ended[H2DEC_CLIENT] = 1;
    } else {
        h2dec_conn_count(conn, *stream);
    }
    if (conn->callbacks->stream_open != NULL &&
        conn->callbacks->stream_open(*stream, conn->user) != 0) {
        return H2DEC_ERR_CALLBACK;
    }
    return (*stream)->refused ? goaway_fault(conn, dir, id) : 0;
}

/* HEADERS on an idle stream opens it. */
static int
headers_open(struct h2dec_conn *conn, struct direction *dir,
             struct h2dec_stream **stream)
{
    uint32_t id = dir->frame.stream_id;

    if (open_is_fault(conn, dir, id)) {
        int rv = h2dec_conn_fault(conn, dir, H2DEC_FAULT_STREAM_ID, 0, 0,
                                  "this side must not open that stream");

        if (rv != 0) {
            return rv;
        }
    }
    return open_stream(conn, dir, id, stream);
}

static int
promise_done(struct h2dec_conn *conn, struct direction *dir)
{
    uint32_t id = dir->promised;
    struct h2dec_stream *stream;

    if (dir->ignored) {
        return 0;
    }
    if (dir->side != H2DEC_SERVER || id == 0 || id % 2 != 0 ||
        h2dec_stream_find(&conn->streams, id) != NULL ||
        h2dec_stream_past(&conn->streams, id) == STREAM_ENDED) {
        /* The fields are about no stream that there is. */
        dir->block.about = 0;
        return h2dec_conn_fault(conn, dir, H2DEC_FAULT_STREAM_ID, id, 0,
                                "that stream cannot be promised");
    }
    return open_stream(conn, dir, id, &stream);
}

static int
block_done(struct h2dec_conn *conn, struct direction *dir)
{
    int rv = 0;

    if (dir->frame.type == H2DEC_PUSH_PROMISE) {
        rv = promise_done(conn, dir);
    }
    if (rv == 0 && (dir->frame.flags & H2DEC_FLAG_END_HEADERS)) {
        rv = h2dec_headers_end(conn, dir);
    }
    return rv;
}

static int
window_update_done(struct h2dec_conn *conn, struct direction *dir,
                   struct h2dec_stream *stream)
{
    uint32_t increment = h2dec_frame_u32(dir->small) & 0x7fffffffu;

    if (increment == 0) {
        return h2dec_conn_fault(conn, dir, H2DEC_FAULT_FLOW_CONTROL, 0, 0,
                                "the window increment is 0");
    }
    /* One for a stream that is over changes nothing. */
    if (stream == NULL && dir->frame.stream_id != 0) {
        return 0;
    }
    return h2dec_window_update(conn, dir, stream, increment);
}

static int
ping_done(struct h2dec_conn *conn, struct direction *dir)
{
    struct h2dec_ping ping = { .side = dir->side,
                               .ack = dir->frame.flags & H2DEC_FLAG_ACK };

    memcpy(ping.opaque, dir->small, H2DEC_PING_LEN);
    if (conn->callbacks->ping == NULL) {
        return 0;
    }
    return conn->callbacks->ping(&ping, conn->user) ? H2DEC_ERR_CALLBACK : 0;
}

/* What the frame, booked and reported, does. */
static int
act(struct h2dec_conn *conn, struct direction *dir,
    struct h2dec_stream *stream)
{
    struct h2dec_ending ending = { .end = H2DEC_END_RESET,
                                   .side = dir->side };

    if (dir->frame.type == H2DEC_HEADERS && stream != NULL) {
        int rv = h2dec_act_after_end(conn, dir, stream);

        if (rv != 0) {
            return rv;
        }
    }
    if (h2dec_frame_has_block(dir->frame.type)) {
        return block_done(conn, dir);
    }
    if (dir->ignored) {
        return 0;
    }
    switch (dir->frame.type) {
    case H2DEC_RST_STREAM:
        ending.code = h2dec_frame_u32(dir->small);
        ending.refused = stream != NULL && stream->refused;
        if (stream != NULL) {
            h2dec_conn_end(conn, stream, &ending);
        }
        return 0;
    case H2DEC_SETTINGS:
        return h2dec_settings_end(conn, dir);
    case H2DEC_GOAWAY:
        return h2dec_goaway_end(conn, dir);
    case H2DEC_WINDOW_UPDATE:
        return window_update_done(conn, dir, stream);
    case H2DEC_PING:
        return ping_done(conn, dir);
    default:
        return 0;
    }
}

int
h2dec_act_data(struct h2dec_conn *conn, struct direction *dir)
{
    struct h2dec_stream *stream = dir->data_stream;

    int is_end = !dir->ignored && (dir->frame.flags & H2DEC_FLAG_END_STREAM);

    dir->data_stream = NULL;
    h2dec_window_sent(conn, dir, is_end ? NULL : stream);
    if (stream == NULL || !is_end) {
        return 0;
    }
    return h2dec_conn_end_side(conn, stream, dir->side);
}

int
h2dec_act_frame(struct h2dec_conn *conn, struct direction *dir)
{
    uint32_t id = dir->frame.stream_id;
    struct h2dec_stream *stream = h2dec_stream_find(&conn->streams, id);
    enum stream_past past = STREAM_IDLE;
    int rv = 0;

    if (stream == NULL && id != 0) {
        past = h2dec_stream_past(&conn->streams, id);
        if (past == STREAM_IDLE) {
            rv = dir->frame.type == H2DEC_HEADERS
                     ? headers_open(conn, dir, &stream)
                     : h2dec_act_idle(conn, dir);
        }
    }
    if (rv != 0) {
        return rv;
    }
    h2dec_books_frame(dir, stream, past);
    rv = h2dec_act_report(conn, dir, stream);
    return rv == 0 ? act(conn, dir, stream) : rv;
}
