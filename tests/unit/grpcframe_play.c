/* SPDX-License-Identifier: MIT */
/*
 * Owns the playing of bodies in many cuts.  Knows no codec: what a body must
 * come to is the business of the test that brings it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../vector_codec.h"
#include "grpcframe_play.h"

/* Above this length not every cut is tried, but some, and all near the steps
 * of 4 KiB in which the library works. */
#define EVERY_CUT_MAX 1200
#define SOME_CUTS 24

void
outcome_clear(struct outcome *outcome)
{
    vector_buf_clear(&outcome->output);
}

static int
keep_output(const uint8_t *data, size_t len, void *user)
{
    vector_buf_add(user, data, len);
    return 0;
}

/* struct play is one body and what it came to when fed whole. */
struct play {
    /* pool, codec and ceiling are as given. */
    struct grpcframe_pool *pool;
    enum grpcframe_codec codec;
    uint64_t ceiling;
    /* data is a copy of exactly len bytes: a sanitizer sees what is read
     * behind it. */
    uint8_t *data;
    size_t len;
    /* whole is what must come out each time. */
    struct outcome whole;
};

/* Feeds pieces of |step| bytes, the first of them |first|. */
static void
play_decoder(const struct play *play, size_t first, size_t step,
             int with_output, struct outcome *outcome)
{
    struct grpcframe_decoder *decoder = grpcframe_decoder_get(
        play->pool, play->codec, play->ceiling,
        with_output ? keep_output : NULL, &outcome->output);
    enum grpcframe_result fed = GRPCFRAME_RESULT_OK;
    size_t n = first;

    assert_non_null(decoder);
    for (size_t at = 0; at < play->len; at += n) {
        if (at > 0)
            n = step;
        if (n > play->len - at)
            n = play->len - at;
        fed = grpcframe_decoder_feed(decoder, play->data + at, n);
        assert_int_equal(grpcframe_decoder_feed(decoder, NULL, 0), fed);
    }
    outcome->result = grpcframe_decoder_finish(decoder);
    if (fed != GRPCFRAME_RESULT_OK)
        assert_int_equal(outcome->result, fed);
    assert_int_equal(grpcframe_decoder_finish(decoder), outcome->result);
    outcome->form = grpcframe_decoder_form(decoder);
    outcome->length = grpcframe_decoder_length(decoder);
    outcome->offset = grpcframe_decoder_offset(decoder);
    grpcframe_decoder_put(decoder);
}

static void
compare(const struct play *play, const struct outcome *got)
{
    assert_int_equal(got->result, play->whole.result);
    assert_int_equal(got->form, play->whole.form);
    assert_int_equal(got->length, play->whole.length);
    assert_int_equal(got->offset, play->whole.offset);
}

static void
play_cut(const struct play *play, size_t first, size_t step)
{
    struct outcome got = {0};

    play_decoder(play, first, step, 1, &got);
    compare(play, &got);
    assert_int_equal(got.output.len, play->whole.output.len);
    if (got.output.len > 0)
        assert_memory_equal(got.output.data, play->whole.output.data,
                            got.output.len);
    outcome_clear(&got);
}

static void
play_cuts(const struct play *play)
{
    size_t step = 1;

    play_cut(play, 1, 1);
    if (play->len > EVERY_CUT_MAX)
        step = play->len / SOME_CUTS;
    for (size_t at = 1; at < play->len; at += step)
        play_cut(play, at, play->len);
    for (size_t at = 4096; play->len > EVERY_CUT_MAX && at < play->len;
         at += at) {
        play_cut(play, at - 1, play->len);
        play_cut(play, at, play->len);
        play_cut(play, at + 1, 4096);
    }
}

/* struct seen is the messages a reader reported. */
struct seen {
    /* messages are the first two of them. */
    struct grpcframe_message messages[2];
    /* n counts them all. */
    size_t n;
};

static int
see_message(const struct grpcframe_message *message, void *user)
{
    struct seen *seen = user;

    assert_true(seen->n < 2);
    seen->messages[seen->n++] = *message;
    return 0;
}

/* The body as a message, and a sound one behind it. */
static void
play_reader(const struct play *play, size_t step)
{
    struct vector_buf stream = {0};
    struct grpcframe_reader reader;
    struct seen seen = {0};
    size_t n;

    vector_buf_be(&stream, 1, 1);
    vector_buf_be(&stream, play->len, 4);
    vector_buf_add(&stream, play->data, play->len);
    vector_buf_add(&stream, "\0\0\0\0\3abc", 8);
    grpcframe_reader_init(&reader, play->pool, play->codec, play->ceiling,
                          see_message, &seen);
    for (size_t at = 0; at < stream.len; at += n) {
        n = stream.len - at < step ? stream.len - at : step;
        assert_int_equal(
            grpcframe_reader_feed(&reader, stream.data + at, n, 1, 7), 0);
    }
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&stream);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.messages[0].result, play->whole.result);
    assert_int_equal(seen.messages[0].form, play->whole.form);
    assert_int_equal(seen.messages[0].decoded_length, play->whole.length);
    assert_int_equal(
        seen.messages[0].fault_offset,
        play->whole.result == GRPCFRAME_RESULT_OK ? 0 : play->whole.offset);
    assert_int_equal(seen.messages[1].decoded_length, 3);
    assert_int_equal(seen.messages[1].result, GRPCFRAME_RESULT_OK);
}

/* Only a block of snappy may come to more without a callback than with one:
 * its window is limited where its bytes are wanted. */
static int
is_narrow_window(const struct play *play)
{
    return play->whole.result == GRPCFRAME_RESULT_MEMORY &&
           play->whole.form == GRPCFRAME_FORM_SNAPPY_BLOCK;
}

void
play_body(struct grpcframe_pool *pool, enum grpcframe_codec codec,
          uint64_t ceiling, const uint8_t *data, size_t len,
          struct outcome *outcome)
{
    struct play play = {.pool = pool, .codec = codec, .ceiling = ceiling};
    struct outcome quiet = {0};

    play.data = vector_alloc(len > 0 ? len : 1);
    play.len = len;
    if (len > 0)
        memcpy(play.data, data, len);
    play_decoder(&play, len, len, 1, &play.whole);
    play_cuts(&play);
    if (!is_narrow_window(&play)) {
        play_decoder(&play, len, len, 0, &quiet);
        compare(&play, &quiet);
        play_reader(&play, len + 64);
        play_reader(&play, 1);
        play_reader(&play, 4099);
    }
    free(play.data);
    if (outcome != NULL)
        *outcome = play.whole;
    else
        outcome_clear(&play.whole);
}

void
play_expect(struct grpcframe_pool *pool, enum grpcframe_codec codec,
            const struct vector_buf *body, enum grpcframe_result result,
            uint64_t offset)
{
    struct outcome outcome;

    play_body(pool, codec, 0, body->data, body->len, &outcome);
    assert_int_equal(outcome.result, result);
    assert_int_equal(outcome.offset, offset);
    outcome_clear(&outcome);
}

void
play_content(struct grpcframe_pool *pool, enum grpcframe_codec codec,
             const struct vector_buf *body, const struct vector_buf *content)
{
    struct outcome outcome;

    play_body(pool, codec, 0, body->data, body->len, &outcome);
    assert_int_equal(outcome.result, GRPCFRAME_RESULT_OK);
    assert_int_equal(outcome.offset, body->len);
    assert_int_equal(outcome.length, content->len);
    assert_int_equal(outcome.output.len, content->len);
    if (content->len > 0)
        assert_memory_equal(outcome.output.data, content->data, content->len);
    outcome_clear(&outcome);
}

void
play_make(struct vector_buf *out, enum play_data kind, size_t len)
{
    static const char *const words[] = {
        "message ", "stream ",  "header ", "window ",
        "frame ",   "\"id\": ", "4711, ",  "true\n"};
    uint8_t *to = vector_buf_room(out, len);
    uint32_t seed = 12345;
    size_t at = 0;

    memset(to, 0, len);
    while (kind != PLAY_ZEROS && at < len) {
        seed = seed * 1664525u + 1013904223u;
        if (kind == PLAY_RANDOM) {
            to[at++] = (uint8_t)(seed >> 24);
            continue;
        }
        for (const char *p = words[seed >> 29]; *p != '\0' && at < len; p++)
            to[at++] = (uint8_t)*p;
    }
    out->len += len;
}

void
play_encode(struct vector_buf *out, const char *name,
            const struct vector_buf *data)
{
    static const uint8_t nothing[1];

    assert_int_equal(vector_codec_encode(out, name,
                                         data->len > 0 ? data->data : nothing,
                                         data->len),
                     0);
}

enum grpcframe_codec
play_codec(const char *name)
{
    if (strcmp(name, "zlib") == 0 || strcmp(name, "rawdeflate") == 0)
        return GRPCFRAME_CODEC_DEFLATE;
    if (strncmp(name, "zstd", 4) == 0)
        return GRPCFRAME_CODEC_ZSTD;
    if (strncmp(name, "snappy", 6) == 0)
        return GRPCFRAME_CODEC_SNAPPY;
    return grpcframe_codec_parse(name, strlen(name));
}
