/* SPDX-License-Identifier: MIT */
/*
 * Owns the knowledge of frame headers and of what each type must look like
 * (RFC 9113, sections 4.1 and 6).  Holds no state: what a frame means for a
 * connection is payload.c's.
 */
#include "frame.h"

/* What an endpoint must accept before any SETTINGS (section 4.2). */
#define FRAME_LEN_UNASKED 16384

const struct frame_rule h2dec_frame_rules[H2DEC_TYPES] = {
    [H2DEC_DATA] = { .padded = 1, .on_stream = 1 },
    [H2DEC_HEADERS] = { .padded = 1, .on_stream = 1 },
    [H2DEC_PRIORITY] = { .fixed = 5, .exact = 1, .on_stream = 1 },
    [H2DEC_RST_STREAM] = { .fixed = 4, .exact = 1, .on_stream = 1 },
    [H2DEC_SETTINGS] = { .on_stream = 0 },
    [H2DEC_PUSH_PROMISE] = { .padded = 1, .fixed = 4, .on_stream = 1 },
    [H2DEC_PING] = { .fixed = 8, .exact = 1, .on_stream = 0 },
    [H2DEC_GOAWAY] = { .fixed = 8, .on_stream = 0 },
    [H2DEC_WINDOW_UPDATE] = { .fixed = 4, .exact = 1, .on_stream = -1 },
    [H2DEC_CONTINUATION] = { .on_stream = 1 },
    [H2DEC_UNKNOWN_TYPE] = { .on_stream = -1 },
};

void
h2dec_frame_parse(struct h2dec_frame *frame, const uint8_t *header)
{
    frame->length = (uint32_t)header[0] << 16 | (uint32_t)header[1] << 8 |
                    header[2];
    frame->type = header[3];
    frame->flags = header[4];
    /* The reserved bit is to be ignored (section 4.1). */
    frame->stream_id = h2dec_frame_u32(header + 5) & 0x7fffffffu;
}

int
h2dec_frame_size_is_valid(const struct h2dec_frame *frame)
{
    const struct frame_rule *rule = h2dec_frame_rule(frame->type);
    uint32_t least = h2dec_frame_fixed_len(frame);

    if (h2dec_frame_is_padded(frame)) {
        least++;
    }
    if (frame->length < least || (rule->exact && frame->length > least)) {
        return 0;
    }
    if (frame->type != H2DEC_SETTINGS) {
        return 1;
    }
    if (frame->flags & H2DEC_FLAG_ACK) {
        return frame->length == 0;
    }
    return frame->length % 6 == 0;
}

int
h2dec_frame_stream_is_valid(const struct h2dec_frame *frame)
{
    int8_t on_stream = h2dec_frame_rule(frame->type)->on_stream;

    return on_stream < 0 || on_stream == (frame->stream_id != 0);
}

int
h2dec_frame_plausible(const uint8_t *header, enum h2dec_side side)
{
    struct h2dec_frame frame;

    h2dec_frame_parse(&frame, header);
    if (frame.type >= H2DEC_UNKNOWN_TYPE ||
        frame.length > FRAME_LEN_UNASKED || (header[5] & 0x80)) {
        return 0;
    }
    /* Clients open odd streams; no client sends on an even one first. */
    if (side == H2DEC_CLIENT && frame.stream_id != 0 &&
        frame.stream_id % 2 == 0) {
        return 0;
    }
    return h2dec_frame_size_is_valid(&frame) &&
           h2dec_frame_stream_is_valid(&frame);
}
