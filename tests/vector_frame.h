/* SPDX-License-Identifier: MIT */
/*
 * Builds HTTP/2 frames for vectors, from lines such as
 * `HEADERS stream=1 END_HEADERS` and the header lines below them.
 */
#ifndef VECTOR_FRAME_H
#define VECTOR_FRAME_H

#include "vector_expr.h"

/* The frame types of RFC 9113, section 6, and the flags of HEADERS. */
enum {
    VECTOR_FRAME_DATA = 0,
    VECTOR_FRAME_HEADERS = 1,
    VECTOR_FRAME_PRIORITY = 2,
    VECTOR_FRAME_RST_STREAM = 3,
    VECTOR_FRAME_SETTINGS = 4,
    VECTOR_FRAME_PUSH_PROMISE = 5,
    VECTOR_FRAME_PING = 6,
    VECTOR_FRAME_GOAWAY = 7,
    VECTOR_FRAME_WINDOW_UPDATE = 8,
    VECTOR_FRAME_CONTINUATION = 9,
    VECTOR_FLAG_END_STREAM = 0x1,
    VECTOR_FLAG_END_HEADERS = 0x4,
    VECTOR_FLAG_PADDED = 0x8,
    VECTOR_FLAG_PRIORITY = 0x20
};

/* VECTOR_PREFACE is what an HTTP/2 client sends first, 24 bytes. */
#define VECTOR_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define VECTOR_PREFACE_LEN 24

/* vector_frame_head appends the 9 bytes that start a frame. */
void vector_frame_head(struct vector_buf *out, size_t length, unsigned type,
                       unsigned flags, uint32_t stream);

/* vector_frame_type_name returns the RFC's name of |type|, or NULL. */
const char *vector_frame_type_name(unsigned type);

/*
 * vector_frame_read appends the bytes of the frame (or other input) that the
 * line |line| describes; the |n_fields| lines |fields| are its header lines.
 */
void vector_frame_read(struct vector_buf *out, struct vector_cursor *line,
                       struct vector_cursor *fields, size_t n_fields);

#endif
