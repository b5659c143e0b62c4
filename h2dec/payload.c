/* SPDX-License-Identifier: MIT */
/*
 * Owns the payload of a frame: its parts in order, who owns its bytes, and
 * what the frame does once it is complete.  Frame headers are conn.c's.
 */
#include "conn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Who owns the bytes ---------------------------------------------- */

uint64_t
h2dec_ledger_sum(const struct h2dec_ledger *ledger)
{
    return ledger->framing_bytes + ledger->header_block_bytes +
           ledger->padding_bytes + ledger->control_bytes + ledger->body_bytes;
}

/* Books |n| bytes of a DATA frame as they pass, in |account| of its stream's
 * ledger. */
static void
book_data(struct direction *dir, uint64_t n, size_t account)
{
    dir->books.frames[H2DEC_DATA].bytes += n;
    if (dir->data_stream != NULL) {
        struct h2dec_ledger *ledger = &dir->data_stream->ledger[dir->side];

        *(uint64_t *)((char *)ledger + account) += n;
        dir->books.stream_bytes += n;
    } else if (dir->data_past == STREAM_ENDED) {
        dir->books.late_bytes += n;
    } else {
        dir->books.connection_bytes += n;
    }
}

#define BOOK_DATA(dir, n, account)                                            \
    book_data(dir, n, offsetof(struct h2dec_ledger, account))

/* The header block bytes and the padding of the frame that is complete. */
static void
shares_of(const struct direction *dir, uint64_t *block, uint64_t *padding)
{
    const struct h2dec_frame *frame = &dir->frame;

    *block = 0;
    *padding = 0;
    if (dir->ignored) {
        return;
    }
    if (h2dec_frame_is_padded(frame)) {
        *padding = 1u + dir->pad_length;
    }
    if (h2dec_frame_has_block(frame->type)) {
        *block = frame->length - *padding - dir->fixed_len;
    }
}

/* Books the whole frame, which is not DATA; NULL |stream|: see |past|. */
static void
book_frame(struct direction *dir, struct h2dec_stream *stream,
           enum stream_past past)
{
    uint64_t total = dir->unbooked;
    struct h2dec_count *count =
        &dir->books.frames[h2dec_frame_index(dir->frame.type)];

    assert(total == H2DEC_FRAME_HEADER_LEN + (uint64_t)dir->frame.length);
    dir->unbooked = 0;
    count->count++;
    count->bytes += total;
    if (stream != NULL) {
        struct h2dec_ledger *ledger = &stream->ledger[dir->side];
        uint64_t block;
        uint64_t padding;

        shares_of(dir, &block, &padding);
        ledger->frames++;
        ledger->framing_bytes += H2DEC_FRAME_HEADER_LEN;
        ledger->header_block_bytes += block;
        ledger->padding_bytes += padding;
        ledger->control_bytes += dir->frame.length - block - padding;
        dir->books.stream_bytes += total;
    } else if (past == STREAM_ENDED) {
        dir->books.late_bytes += total;
    } else {
        dir->books.connection_bytes += total;
    }
}

/* ---- Beginning ------------------------------------------------------- */

static int
report_frame(struct h2dec_conn *conn, struct direction *dir,
             struct h2dec_stream *stream)
{
    if (conn->callbacks->frame == NULL) {
        return 0;
    }
    return conn->callbacks->frame(&dir->frame, stream, conn->user)
               ? H2DEC_ERR_CALLBACK
               : 0;
}

/* Such a frame must not come for a stream that has never been opened. */
static int
idle_fault(struct h2dec_conn *conn, struct direction *dir)
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

/* DATA and HEADERS must not follow the side's END_STREAM. */
static int
after_end_fault(struct h2dec_conn *conn, struct direction *dir,
                const struct h2dec_stream *stream)
{
    if (!stream->ended[dir->side]) {
        return 0;
    }
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_AFTER_END, 0, 0,
                            "a frame after END_STREAM");
}

static int
data_begin(struct h2dec_conn *conn, struct direction *dir)
{
    uint32_t id = dir->frame.stream_id;
    int rv;

    dir->data_stream = h2dec_stream_find(&conn->streams, id);
    dir->data_past = id == 0 ? STREAM_IDLE
                             : h2dec_stream_past(&conn->streams, id);
    dir->books.frames[H2DEC_DATA].count++;
    if (dir->data_stream != NULL) {
        dir->data_stream->ledger[dir->side].frames++;
    }
    BOOK_DATA(dir, H2DEC_FRAME_HEADER_LEN, framing_bytes);
    dir->unbooked = 0;
    rv = report_frame(conn, dir, dir->data_stream);
    if (rv != 0) {
        return rv;
    }
    if (dir->data_stream != NULL) {
        return after_end_fault(conn, dir, dir->data_stream);
    }
    return dir->data_past == STREAM_IDLE ? idle_fault(conn, dir) : 0;
}

/* The frame is followed to its end, and nothing more. */
static void
ignore(struct direction *dir, uint32_t left)
{
    dir->ignored = 1;
    dir->part = PART_SKIP;
    dir->left = left;
    if (h2dec_frame_has_block(dir->frame.type)) {
        h2dec_headers_break(dir);
    }
}

static int
check(struct h2dec_conn *conn, struct direction *dir)
{
    const struct h2dec_frame *frame = &dir->frame;
    int is_valid = 1;
    int rv = 0;

    if (!h2dec_frame_stream_is_valid(frame)) {
        /* A header block still changes the HPACK table. */
        is_valid = h2dec_frame_has_block(frame->type);
        rv = h2dec_conn_fault(conn, dir, H2DEC_FAULT_STREAM_ID, 0, 0,
                              frame->stream_id == 0
                                  ? "this type needs a stream"
                                  : "this type must be on stream 0");
    }
    if (rv == 0 && !h2dec_frame_size_is_valid(frame)) {
        is_valid = 0;
        rv = h2dec_conn_fault(conn, dir, H2DEC_FAULT_FRAME_SIZE,
                              frame->length, 0,
                              "the length is not one this type can have");
    }
    if (!is_valid) {
        ignore(dir, frame->length);
    }
    return rv;
}

/* Finds the length of the part that begins. */
static void
part_enter(struct direction *dir, enum payload_part part)
{
    const struct h2dec_frame *frame = &dir->frame;
    uint32_t padding = 0;

    if (h2dec_frame_is_padded(frame)) {
        padding = 1u + dir->pad_length;
    }
    dir->part = part;
    dir->small_len = 0;
    switch (part) {
    case PART_PAD_LENGTH:
        dir->left = h2dec_frame_is_padded(frame) ? 1 : 0;
        break;
    case PART_FIXED:
        dir->left = dir->fixed_len;
        break;
    case PART_BODY:
        dir->left = frame->length - padding - dir->fixed_len;
        break;
    case PART_PADDING:
        dir->left = dir->pad_length;
        break;
    case PART_SKIP:
        break;
    }
}

int
h2dec_payload_begin(struct h2dec_conn *conn, struct direction *dir)
{
    int rv = 0;

    dir->state = DIR_PAYLOAD;
    dir->ignored = 0;
    dir->pad_length = 0;
    dir->fixed_len = h2dec_frame_fixed_len(&dir->frame);
    if (dir->frame.type == H2DEC_DATA) {
        rv = data_begin(conn, dir);
    } else if (dir->frame.type == H2DEC_HEADERS ||
               dir->frame.type == H2DEC_PUSH_PROMISE) {
        h2dec_headers_begin(dir);
    } else if (dir->frame.type == H2DEC_SETTINGS) {
        h2dec_settings_begin(dir);
    } else if (dir->frame.type == H2DEC_GOAWAY) {
        dir->debug_len = 0;
    }
    if (rv == 0) {
        part_enter(dir, PART_PAD_LENGTH);
        rv = check(conn, dir);
    }
    return rv;
}

/* ---- The parts ------------------------------------------------------- */

static int
take_pad_length(struct h2dec_conn *conn, struct direction *dir, uint8_t byte)
{
    uint32_t rest = dir->frame.length - 1 - dir->fixed_len;
    int is_data = dir->frame.type == H2DEC_DATA;

    dir->left = 0;
    dir->pad_length = byte;
    if (byte <= rest) {
        if (is_data) {
            BOOK_DATA(dir, 1, padding_bytes);
        }
        return 0;
    }
    if (is_data) {
        BOOK_DATA(dir, 1, control_bytes);
    }
    ignore(dir, dir->frame.length - 1);
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_PADDING, byte,
                            dir->frame.length,
                            "the padding is longer than the frame");
}

/* The fixed fields are complete in dir->small. */
static void
take_fixed(struct direction *dir)
{
    if (dir->frame.type == H2DEC_PUSH_PROMISE) {
        dir->promised = h2dec_frame_u32(dir->small) & 0x7fffffffu;
        dir->block.about = dir->promised;
    } else if (dir->frame.type == H2DEC_GOAWAY) {
        dir->goaway_last = h2dec_frame_u32(dir->small) & 0x7fffffffu;
        dir->goaway_code = h2dec_frame_u32(dir->small + 4);
    }
}

static int
take_debug(struct direction *dir, const uint8_t *data, size_t len)
{
    size_t room = H2DEC_DEBUG_MAX - dir->debug_len;

    if (dir->debug == NULL) {
        dir->debug = malloc(H2DEC_DEBUG_MAX);
        if (dir->debug == NULL) {
            return H2DEC_ERR_NOMEM;
        }
    }
    if (len > room) {
        len = room;
    }
    memcpy(dir->debug + dir->debug_len, data, len);
    dir->debug_len += len;
    return 0;
}

static int
take_settings(struct h2dec_conn *conn, struct direction *dir,
              const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        dir->small[dir->small_len++] = data[i];
        if (dir->small_len == 6) {
            int rv = h2dec_settings_entry(conn, dir);

            if (rv != 0) {
                return rv;
            }
            dir->small_len = 0;
        }
    }
    return 0;
}

static int
take_data(struct h2dec_conn *conn, struct direction *dir, const uint8_t *data,
          size_t len)
{
    BOOK_DATA(dir, len, body_bytes);
    if (dir->data_stream == NULL || conn->callbacks->data == NULL) {
        return 0;
    }
    return conn->callbacks->data(&dir->frame, dir->data_stream, data, len,
                                 conn->user)
               ? H2DEC_ERR_CALLBACK
               : 0;
}

static int
take_body(struct h2dec_conn *conn, struct direction *dir, const uint8_t *data,
          size_t len)
{
    switch (dir->frame.type) {
    case H2DEC_DATA:
        return take_data(conn, dir, data, len);
    case H2DEC_HEADERS:
    case H2DEC_PUSH_PROMISE:
    case H2DEC_CONTINUATION:
        return h2dec_headers_fragment(conn, dir, data, len);
    case H2DEC_SETTINGS:
        return take_settings(conn, dir, data, len);
    case H2DEC_GOAWAY:
        return take_debug(dir, data, len);
    default:
        return 0;
    }
}

/* ---- The frame is complete ------------------------------------------- */

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
    (*stream)->opened_us = dir->frame.first_byte_us;
    (*stream)->refused = id > h2dec_goaway_limit(conn, id);
    if (dir->frame.type == H2DEC_PUSH_PROMISE) {
        (*stream)->promised = 1;
        (*stream)->ended[H2DEC_CLIENT] = 1;
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
window_update_check(struct h2dec_conn *conn, struct direction *dir)
{
    if ((h2dec_frame_u32(dir->small) & 0x7fffffffu) != 0) {
        return 0;
    }
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_FLOW_CONTROL, 0, 0,
                            "the window increment is 0");
}

/* What the frame, booked and reported, does. */
static int
act(struct h2dec_conn *conn, struct direction *dir,
    struct h2dec_stream *stream)
{
    struct h2dec_ending ending = { .end = H2DEC_END_RESET,
                                   .side = dir->side };

    if (dir->frame.type == H2DEC_HEADERS && stream != NULL) {
        int rv = after_end_fault(conn, dir, stream);

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
        if (stream != NULL) {
            h2dec_conn_end(conn, stream, &ending);
        }
        return 0;
    case H2DEC_SETTINGS:
        return h2dec_settings_end(conn, dir);
    case H2DEC_GOAWAY:
        return h2dec_goaway_end(conn, dir);
    case H2DEC_WINDOW_UPDATE:
        return window_update_check(conn, dir);
    default:
        return 0;
    }
}

static int
data_done(struct h2dec_conn *conn, struct direction *dir)
{
    struct h2dec_stream *stream = dir->data_stream;

    dir->data_stream = NULL;
    if (stream == NULL || dir->ignored ||
        !(dir->frame.flags & H2DEC_FLAG_END_STREAM)) {
        return 0;
    }
    return h2dec_conn_end_side(conn, stream, dir->side);
}

static int
other_done(struct h2dec_conn *conn, struct direction *dir)
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
                     : idle_fault(conn, dir);
        }
    }
    if (rv != 0) {
        return rv;
    }
    book_frame(dir, stream, past);
    rv = report_frame(conn, dir, stream);
    return rv == 0 ? act(conn, dir, stream) : rv;
}

static int
frame_done(struct h2dec_conn *conn, struct direction *dir)
{
    int rv;

    dir->state = DIR_HEADER;
    rv = dir->frame.type == H2DEC_DATA ? data_done(conn, dir)
                                       : other_done(conn, dir);
    dir->small_len = 0;
    dir->last_good = dir->frame;
    dir->seen_frame = 1;
    return rv;
}

/* ---- Feeding --------------------------------------------------------- */

static int
part_take(struct h2dec_conn *conn, struct direction *dir, const uint8_t *data,
          size_t len)
{
    int is_data = dir->frame.type == H2DEC_DATA;

    if (!is_data) {
        dir->unbooked += len;
    }
    if (dir->part == PART_PAD_LENGTH) {
        return take_pad_length(conn, dir, data[0]);
    }
    dir->left -= (uint32_t)len;
    switch (dir->part) {
    case PART_FIXED:
        memcpy(dir->small + dir->small_len, data, len);
        dir->small_len = (uint8_t)(dir->small_len + len);
        if (dir->left == 0) {
            take_fixed(dir);
        }
        return 0;
    case PART_BODY:
        return take_body(conn, dir, data, len);
    case PART_PADDING:
        if (is_data) {
            BOOK_DATA(dir, len, padding_bytes);
        }
        return 0;
    case PART_SKIP:
    default:
        if (is_data) {
            BOOK_DATA(dir, len, control_bytes);
        }
        return 0;
    }
}

/* Leaves the parts that have nothing left; 1 when the frame is complete. */
static int
part_advance(struct direction *dir)
{
    while (dir->left == 0) {
        if (dir->part >= PART_PADDING) {
            return 1;
        }
        part_enter(dir, dir->part + 1);
    }
    return 0;
}

int
h2dec_payload_feed(struct h2dec_conn *conn, struct direction *dir,
                   const uint8_t *data, size_t len, size_t *used)
{
    int rv;

    *used = 0;
    if (!part_advance(dir)) {
        if (len == 0) {
            return 0;
        }
        *used = len < dir->left ? len : dir->left;
        rv = part_take(conn, dir, data, *used);
        if (rv != 0 || !part_advance(dir)) {
            return rv;
        }
    }
    return frame_done(conn, dir);
}
