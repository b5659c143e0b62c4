/* SPDX-License-Identifier: MIT */
/*
 * Finds the HTTP/2 frames in the bytes of a script, as plainly as can be and
 * with no code of the decoder: a second opinion for vector_rules.c and
 * vector_recut.c.  It judges no frame; where to stop is its caller's to say.
 */
#ifndef VECTOR_WALK_H
#define VECTOR_WALK_H

#include "vector_tap.h"

/* WALK_HEAD is the length of a frame header. */
#define WALK_HEAD 9

/* struct walk_frame is one whole frame. */
struct walk_frame {
    /* side is who sent it. */
    enum side side;
    /* type, flags and stream as sent, the reserved bit apart. */
    unsigned type;
    unsigned flags;
    uint32_t stream;
    /* offset of its first byte in its direction, len of its payload. */
    size_t offset;
    size_t len;
    /* step is the one in which it ends, is_split 1 when it began before. */
    size_t step;
    int is_split;
};

/* struct vector_walk is the frames of a script. */
struct vector_walk {
    /* bytes is all that each side sent before its EOF; after counts the
     * bytes behind it. */
    struct vector_buf bytes[2];
    size_t after[2];
    /* at is where the next frame of each side would begin. */
    size_t at[2];
    /* frames are n whole frames in the order in which they were complete. */
    struct walk_frame *frames;
    size_t n;
};

/*
 * vector_walk_frames walks through the first |limit| bytes of |script|, but
 * of each side through |ends| bytes at most.  |is_upgraded| says that an
 * HTTP/1.1 head comes first.
 */
void vector_walk_frames(struct vector_walk *walk,
                        const struct vector_script *script, size_t limit,
                        const size_t ends[2], int is_upgraded);

/* vector_walk_payload returns the payload of |frame|. */
const uint8_t *vector_walk_payload(const struct vector_walk *walk,
                                   const struct walk_frame *frame);

/* vector_walk_block returns where the header block fragment of |frame| is
 * and sets |*len|; NULL when its padding or its size makes no sense. */
const uint8_t *vector_walk_block(const struct vector_walk *walk,
                                 const struct walk_frame *frame, size_t *len);

/* vector_walk_promised returns the stream that |frame| promises, or 0. */
uint32_t vector_walk_promised(const struct vector_walk *walk,
                              const struct walk_frame *frame);

/* vector_walk_clear frees what |walk| holds. */
void vector_walk_clear(struct vector_walk *walk);

#endif
