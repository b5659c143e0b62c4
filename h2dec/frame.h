/* SPDX-License-Identifier: MIT */
/* The 9-byte frame header and the rules for each type; no state.  What is asked
 * of every frame is inline. */
#ifndef FRAME_H
#define FRAME_H

#include "h2dec.h"

/* struct frame_rule is what RFC 9113, section 6 says of a type. */
struct frame_rule {
    /* padded is 1 when the PADDED flag applies. */
    uint8_t padded;
    /* fixed is the length of the fields before the variable part. */
    uint8_t fixed;
    /* exact is 1 when nothing may follow the fixed part. */
    uint8_t exact;
    /* on_stream: 1 needs a stream, 0 must be on stream 0, -1 either. */
    int8_t on_stream;
};

/* h2dec_frame_rules are the rules by h2dec_frame_index. */
extern const struct frame_rule h2dec_frame_rules[H2DEC_TYPES];

/* h2dec_frame_index returns |type| as an index below H2DEC_TYPES. */
static inline unsigned
h2dec_frame_index(uint8_t type)
{
    return type < H2DEC_UNKNOWN_TYPE ? type : H2DEC_UNKNOWN_TYPE;
}

/* h2dec_frame_rule returns the rule for |type|; unknown types have one too. */
static inline const struct frame_rule *
h2dec_frame_rule(uint8_t type)
{
    return &h2dec_frame_rules[h2dec_frame_index(type)];
}

/* h2dec_frame_parse reads the 9 bytes at |header| into type, flags, stream_id
 * and length of |frame|. */
void h2dec_frame_parse(struct h2dec_frame *frame, const uint8_t *header);

/* h2dec_frame_fixed_len returns the length of the fixed part of |frame|, the
 * priority fields of HEADERS included, Pad Length not. */
static inline unsigned
h2dec_frame_fixed_len(const struct h2dec_frame *frame)
{
    if (frame->type == H2DEC_HEADERS) {
        return frame->flags & H2DEC_FLAG_PRIORITY ? 5 : 0;
    }
    return h2dec_frame_rule(frame->type)->fixed;
}

/* h2dec_frame_is_padded returns 1 when a Pad Length field comes first. */
static inline int
h2dec_frame_is_padded(const struct h2dec_frame *frame)
{
    return h2dec_frame_rule(frame->type)->padded &&
           (frame->flags & H2DEC_FLAG_PADDED);
}

/* h2dec_frame_has_block returns 1 for types that carry a header block
 * fragment. */
static inline int
h2dec_frame_has_block(uint8_t type)
{
    return type == H2DEC_HEADERS || type == H2DEC_PUSH_PROMISE ||
           type == H2DEC_CONTINUATION;
}

/* h2dec_frame_size_is_valid checks the length against the type. */
int h2dec_frame_size_is_valid(const struct h2dec_frame *frame);

/* h2dec_frame_stream_is_valid checks stream 0 or not against the type. */
int h2dec_frame_stream_is_valid(const struct h2dec_frame *frame);

/* h2dec_frame_u32 and h2dec_frame_u16 read big-endian numbers. */
static inline uint32_t
h2dec_frame_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint16_t
h2dec_frame_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

#endif
