/* SPDX-License-Identifier: MIT */
/*
 * What all codecs of grpcframe must do alike: give back what was compressed,
 * and a clean, cut-independent result for every truncation, every flipped
 * byte, trailing bytes, and every ceiling.  What each codec has of its own is
 * in test_grpcframe_codec.c, memory in test_grpcframe_pool.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "grpcframe_play.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const encoders[] = {
    "gzip", "zlib",          "rawdeflate", "br",
    "zstd", "zstd_checksum", "snappy",     "snappy_block",
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

static enum grpcframe_form
form_of(const char *name)
{
    if (strcmp(name, "rawdeflate") == 0)
        return GRPCFRAME_FORM_RAW_DEFLATE;
    if (strcmp(name, "snappy_block") == 0)
        return GRPCFRAME_FORM_SNAPPY_BLOCK;
    return GRPCFRAME_FORM_REGULAR;
}

static void
test_content(void **state)
{
    static const size_t sizes[] = {0,    1,     100,   4095,  4096,
                                   4097, 10240, 65536, 200000};

    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        for (size_t i = 0; i < COUNT(sizes) * 3; i++) {
            struct vector_buf data = {0};
            struct vector_buf body = {0};

            play_make(&data, (enum play_data)(i % 3), sizes[i / 3]);
            play_encode(&body, encoders[e], &data);
            play_content(pool, play_codec(encoders[e]), &body, &data);
            vector_buf_clear(&data);
            vector_buf_clear(&body);
        }
    }
}

static void
test_form(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct vector_buf data = {0};
        struct vector_buf body = {0};
        struct outcome outcome;

        play_make(&data, PLAY_TEXT, 300);
        play_encode(&body, encoders[e], &data);
        play_body(pool, play_codec(encoders[e]), 0, body.data, body.len,
                  &outcome);
        assert_int_equal(outcome.form, form_of(encoders[e]));
        outcome_clear(&outcome);
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

/* No bytes are no bytes in any codec. */
static void
test_empty(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct outcome outcome;

        play_body(pool, play_codec(encoders[e]), 0, NULL, 0, &outcome);
        assert_int_equal(outcome.result, GRPCFRAME_RESULT_OK);
        assert_int_equal(outcome.length, 0);
        outcome_clear(&outcome);
    }
}

/* Every shorter body is TRUNCATED, at its length. */
static void
test_truncated(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct vector_buf data = {0};
        struct vector_buf body = {0};

        play_make(&data, PLAY_TEXT, 400);
        play_encode(&body, encoders[e], &data);
        /* A framed body may well end between two chunks. */
        if (strcmp(encoders[e], "snappy") == 0)
            vector_buf_add(&body, "\xff\x06\x00\x00sNaPpY", 10);
        for (size_t len = body.len - 1; len > 0; len--) {
            struct vector_buf cut = {.data = body.data, .len = len};

            if (strcmp(encoders[e], "snappy") == 0 &&
                (len == 10 || len == body.len - 10))
                continue;
            play_expect(pool, play_codec(encoders[e]), &cut,
                        GRPCFRAME_RESULT_TRUNCATED, len);
        }
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

static int
is_begin_of_content(const struct outcome *outcome,
                    const struct vector_buf *content)
{
    return outcome->output.len <= content->len &&
           (outcome->output.len == 0 ||
            memcmp(outcome->output.data, content->data, outcome->output.len) ==
                0);
}

/* Whether a fault in any byte must be found.  Without a checksum it may decode
 * to something else; and the framing of snappy, which has one, may turn a
 * chunk into one to skip. */
static int
has_checksum(const char *name)
{
    return strcmp(name, "gzip") == 0 || strcmp(name, "zlib") == 0 ||
           strcmp(name, "zstd_checksum") == 0;
}

/* Each bit of a body flipped: no crash, the same in every cut, and a good
 * result only with the right content (gzip has a few bytes of header, and
 * zstd an unused bit, that do not matter). */
static void
test_flipped(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct vector_buf data = {0};
        struct vector_buf body = {0};

        play_make(&data, PLAY_TEXT, 130);
        play_make(&data, PLAY_RANDOM, 20);
        play_encode(&body, encoders[e], &data);
        for (size_t bit = 0; bit < body.len * 8; bit++) {
            uint8_t mask = (uint8_t)(1u << bit % 8);
            struct outcome outcome;

            body.data[bit / 8] ^= mask;
            play_body(pool, play_codec(encoders[e]), 0, body.data, body.len,
                      &outcome);
            body.data[bit / 8] ^= mask;
            if (outcome.result == GRPCFRAME_RESULT_OK &&
                has_checksum(encoders[e])) {
                assert_int_equal(outcome.length, data.len);
                assert_true(is_begin_of_content(&outcome, &data));
            }
            assert_true(outcome.offset <= body.len);
            outcome_clear(&outcome);
        }
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

static void
test_trailing(void **state)
{
    static const size_t sizes[] = {200, 9000};

    (void)state;
    for (size_t i = 0; i < COUNT(encoders) * COUNT(sizes); i++) {
        const char *name = encoders[i / COUNT(sizes)];
        struct vector_buf data = {0};
        struct vector_buf body = {0};
        size_t len;

        /* To the framing of snappy, further bytes are a chunk. */
        if (strcmp(name, "snappy") == 0)
            continue;
        play_make(&data, PLAY_TEXT, sizes[i % COUNT(sizes)]);
        play_encode(&body, name, &data);
        len = body.len;
        vector_buf_add(&body, "\0", 1);
        play_expect(pool, play_codec(name), &body, GRPCFRAME_RESULT_TRAILING,
                    len);
        play_make(&body, PLAY_RANDOM, 5000);
        play_expect(pool, play_codec(name), &body, GRPCFRAME_RESULT_TRAILING,
                    len);
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

/* Bytes that no codec wrote. */
static void
test_garbage(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct vector_buf body = {0};
        struct outcome outcome;

        vector_buf_text(&body, "{\"error\": \"this is not compressed\"}");
        play_body(pool, play_codec(encoders[e]), 0, body.data, body.len,
                  &outcome);
        assert_true(outcome.result == GRPCFRAME_RESULT_CORRUPT ||
                    outcome.result == GRPCFRAME_RESULT_TRUNCATED);
        outcome_clear(&outcome);
        vector_buf_clear(&body);
    }
}

/* At every ceiling from 1 to past the length. */
static void
ceiling_sweep(const char *name, const struct vector_buf *data,
              const struct vector_buf *body, uint64_t from, uint64_t step)
{
    for (uint64_t ceiling = from; ceiling <= data->len + 2; ceiling += step) {
        struct outcome outcome;

        play_body(pool, play_codec(name), ceiling, body->data, body->len,
                  &outcome);
        if (ceiling >= data->len) {
            assert_int_equal(outcome.result, GRPCFRAME_RESULT_OK);
            assert_int_equal(outcome.length, data->len);
        } else {
            assert_int_equal(outcome.result, GRPCFRAME_RESULT_LIMIT);
            assert_int_equal(outcome.length, ceiling);
        }
        assert_int_equal(outcome.output.len, outcome.length);
        assert_true(is_begin_of_content(&outcome, data));
        outcome_clear(&outcome);
    }
}

static void
test_ceiling(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct vector_buf data = {0};
        struct vector_buf body = {0};

        play_make(&data, PLAY_TEXT, 60);
        play_make(&data, PLAY_RANDOM, 20);
        play_make(&data, PLAY_ZEROS, 20);
        play_encode(&body, encoders[e], &data);
        ceiling_sweep(encoders[e], &data, &body, 1, 1);
        play_make(&data, PLAY_TEXT, 299900);
        body.len = 0;
        play_encode(&body, encoders[e], &data);
        ceiling_sweep(encoders[e], &data, &body, 65535, 65536);
        ceiling_sweep(encoders[e], &data, &body, data.len - 1, 1);
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

static int
stop_after_two(const uint8_t *data, size_t len, void *user)
{
    int *calls = user;

    assert_true(len > 0);
    assert_non_null(data);
    return ++*calls == 2;
}

/* A callback that wants no more is called no more. */
static void
test_output_stops(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct vector_buf data = {0};
        struct vector_buf body = {0};
        struct grpcframe_decoder *decoder;
        int calls = 0;

        play_make(&data, PLAY_TEXT, 300000);
        play_encode(&body, encoders[e], &data);
        decoder = grpcframe_decoder_get(pool, play_codec(encoders[e]), 0,
                                        stop_after_two, &calls);
        assert_int_equal(grpcframe_decoder_feed(decoder, body.data, body.len),
                         GRPCFRAME_RESULT_LIMIT);
        assert_int_equal(grpcframe_decoder_finish(decoder),
                         GRPCFRAME_RESULT_LIMIT);
        assert_int_equal(calls, 2);
        assert_true(grpcframe_decoder_length(decoder) < data.len);
        grpcframe_decoder_put(decoder);
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content),      cmocka_unit_test(test_form),
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),      cmocka_unit_test(test_trailing),
        cmocka_unit_test(test_garbage),      cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_output_stops),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
