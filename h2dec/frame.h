/* SPDX-License-Identifier: MIT */
/* The 9-byte frame header and the rules for each type; no state. */
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

/* h2dec_frame_rule returns the rule for |type|; unknown types have one too. */
const struct frame_rule *h2dec_frame_rule(uint8_t type);

/* h2dec_frame_index returns |type| as an index below H2DEC_TYPES. */
unsigned h2dec_frame_index(uint8_t type);

/* h2dec_frame_parse reads the 9 bytes at |header| into type, flags, stream_id
 * and length of |frame|. */
void h2dec_frame_parse(struct h2dec_frame *frame, const uint8_t *header);

/* h2dec_frame_fixed_len returns the length of the fixed part of |frame|, the
 * priority fields of HEADERS included, Pad Length not. */
unsigned h2dec_frame_fixed_len(const struct h2dec_frame *frame);

/* h2dec_frame_is_padded returns 1 when a Pad Length field comes first. */
int h2dec_frame_is_padded(const struct h2dec_frame *frame);

/* h2dec_frame_has_block returns 1 for types that carry a header block
 * fragment. */
int h2dec_frame_has_block(uint8_t type);

/* h2dec_frame_size_is_valid checks the length against the type. */
int h2dec_frame_size_is_valid(const struct h2dec_frame *frame);

/* h2dec_frame_stream_is_valid checks stream 0 or not against the type. */
int h2dec_frame_stream_is_valid(const struct h2dec_frame *frame);

/* h2dec_frame_u32 and h2dec_frame_u16 read big-endian numbers. */
uint32_t h2dec_frame_u32(const uint8_t *bytes);
uint16_t h2dec_frame_u16(const uint8_t *bytes);

#endif
