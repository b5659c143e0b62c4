/* SPDX-License-Identifier: MIT */
/*
 * What the tests of grpcframe share: bodies played in many cuts, and data to
 * compress.  A difference between two cuts fails the test that called.
 */
#ifndef GRPCFRAME_PLAY_H
#define GRPCFRAME_PLAY_H

#include "../../grpcframe/grpcframe.h"
#include "../vector_buf.h"

/* struct outcome is what a decoder found in a body. */
struct outcome {
    /* result is what finish returned. */
    enum grpcframe_result result;
    /* form is which form of the codec the body took. */
    enum grpcframe_form form;
    /* length is how much came out. */
    uint64_t length;
    /* offset is that of the fault, or the end of the body. */
    uint64_t offset;
    /* output is what came out. */
    struct vector_buf output;
};

/*
 * play_body inflates a body whole, byte by byte and cut at every point (of a
 * long one at many), with and without an output callback, and as a message of
 * a reader, always with the same |pool|.  All must agree; what they agree on
 * goes to |outcome|, which may be NULL.
 */
void play_body(struct grpcframe_pool *pool, enum grpcframe_codec codec,
               uint64_t ceiling, const uint8_t *data, size_t len,
               struct outcome *outcome);

/* play_expect is play_body, and asserts the result and the offset of it. */
void play_expect(struct grpcframe_pool *pool, enum grpcframe_codec codec,
                 const struct vector_buf *body, enum grpcframe_result result,
                 uint64_t offset);

/* play_content is play_body, and asserts that exactly |content| comes out. */
void play_content(struct grpcframe_pool *pool, enum grpcframe_codec codec,
                  const struct vector_buf *body,
                  const struct vector_buf *content);

/* outcome_clear frees what |outcome| holds. */
void outcome_clear(struct outcome *outcome);

/* enum play_data is a kind of data to compress. */
enum play_data {
    PLAY_TEXT,   /* words: compresses to a third or so */
    PLAY_RANDOM, /* does not compress */
    PLAY_ZEROS   /* compresses to almost nothing */
};

/* play_make appends |len| bytes of |kind|, the same in each run. */
void play_make(struct vector_buf *out, enum play_data kind, size_t len);

/* play_encode appends |data| compressed; names as vector_codec_encode. */
void play_encode(struct vector_buf *out, const char *name,
                 const struct vector_buf *data);

/* play_codec returns the codec that decodes what play_encode makes. */
enum grpcframe_codec play_codec(const char *name);

#endif
