/* SPDX-License-Identifier: MIT */
/*
 * Owns the payload of a frame: its parts in order, as they are fed.  Frame
 * headers are conn.c's, what the frame does once it is complete act.c's.
 */
#include "conn.h"

#include <stdlib.h>
#include <string.h>

/* Books |n| bytes of the DATA frame under way in |account| of the ledger. */
#define BOOK_DATA(dir, n, account)                                            \
    h2dec_books_data(dir, n, offsetof(struct h2dec_ledger, account))

/* ---- Beginning ------------------------------------------------------- */

/* A frame for an open stream. */
static void
data_count(struct direction *dir, struct h2dec_stream *stream)
{
    stream->ledger[dir->side].frames++;
    if (dir->frame.length > 0 &&
        stream->first_data_us[dir->side] == H2DEC_NEVER) {
        stream->first_data_us[dir->side] = dir->frame.first_byte_us;
    }
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
        data_count(dir, dir->data_stream);
    }
    BOOK_DATA(dir, H2DEC_FRAME_HEADER_LEN, framing_bytes);
    dir->unbooked = 0;
    rv = h2dec_act_report(conn, dir, dir->data_stream);
    if (rv == 0 && dir->data_stream != NULL) {
        rv = h2dec_act_after_end(conn, dir, dir->data_stream);
    } else if (rv == 0 && dir->data_past == STREAM_IDLE) {
        rv = h2dec_act_idle(conn, dir);
    }
    return rv == 0 ? h2dec_window_data(conn, dir) : rv;
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
    /* What follows END_STREAM is the stream's to pay for, and nothing more. */
    if (dir->data_stream == NULL || dir->data_stream->ended[dir->side] ||
        conn->callbacks->data == NULL) {
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

/* ---- Feeding --------------------------------------------------------- */

static int
frame_done(struct h2dec_conn *conn, struct direction *dir)
{
    int rv;

    dir->state = DIR_HEADER;
    rv = dir->frame.type == H2DEC_DATA ? h2dec_act_data(conn, dir)
                                       : h2dec_act_frame(conn, dir);
    dir->small_len = 0;
    dir->last_good = dir->frame;
    dir->seen_frame = 1;
    return rv;
}

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
