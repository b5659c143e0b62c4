/* SPDX-License-Identifier: MIT */
/*
 * The encoders of grpcframe: what they write is what their libraries write
 * when a stack streams through them, fits where it should and comes back; and
 * the spans of a reader, which are what they are fed with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../vector_alloc.h"
#include "grpcframe_play.h"

static const enum grpcframe_codec codecs[] = {
    GRPCFRAME_CODEC_GZIP, GRPCFRAME_CODEC_DEFLATE, GRPCFRAME_CODEC_BR,
    GRPCFRAME_CODEC_ZSTD, GRPCFRAME_CODEC_SNAPPY,
};

#define CODECS (sizeof(codecs) / sizeof(codecs[0]))

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

/* Compresses into exactly the room that the bound says: a sanitizer sees what
 * is written behind it. */
static void
encode(struct grpcframe_encoder *encoder, const struct vector_buf *data,
       struct vector_buf *body)
{
    uint8_t *out = malloc(grpcframe_encoder_bound(encoder, data->len));
    size_t len = 0;

    assert_non_null(out);
    assert_int_equal(
        grpcframe_encoder_run(encoder, data->data, data->len, out, &len), 0);
    if (len > grpcframe_encoder_bound(encoder, data->len)) {
        fail_msg("%zu bytes became %zu", data->len, len);
    }
    body->len = 0;
    vector_buf_add(body, out, len);
    free(out);
}

static int
keep(const uint8_t *data, size_t len, void *user)
{
    vector_buf_add(user, data, len);
    return 0;
}

static void
expect_content(enum grpcframe_codec codec, const struct vector_buf *body,
               const struct vector_buf *content)
{
    struct vector_buf out = {0};
    struct grpcframe_decoder *decoder =
        grpcframe_decoder_get(pool, codec, 0, keep, &out);

    grpcframe_decoder_feed(decoder, body->data, body->len);
    assert_int_equal(grpcframe_decoder_finish(decoder), 0);
    assert_int_equal(grpcframe_decoder_form(decoder), GRPCFRAME_FORM_REGULAR);
    assert_int_equal(out.len, content->len);
    assert_memory_equal(out.data, content->data, content->len);
    grpcframe_decoder_put(decoder);
    vector_buf_clear(&out);
}

/* One encoder, many messages: each comes back, whatever came before it. */
static void
come_back(enum grpcframe_codec codec, int level)
{
    static const size_t lens[] = {1, 87, 65536, 200000, 65537, 5};
    struct grpcframe_encoder *encoder;
    struct vector_buf body = {0};

    assert_int_equal(grpcframe_encoder_new(&encoder, codec, level), 0);
    for (int kind = PLAY_TEXT; kind <= PLAY_ZEROS; kind++) {
        for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
            struct vector_buf data = {0};

            play_make(&data, (enum play_data)kind, lens[i]);
            encode(encoder, &data, &body);
            expect_content(codec, &body, &data);
            vector_buf_clear(&data);
        }
    }
    vector_buf_clear(&body);
    grpcframe_encoder_free(encoder);
}

static void
test_every_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODECS; i++) {
        struct grpcframe_levels levels;

        assert_int_equal(grpcframe_encoder_levels(codecs[i], &levels), 0);
        assert_true(levels.low <= levels.usual);
        assert_true(levels.usual <= levels.high);
        for (int level = levels.low; level <= levels.high; level++) {
            come_back(codecs[i], level);
        }
    }
}

static void
test_no_such(void **state)
{
    static const enum grpcframe_codec none[] = {GRPCFRAME_CODEC_NONE,
                                                GRPCFRAME_CODEC_IDENTITY,
                                                GRPCFRAME_CODEC_UNKNOWN};
    struct grpcframe_encoder *encoder;
    struct grpcframe_levels levels;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(grpcframe_encoder_levels(none[i], &levels),
                         GRPCFRAME_ERR_INVALID);
        assert_int_equal(grpcframe_encoder_new(&encoder, none[i], 1),
                         GRPCFRAME_ERR_INVALID);
        assert_null(encoder);
    }
    for (size_t i = 0; i < CODECS; i++) {
        assert_int_equal(grpcframe_encoder_levels(codecs[i], &levels), 0);
        assert_int_equal(
            grpcframe_encoder_new(&encoder, codecs[i], levels.low - 1),
            GRPCFRAME_ERR_INVALID);
        assert_int_equal(
            grpcframe_encoder_new(&encoder, codecs[i], levels.high + 1),
            GRPCFRAME_ERR_INVALID);
    }
    grpcframe_encoder_free(NULL);
}

static void
test_no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODECS && vector_alloc_is_wrapped(); i++) {
        struct grpcframe_encoder *encoder;
        struct grpcframe_levels levels;
        uint64_t nth = 1;
        int failed;

        grpcframe_encoder_levels(codecs[i], &levels);
        do {
            int rv;

            vector_alloc_arm(nth++, VECTOR_ALLOC_FOR_GOOD);
            rv = grpcframe_encoder_new(&encoder, codecs[i], levels.usual);
            failed = vector_alloc_disarm();
            assert_int_equal(rv, failed ? GRPCFRAME_ERR_NOMEM : 0);
            assert_int_equal(encoder == NULL, failed);
            grpcframe_encoder_free(encoder);
        } while (failed);
        assert_true(nth > 2);
    }
}

/* What zlib writes for a stack that feeds it |step| bytes at a time and has
 * room for 1 KiB, as grpc-core and Java do. */
static void
zlib_stream(struct vector_buf *body, int wbits, int level,
            const struct vector_buf *data, size_t step)
{
    z_stream z = {0};
    int rv = Z_OK;

    body->len = 0;
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, wbits, 8,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    while (rv != Z_STREAM_END) {
        size_t left = data->len - (size_t)z.total_in;

        z.next_in = data->data + z.total_in;
        z.avail_in = (uInt)(left < step ? left : step);
        z.next_out = vector_buf_room(body, 1024);
        z.avail_out = 1024;
        rv = deflate(&z, left <= step ? Z_FINISH : Z_NO_FLUSH);
        body->len += 1024 - z.avail_out;
    }
    deflateEnd(&z);
}

static void
test_zlib_as_streamed(void **state)
{
    static const size_t steps[] = {1000, 16384, 1000000};
    struct vector_buf data = {0};
    struct vector_buf body = {0};
    struct vector_buf streamed = {0};

    (void)state;
    play_make(&data, PLAY_TEXT, 300000);
    for (int level = 1; level <= 9; level++) {
        struct grpcframe_encoder *encoder;

        assert_int_equal(
            grpcframe_encoder_new(&encoder, GRPCFRAME_CODEC_GZIP, level), 0);
        encode(encoder, &data, &body);
        for (size_t i = 0; i < 3; i++) {
            zlib_stream(&streamed, 15 + 16, level, &data, steps[i]);
            assert_int_equal(body.len, streamed.len);
            assert_memory_equal(body.data, streamed.data, body.len);
        }
        grpcframe_encoder_free(encoder);
    }
    vector_buf_clear(&data);
    vector_buf_clear(&body);
    vector_buf_clear(&streamed);
}

/* Snappy: a chunk that does not save an eighth goes plain. */
static void
test_snappy_plain(void **state)
{
    struct grpcframe_encoder *encoder;
    struct vector_buf data = {0};
    struct vector_buf body = {0};

    (void)state;
    play_make(&data, PLAY_RANDOM, 70000);
    assert_int_equal(
        grpcframe_encoder_new(&encoder, GRPCFRAME_CODEC_SNAPPY, 0), 0);
    encode(encoder, &data, &body);
    assert_int_equal(body.len, 10 + 2 * 8 + 70000);
    assert_int_equal(body.data[10], 1);
    data.len = 0;
    play_make(&data, PLAY_TEXT, 65536);
    encode(encoder, &data, &body);
    assert_int_equal(body.data[10], 0);
    assert_true(body.len < 10 + 8 + 65536 - 65536 / 8);
    vector_buf_clear(&data);
    vector_buf_clear(&body);
    grpcframe_encoder_free(encoder);
}

/* ---- Spans ----------------------------------------------------------- */

/* struct spans is what a reader showed. */
struct spans {
    /* all is every span, one behind the other. */
    struct vector_buf all;
    /* n_messages counts the ends, n_early those of which not all had been
     * shown before. */
    unsigned n_messages;
    unsigned n_early;
    /* before is all.len at the last end. */
    size_t before;
};

static void
on_span(const struct grpcframe_message *message, const uint8_t *data,
        size_t len, void *user)
{
    struct spans *spans = user;

    assert_int_equal(message->index, spans->n_messages);
    vector_buf_add(&spans->all, data, len);
}

static int
on_message(const struct grpcframe_message *message, void *user)
{
    struct spans *spans = user;

    spans->n_messages++;
    spans->n_early +=
        spans->all.len - spans->before != message->decoded_length;
    spans->before = spans->all.len;
    return 0;
}

static void
add_trailers(struct vector_buf *stream)
{
    vector_buf_be(stream, 0x80, 1);
    vector_buf_be(stream, 16, 4);
    vector_buf_text(stream, "grpc-status: 0\r\n");
}

static void
test_spans(void **state)
{
    struct vector_buf content = {0};
    struct vector_buf body = {0};
    struct vector_buf stream = {0};

    (void)state;
    play_make(&content, PLAY_TEXT, 20000);
    play_encode(&body, "gzip", &content);
    vector_buf_be(&stream, 1, 1);
    vector_buf_be(&stream, body.len, 4);
    vector_buf_add(&stream, body.data, body.len);
    vector_buf_be(&stream, 0, 1);
    vector_buf_be(&stream, content.len, 4);
    vector_buf_add(&stream, content.data, content.len);
    add_trailers(&stream);
    for (size_t step = 1; step <= stream.len; step = step * 7 + 1) {
        struct grpcframe_reader reader;
        struct spans spans = {0};

        grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_GZIP, 0,
                              on_message, &spans);
        grpcframe_reader_set_web(&reader, NULL);
        grpcframe_reader_set_span(&reader, on_span);
        for (size_t at = 0; at < stream.len; at += step) {
            size_t left = stream.len - at;

            grpcframe_reader_feed(&reader, stream.data + at,
                                  left < step ? left : step, at, 0);
        }
        assert_int_equal(spans.n_messages, 2);
        assert_int_equal(spans.n_early, 0);
        assert_int_equal(spans.all.len, 2 * content.len);
        assert_memory_equal(spans.all.data, content.data, content.len);
        assert_memory_equal(spans.all.data + content.len, content.data,
                            content.len);
        grpcframe_reader_clear(&reader);
        vector_buf_clear(&spans.all);
    }
    vector_buf_clear(&content);
    vector_buf_clear(&body);
    vector_buf_clear(&stream);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_level),
        cmocka_unit_test(test_no_such),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_zlib_as_streamed),
        cmocka_unit_test(test_snappy_plain),
        cmocka_unit_test(test_spans),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
