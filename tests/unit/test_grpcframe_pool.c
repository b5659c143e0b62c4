/* SPDX-License-Identifier: MIT */
/*
 * The memory of grpcframe: what a pool counts, where it stops, what it keeps,
 * and what happens when malloc fails.  To see into libzstd, too, the program
 * must be linked with its archive and with --wrap for malloc, calloc, realloc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "../vector_alloc.h"
#include "grpcframe_play.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define KIB 1024u
#define MIB (1024u * KIB)

static const char *const encoders[] = {
    "gzip", "zlib",          "rawdeflate", "br",
    "zstd", "zstd_checksum", "snappy",     "snappy_block",
};

/* Inflates |body| and returns the result; MEMORY when there is no decoder. */
static enum grpcframe_result
inflate_body(struct grpcframe_pool *pool, enum grpcframe_codec codec,
             const struct vector_buf *body, uint64_t *length)
{
    struct grpcframe_decoder *decoder =
        grpcframe_decoder_get(pool, codec, 0, NULL, NULL);
    enum grpcframe_result result;

    *length = 0;
    if (decoder == NULL)
        return GRPCFRAME_RESULT_MEMORY;
    grpcframe_decoder_feed(decoder, body->data, body->len);
    result = grpcframe_decoder_finish(decoder);
    *length = grpcframe_decoder_length(decoder);
    grpcframe_decoder_put(decoder);
    return result;
}

static void
test_no_decoder(void **state)
{
    static const enum grpcframe_codec codecs[] = {GRPCFRAME_CODEC_NONE,
                                                  GRPCFRAME_CODEC_IDENTITY,
                                                  GRPCFRAME_CODEC_UNKNOWN};
    struct grpcframe_pool *pool;

    (void)state;
    assert_int_equal(grpcframe_pool_new(&pool, MIB), 0);
    for (size_t i = 0; i < COUNT(codecs); i++)
        assert_null(grpcframe_decoder_get(pool, codecs[i], 0, NULL, NULL));
    assert_int_equal(grpcframe_pool_bytes(pool), 0);
    grpcframe_decoder_put(NULL);
    grpcframe_pool_free(pool);
    grpcframe_pool_free(NULL);
}

/* Every ceiling of memory from nothing to enough: never more is used, and the
 * result is either good or MEMORY. */
static void
test_small_pools(void **state)
{
    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct vector_buf data = {0};
        struct vector_buf body = {0};
        size_t max = 0;
        int good = 0;

        play_make(&data, PLAY_TEXT, 150000);
        play_encode(&body, encoders[e], &data);
        for (; max < 4 * MIB && !good; max += max / 16 + 500) {
            struct grpcframe_pool *pool;
            enum grpcframe_result result;
            uint64_t length;

            assert_int_equal(grpcframe_pool_new(&pool, max), 0);
            result =
                inflate_body(pool, play_codec(encoders[e]), &body, &length);
            good = result == GRPCFRAME_RESULT_OK;
            if (good)
                assert_int_equal(length, data.len);
            else
                assert_int_equal(result, GRPCFRAME_RESULT_MEMORY);
            assert_true(grpcframe_pool_bytes(pool) <= max);
            grpcframe_pool_free(pool);
        }
        assert_true(good);
        assert_true(max > 4 * KIB);
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

/* The count goes up with each decoder in use, stays with 8 idle ones of a
 * kind, and never runs away. */
static void
test_idle_bound(void **state)
{
    struct grpcframe_decoder *decoders[24];
    struct grpcframe_pool *pool;

    (void)state;
    for (size_t e = 0; e < COUNT(encoders); e++) {
        size_t before = 0;
        size_t idle = 0;

        assert_int_equal(grpcframe_pool_new(&pool, 64 * MIB), 0);
        for (size_t i = 0; i < COUNT(decoders); i++) {
            decoders[i] = grpcframe_decoder_get(pool, play_codec(encoders[e]),
                                                0, NULL, NULL);
            assert_non_null(decoders[i]);
            assert_true(grpcframe_pool_bytes(pool) > before + 4 * KIB);
            before = grpcframe_pool_bytes(pool);
        }
        for (size_t i = 0; i < COUNT(decoders); i++) {
            grpcframe_decoder_put(decoders[i]);
            if (i == 7)
                idle = before - grpcframe_pool_bytes(pool);
        }
        /* 24 were in use, 8 are idle; br keeps less of each. */
        assert_true(grpcframe_pool_bytes(pool) <= before / 3);
        assert_true(idle < before / 3);
        assert_true(grpcframe_pool_bytes(pool) > 8 * 4 * KIB);
        grpcframe_pool_free(pool);
    }
}

/* Idle decoders make room for those of another codec. */
static void
test_idle_makes_room(void **state)
{
    struct grpcframe_pool *pool;

    (void)state;
    assert_int_equal(grpcframe_pool_new(&pool, 600 * KIB), 0);
    for (size_t round = 0; round < 3; round++) {
        for (size_t e = 0; e < COUNT(encoders); e++) {
            struct vector_buf data = {0};
            struct vector_buf body = {0};
            uint64_t length;

            play_make(&data, PLAY_TEXT, 20000);
            play_encode(&body, encoders[e], &data);
            assert_int_equal(
                inflate_body(pool, play_codec(encoders[e]), &body, &length),
                GRPCFRAME_RESULT_OK);
            assert_int_equal(length, data.len);
            assert_true(grpcframe_pool_bytes(pool) <= 600 * KIB);
            vector_buf_clear(&data);
            vector_buf_clear(&body);
        }
    }
    grpcframe_pool_free(pool);
}

/* A pool that one body fills has nothing for a second, until it ends. */
static void
test_pool_is_shared(void **state)
{
    struct grpcframe_decoder *decoders[64];
    struct grpcframe_decoder *last;
    struct grpcframe_pool *pool;
    size_t n = 0;

    (void)state;
    assert_int_equal(grpcframe_pool_new(&pool, 200 * KIB), 0);
    do {
        last = grpcframe_decoder_get(pool, GRPCFRAME_CODEC_GZIP, 0, NULL, NULL);
        if (last != NULL)
            decoders[n++] = last;
    } while (last != NULL && n < COUNT(decoders));
    assert_true(n > 2 && n < COUNT(decoders));
    grpcframe_decoder_put(decoders[--n]);
    last = grpcframe_decoder_get(pool, GRPCFRAME_CODEC_DEFLATE, 0, NULL, NULL);
    assert_non_null(last);
    grpcframe_decoder_put(last);
    while (n > 0)
        grpcframe_decoder_put(decoders[--n]);
    grpcframe_pool_free(pool);
}

/* A window too large for the pool costs that body alone: the next one has a
 * decoder again. */
static void
test_window_too_large(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf large = {0};
    struct vector_buf small = {0};
    struct grpcframe_pool *pool;
    uint64_t length;

    (void)state;
    play_make(&data, PLAY_TEXT, 500000);
    play_encode(&large, "zstd", &data);
    data.len = 1000;
    play_encode(&small, "zstd", &data);
    assert_int_equal(grpcframe_pool_new(&pool, 400 * KIB), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            inflate_body(pool, GRPCFRAME_CODEC_ZSTD, &large, &length),
            GRPCFRAME_RESULT_MEMORY);
        assert_int_equal(length, 0);
        assert_int_equal(
            inflate_body(pool, GRPCFRAME_CODEC_ZSTD, &small, &length),
            GRPCFRAME_RESULT_OK);
        assert_int_equal(length, 1000);
        assert_true(grpcframe_pool_bytes(pool) <= 400 * KIB);
    }
    grpcframe_pool_free(pool);
    vector_buf_clear(&data);
    vector_buf_clear(&large);
    vector_buf_clear(&small);
}

/* struct sink counts what comes out, and the most memory meanwhile. */
struct sink {
    /* pool is the one to watch. */
    struct grpcframe_pool *pool;
    /* bytes counts what came out. */
    uint64_t bytes;
    /* peak is the most that the pool used. */
    size_t peak;
};

static int
sink_output(const uint8_t *data, size_t len, void *user)
{
    struct sink *sink = user;

    (void)data;
    sink->bytes += len;
    if (grpcframe_pool_bytes(sink->pool) > sink->peak)
        sink->peak = grpcframe_pool_bytes(sink->pool);
    return 0;
}

/* 64 MiB of zeros a body take no more memory than a window. */
static void
test_large_body(void **state)
{
    static const struct {
        const char *name;
        size_t peak;
    } rows[] = {
        {"gzip", 64 * KIB},          {"br", 2 * MIB},
        {"zstd", 9 * MIB},           {"snappy", 128 * KIB},
        {"snappy_block", 128 * KIB},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct vector_buf data = {0};
        struct vector_buf body = {0};
        struct sink sink = {0};
        struct grpcframe_decoder *decoder;

        play_make(&data, PLAY_ZEROS, 64 * MIB);
        play_encode(&body, rows[i].name, &data);
        assert_int_equal(grpcframe_pool_new(&sink.pool, 16 * MIB), 0);
        decoder = grpcframe_decoder_get(sink.pool, play_codec(rows[i].name), 0,
                                        sink_output, &sink);
        grpcframe_decoder_feed(decoder, body.data, body.len);
        assert_int_equal(grpcframe_decoder_finish(decoder),
                         GRPCFRAME_RESULT_OK);
        assert_int_equal(sink.bytes, data.len);
        assert_int_equal(grpcframe_decoder_length(decoder), data.len);
        assert_true(sink.peak > 0 && sink.peak <= rows[i].peak);
        grpcframe_decoder_put(decoder);
        grpcframe_pool_free(sink.pool);
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

/* Messages of a size take no allocation once libzstd has got used to the
 * size: after 128 frames it gives back buffers that are far too large. */
static void
test_steady_state(void **state)
{
    static const char *const names[] = {"gzip", "zlib", "zstd", "zstd_checksum",
                                        "snappy"};
    static const size_t sizes[] = {100, 10240, 300000};
    struct grpcframe_pool *pool;

    (void)state;
    assert_true(vector_alloc_is_wrapped());
    assert_int_equal(grpcframe_pool_new(&pool, 64 * MIB), 0);
    for (size_t i = 0; i < COUNT(names) * COUNT(sizes); i++) {
        const char *name = names[i / COUNT(sizes)];
        struct vector_buf data = {0};
        struct vector_buf body = {0};
        uint64_t length;

        play_make(&data, PLAY_TEXT, sizes[i % COUNT(sizes)]);
        play_encode(&body, name, &data);
        for (int n = 0; n < 200; n++)
            inflate_body(pool, play_codec(name), &body, &length);
        vector_alloc_arm(1, VECTOR_ALLOC_FOR_GOOD);
        for (int n = 0; n < 200; n++) {
            assert_int_equal(
                inflate_body(pool, play_codec(name), &body, &length),
                GRPCFRAME_RESULT_OK);
            assert_int_equal(length, data.len);
        }
        assert_int_equal(vector_alloc_disarm(), 0);
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
    grpcframe_pool_free(pool);
}

/* One run with the Nth allocation failing.  Returns 0 when there was no Nth
 * allocation. */
static int
fail_nth(uint64_t nth, enum vector_alloc_mode mode, const char *name,
         const struct vector_buf *data, const struct vector_buf *body)
{
    struct grpcframe_pool *pool;
    enum grpcframe_result result;
    uint64_t length;
    int failed;

    vector_alloc_arm(nth, mode);
    if (grpcframe_pool_new(&pool, 64 * MIB) != 0) {
        assert_null(pool);
        return vector_alloc_disarm();
    }
    result = inflate_body(pool, play_codec(name), body, &length);
    failed = vector_alloc_disarm();
    if (result == GRPCFRAME_RESULT_OK)
        assert_int_equal(length, data->len);
    else
        assert_int_equal(result, GRPCFRAME_RESULT_MEMORY);
    /* The next body does not suffer. */
    assert_int_equal(inflate_body(pool, play_codec(name), body, &length),
                     GRPCFRAME_RESULT_OK);
    assert_int_equal(length, data->len);
    grpcframe_pool_free(pool);
    return failed;
}

static void
test_failing_malloc(void **state)
{
    (void)state;
    assert_true(vector_alloc_is_wrapped());
    for (size_t e = 0; e < COUNT(encoders); e++) {
        struct vector_buf data = {0};
        struct vector_buf body = {0};
        uint64_t nth = 1;

        play_make(&data, PLAY_TEXT, 150000);
        play_encode(&body, encoders[e], &data);
        while (fail_nth(nth, VECTOR_ALLOC_ONCE, encoders[e], &data, &body))
            nth++;
        /* The pool and the decoder at the least. */
        assert_true(nth > 2);
        for (nth = 1;
             fail_nth(nth, VECTOR_ALLOC_FOR_GOOD, encoders[e], &data, &body);
             nth++)
            continue;
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

/* struct nest is a body inside bodies, and where it gets to. */
struct nest {
    /* pool serves every level. */
    struct grpcframe_pool *pool;
    /* inner (may be NULL) is fed with what comes out. */
    struct grpcframe_decoder *inner;
    /* output gathers it where there is no inner one. */
    struct vector_buf output;
};

static int
nest_output(const uint8_t *data, size_t len, void *user)
{
    struct nest *nest = user;

    if (nest->inner != NULL)
        grpcframe_decoder_feed(nest->inner, data, len);
    else
        vector_buf_add(&nest->output, data, len);
    return 0;
}

/* Bodies inside bodies, inflated by decoders of one pool: all in the output
 * callbacks of the outer ones. */
static void
nested(size_t depth, enum grpcframe_result result)
{
    struct nest nests[8] = {{0}};
    struct vector_buf data = {0};
    struct vector_buf body = {0};
    struct grpcframe_pool *pool;
    struct grpcframe_decoder *outer = NULL;

    play_make(&data, PLAY_TEXT, 200000);
    play_make(&data, PLAY_RANDOM, 200000);
    vector_buf_add(&body, data.data, data.len);
    assert_int_equal(grpcframe_pool_new(&pool, 64 * MIB), 0);
    for (size_t i = 0; i < depth; i++) {
        struct vector_buf coded = {0};

        play_encode(&coded, encoders[i], &body);
        vector_buf_clear(&body);
        body = coded;
        nests[i].inner = outer;
        outer = grpcframe_decoder_get(pool, play_codec(encoders[i]), 0,
                                      nest_output, &nests[i]);
    }
    grpcframe_decoder_feed(outer, body.data, body.len);
    assert_int_equal(grpcframe_decoder_finish(outer), GRPCFRAME_RESULT_OK);
    for (size_t i = depth; i-- > 0; outer = nests[i].inner) {
        assert_int_equal(grpcframe_decoder_finish(outer),
                         i == 0 ? result : GRPCFRAME_RESULT_OK);
        grpcframe_decoder_put(outer);
    }
    if (result == GRPCFRAME_RESULT_OK) {
        assert_int_equal(nests[0].output.len, data.len);
        assert_memory_equal(nests[0].output.data, data.data, data.len);
    }
    vector_buf_clear(&nests[0].output);
    vector_buf_clear(&data);
    vector_buf_clear(&body);
    grpcframe_pool_free(pool);
}

static void
test_nested(void **state)
{
    (void)state;
    nested(2, GRPCFRAME_RESULT_OK);
    nested(4, GRPCFRAME_RESULT_OK);
    nested(5, GRPCFRAME_RESULT_MEMORY);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_decoder),
        cmocka_unit_test(test_small_pools),
        cmocka_unit_test(test_idle_bound),
        cmocka_unit_test(test_idle_makes_room),
        cmocka_unit_test(test_pool_is_shared),
        cmocka_unit_test(test_window_too_large),
        cmocka_unit_test(test_large_body),
        cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_failing_malloc),
        cmocka_unit_test(test_nested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
