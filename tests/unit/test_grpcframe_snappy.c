/* SPDX-License-Identifier: MIT */
/*
 * The two forms of snappy in grpcframe: chunks of the framing format, and
 * elements of the block format.  What all codecs do alike is in
 * test_grpcframe_inflate.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../vector_codec.h"
#include "grpcframe_play.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* struct sample is some content and a body that it was compressed to. */
struct sample {
    /* data is the content. */
    struct vector_buf data;
    /* body is what came of it. */
    struct vector_buf body;
};

static struct grpcframe_pool *pool;

static int
set_up(void **state)
{
    (void)state;
    return grpcframe_pool_new(&pool, GRPCFRAME_POOL_DEFAULT_BYTES);
}

static int
tear_down(void **state)
{
    (void)state;
    grpcframe_pool_free(pool);
    return 0;
}

static void
sample_make(struct sample *sample, const char *name, size_t len)
{
    memset(sample, 0, sizeof(*sample));
    play_make(&sample->data, PLAY_TEXT, len);
    play_encode(&sample->body, name, &sample->data);
}

static void
sample_clear(struct sample *sample)
{
    vector_buf_clear(&sample->data);
    vector_buf_clear(&sample->body);
}

static void
chunk(struct vector_buf *out, uint8_t type, const void *data, size_t len)
{
    vector_buf_be(out, type, 1);
    vector_buf_le(out, len, 3);
    vector_buf_add(out, data, len);
}

/* An uncompressed chunk. */
static void
plain_chunk(struct vector_buf *out, const struct vector_buf *data)
{
    uint32_t crc = vector_codec_crc32c(data->data, data->len);

    vector_buf_be(out, 1, 1);
    vector_buf_le(out, data->len + 4, 3);
    vector_buf_le(out, (crc >> 15 | crc << 17) + 0xa282ead8u, 4);
    vector_buf_add(out, data->data, data->len);
}

static void
test_snappy_chunks(void **state)
{
    struct sample s;
    struct vector_buf more = {0};
    size_t at;

    (void)state;
    sample_make(&s, "snappy", 1000);
    play_make(&more, PLAY_RANDOM, 65536);
    chunk(&s.body, 0xfe, more.data, 3000);
    chunk(&s.body, 0x80, "x", 1);
    chunk(&s.body, 0xfd, NULL, 0);
    chunk(&s.body, 0xff, "sNaPpY", 6);
    plain_chunk(&s.body, &more);
    vector_buf_add(&s.data, more.data, more.len);
    play_content(pool, GRPCFRAME_CODEC_SNAPPY, &s.body, &s.data);
    at = s.body.len;
    /* One byte more than a chunk may hold. */
    vector_buf_add(&more, "x", 1);
    plain_chunk(&s.body, &more);
    play_expect(pool, GRPCFRAME_CODEC_SNAPPY, &s.body, GRPCFRAME_RESULT_CORRUPT,
                at);
    for (unsigned type = 2; type < 0x80; type++) {
        s.body.len = at;
        chunk(&s.body, (uint8_t)type, "abcdef", 6);
        if (type < 5 || type > 0x7d)
            play_expect(pool, GRPCFRAME_CODEC_SNAPPY, &s.body,
                        GRPCFRAME_RESULT_CORRUPT, at);
    }
    vector_buf_clear(&more);
    sample_clear(&s);
}

static void
test_snappy_bad_chunks(void **state)
{
    static const struct {
        uint8_t type;
        const char *body;
        size_t len;
        enum grpcframe_result result;
    } rows[] = {
        {0, "", 0, GRPCFRAME_RESULT_CORRUPT},
        {0, "abc", 3, GRPCFRAME_RESULT_CORRUPT},
        {0, "abcd", 4, GRPCFRAME_RESULT_CORRUPT},
        {1, "abc", 3, GRPCFRAME_RESULT_CORRUPT},
        {1, "abcd", 4, GRPCFRAME_RESULT_CHECKSUM},
        {1, "\xd8\xea\x82\xa2", 4, GRPCFRAME_RESULT_OK}, /* of no bytes */
        {0xff, "sNaPp", 5, GRPCFRAME_RESULT_CORRUPT},
        {0xff, "sNaPpy", 6, GRPCFRAME_RESULT_CORRUPT},
        {0, "abcd\x81\x80\x04\x00x", 9, GRPCFRAME_RESULT_CORRUPT},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sample s;
        size_t at;

        sample_make(&s, "snappy", 100);
        at = s.body.len;
        chunk(&s.body, rows[i].type, rows[i].body, rows[i].len);
        play_expect(pool, GRPCFRAME_CODEC_SNAPPY, &s.body, rows[i].result,
                    rows[i].result == GRPCFRAME_RESULT_OK ? s.body.len : at);
        sample_clear(&s);
    }
}

static void
test_snappy_checksum(void **state)
{
    struct sample s;

    (void)state;
    sample_make(&s, "snappy", 100000);
    s.body.data[14] ^= 1;
    play_expect(pool, GRPCFRAME_CODEC_SNAPPY, &s.body,
                GRPCFRAME_RESULT_CHECKSUM, 10);
    sample_clear(&s);
}

static void
test_snappy_block(void **state)
{
    static const struct {
        const char *body;
        size_t len;
        enum grpcframe_result result;
        uint64_t offset;
        uint64_t decoded;
    } rows[] = {
        {"\0", 1, GRPCFRAME_RESULT_OK, 1, 0},
        {"\0\0", 2, GRPCFRAME_RESULT_TRAILING, 1, 0},
        {"\x80\0", 2, GRPCFRAME_RESULT_OK, 2, 0},
        {"\x03\x08"
         "abc",
         5, GRPCFRAME_RESULT_OK, 5, 3},
        {"\x03\x04"
         "ab\x00"
         "c",
         6, GRPCFRAME_RESULT_OK, 6, 3},
        {"\x03\x0c"
         "abcd",
         6, GRPCFRAME_RESULT_CORRUPT, 1, 0},
        {"\x03\xf0\x02"
         "abc",
         6, GRPCFRAME_RESULT_OK, 6, 3},
        {"\x03\xf4\x02\0"
         "abc",
         7, GRPCFRAME_RESULT_OK, 7, 3},
        {"\x03\xf8\x02\0\0"
         "abc",
         8, GRPCFRAME_RESULT_OK, 8, 3},
        {"\x03\xfc\x02\0\0\0"
         "abc",
         9, GRPCFRAME_RESULT_OK, 9, 3},
        {"\x03\xfc\xff\xff\xff\xff"
         "abc",
         9, GRPCFRAME_RESULT_CORRUPT, 1, 0},
        {"\x05\x00"
         "a\x01\x01",
         5, GRPCFRAME_RESULT_OK, 5, 5},
        {"\x05\x00"
         "a\x01\x00",
         5, GRPCFRAME_RESULT_CORRUPT, 3, 1},
        {"\x05\x00"
         "a\x01\x02",
         5, GRPCFRAME_RESULT_CORRUPT, 3, 1},
        {"\x04\x00"
         "a\x01\x01",
         5, GRPCFRAME_RESULT_CORRUPT, 3, 1},
        {"\x41\x00"
         "a\xfe\x01\0",
         6, GRPCFRAME_RESULT_OK, 6, 65},
        {"\x41\x00"
         "a\xff\x01\0\0\0",
         8, GRPCFRAME_RESULT_OK, 8, 65},
        {"\x41\x00"
         "a\xff\x01\0\0\1",
         8, GRPCFRAME_RESULT_CORRUPT, 3, 1},
        {"\x80\x80\x80\x80\x10", 5, GRPCFRAME_RESULT_CORRUPT, 0, 0},
        {"\x80\x80\x80\x80\x80", 5, GRPCFRAME_RESULT_CORRUPT, 0, 0},
        {"\xff\xff\xff\xff\x0f", 5, GRPCFRAME_RESULT_TRUNCATED, 5, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct outcome outcome;

        play_body(pool, GRPCFRAME_CODEC_SNAPPY, 0,
                  (const uint8_t *)rows[i].body, rows[i].len, &outcome);
        assert_int_equal(outcome.result, rows[i].result);
        assert_int_equal(outcome.offset, rows[i].offset);
        assert_int_equal(outcome.length, rows[i].decoded);
        outcome_clear(&outcome);
    }
}

/* A block of 65,541 bytes, the last four a copy from 65,537 back. */
static void
make_far_copy(struct vector_buf *body)
{
    vector_buf_add(body, "\x85\x80\x04", 3);
    vector_buf_add(body, "\xf4\x00\x00x", 4);
    vector_buf_add(body, "\xf4\xff\xff", 3);
    play_make(body, PLAY_RANDOM, 65536);
    vector_buf_be(body, 3 << 2 | 3, 1);
    vector_buf_le(body, 65537, 4);
}

/* A copy from further back than 64 KiB is sound, but only counted. */
static void
test_snappy_far_copy(void **state)
{
    struct vector_buf body = {0};
    struct grpcframe_decoder *decoder;

    (void)state;
    make_far_copy(&body);
    play_expect(pool, GRPCFRAME_CODEC_SNAPPY, &body, GRPCFRAME_RESULT_MEMORY,
                body.len - 5);
    decoder =
        grpcframe_decoder_get(pool, GRPCFRAME_CODEC_SNAPPY, 0, NULL, NULL);
    grpcframe_decoder_feed(decoder, body.data, body.len);
    assert_int_equal(grpcframe_decoder_finish(decoder), GRPCFRAME_RESULT_OK);
    assert_int_equal(grpcframe_decoder_length(decoder), 65541);
    grpcframe_decoder_put(decoder);
    vector_buf_clear(&body);
}

/* struct shown is what a reader showed of a stream, and said of its last
 * message. */
struct shown {
    /* bytes counts what was shown. */
    size_t bytes;
    /* n counts the messages, last is the last one. */
    size_t n;
    struct grpcframe_message last;
};

static void
on_span(const struct grpcframe_message *message, const uint8_t *data,
        size_t len, void *user)
{
    struct shown *shown = user;

    (void)message;
    (void)data;
    shown->bytes += len;
}

static int
on_message(const struct grpcframe_message *message, void *user)
{
    struct shown *shown = user;

    shown->last = *message;
    shown->n++;
    return 0;
}

static void
show(const struct vector_buf *stream, grpcframe_span_cb span,
     struct shown *shown)
{
    struct grpcframe_reader reader;

    grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_SNAPPY, 0, on_message,
                          shown);
    grpcframe_reader_set_span(&reader, span);
    grpcframe_reader_feed(&reader, stream->data, stream->len, 1, 1);
    grpcframe_reader_clear(&reader);
}

/* To look at messages changes nothing of what is said of them: one that goes
 * back too far is shown up to there; the next one is shown whole again. */
static void
test_snappy_far_shown(void **state)
{
    struct vector_buf body = {0};
    struct vector_buf stream = {0};
    struct shown unseen = {0};
    struct shown seen = {0};

    (void)state;
    make_far_copy(&body);
    vector_buf_be(&stream, 1, 1);
    vector_buf_be(&stream, body.len, 4);
    vector_buf_add(&stream, body.data, body.len);
    show(&stream, NULL, &unseen);
    show(&stream, on_span, &seen);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.bytes, 65537);
    assert_int_equal(seen.last.result, GRPCFRAME_RESULT_OK);
    assert_int_equal(seen.last.decoded_length, 65541);
    assert_int_equal(seen.last.partly_shown, 1);
    assert_int_equal(unseen.last.partly_shown, 0);
    seen.last.partly_shown = 0;
    assert_memory_equal(&seen.last, &unseen.last, sizeof(seen.last));
    vector_buf_add(&stream, "\1\0\0\0\3\1\0y", 8);
    seen = (struct shown){0};
    show(&stream, on_span, &seen);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.bytes, 65538);
    assert_int_equal(seen.last.partly_shown, 0);
    vector_buf_clear(&stream);
    vector_buf_clear(&body);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snappy_chunks),
        cmocka_unit_test(test_snappy_bad_chunks),
        cmocka_unit_test(test_snappy_checksum),
        cmocka_unit_test(test_snappy_block),
        cmocka_unit_test(test_snappy_far_copy),
        cmocka_unit_test(test_snappy_far_shown),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
