/* SPDX-License-Identifier: MIT */
/*
 * Content codings that cannot be undone: damage in any stage, bodies that are
 * something else or compressed twice, and the limits.  What can be undone is
 * in test_coding.c.
 */
#include <stdio.h>
#include <time.h>
#include <zlib.h>

#include "coding_rig.h"

/* ---- Faults ---------------------------------------------------------- */

/* Without its last byte, and with one more: in the stage where that is, which
 * is the last one when |inner| is a single coding. */
static void
expect_damage(const char *list, const char *inner, const char *outer,
              unsigned failed)
{
    struct vector_buf data = {0};
    struct vector_buf part;
    struct vector_buf body;
    struct found found;

    play_make(&data, PLAY_TEXT, 6000);
    part = encode(inner, &data);
    part.len--;
    body = encode(outer, &part);
    found = undo_in_cuts(list, CEILING, &body);
    assert_int_equal(found.result, GRPCFRAME_RESULT_TRUNCATED);
    assert_int_equal(found.failed, failed);
    assert_int_equal(found.offset, part.len);
    assert_false(found.is_other);
    vector_buf_clear(&found.output);
    vector_buf_clear(&body);
    part.len++;
    vector_buf_add(&part, "!", 1);
    body = encode(outer, &part);
    found = undo_in_cuts(list, CEILING, &body);
    assert_int_equal(found.result, GRPCFRAME_RESULT_TRAILING);
    assert_int_equal(found.failed, failed);
    assert_int_equal(found.offset, part.len - 1);
    if (strchr(inner, ' ') == NULL) {
        assert_int_equal(found.decoded, data.len);
    }
    assert_false(found.is_other);
    vector_buf_clear(&found.output);
    vector_buf_clear(&body);
    vector_buf_clear(&part);
    vector_buf_clear(&data);
}

static void
test_damage(void **state)
{
    (void)state;
    expect_damage("gzip", "gzip", "", 0);
    expect_damage("gzip, br", "gzip br", "", 0);
    expect_damage("gzip, br", "gzip", "br", 1);
    expect_damage("br, gzip", "br", "gzip", 1);
    expect_damage("zstd, gzip, br", "zstd gzip", "br", 1);
    expect_damage("deflate, gzip, br", "zlib", "gzip br", 2);
}

/* A wrong checksum far inside, found in its stage. */
static void
test_checksum(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf part;
    struct vector_buf body;
    struct found found;

    (void)state;
    play_make(&data, PLAY_TEXT, 30000);
    part = encode("gzip", &data);
    part.data[part.len - 8] ^= 1;
    body = encode("zstd", &part);
    found = undo_in_cuts("gzip, zstd", CEILING, &body);
    assert_int_equal(found.result, GRPCFRAME_RESULT_CHECKSUM);
    assert_int_equal(found.failed, 1);
    assert_int_equal(found.offset, part.len - 8);
    assert_false(found.is_other);
    vector_buf_clear(&found.output);
    vector_buf_clear(&body);
    vector_buf_clear(&part);
    vector_buf_clear(&data);
}

/* Any byte inverted: never a crash, always the same, and never taken for a
 * body of another kind once its first bytes are those of the coding. */
static void
test_flipped(void **state)
{
    static const char *const lists[] = {"gzip", "zstd", "gzip, zstd"};
    static const char *const encoders[] = {"gzip", "zstd_checksum",
                                           "gzip zstd"};
    struct vector_buf data = {0};

    (void)state;
    play_make(&data, PLAY_TEXT, 150);
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct vector_buf body = encode(encoders[i], &data);

        for (size_t at = 0; at < body.len; at++) {
            struct found found;

            body.data[at] ^= 0xff;
            found = undo_in_cuts(lists[i], CEILING, &body);
            body.data[at] ^= 0xff;
            if (at >= 4 && found.failed == 0) {
                assert_false(found.is_other);
            }
            if (at == 0) {
                assert_true(found.is_other);
            }
            vector_buf_clear(&found.output);
        }
        vector_buf_clear(&body);
    }
    vector_buf_clear(&data);
}

/* ---- Something other than its coding --------------------------------- */

static void
expect_other(const char *list, const struct vector_buf *body, unsigned failed)
{
    struct found found = undo_in_cuts(list, CEILING, body);

    if (found.result == GRPCFRAME_RESULT_OK || !found.is_other ||
        found.failed != failed) {
        fail_msg("%s with %.*s: result %d, stage %u", list, (int)body->len,
                 (const char *)body->data, found.result, found.failed);
    }
    vector_buf_clear(&found.output);
}

static void
test_other(void **state)
{
    static const char *const texts[] = {
        "a",         "ok",       "{\"a\": 1}", "[1, 2, 3]", "hello",
        "name,n\n1", "<p>hi</p>", "<!doctype html><title>Error</title>",
        "0",         "\r\n",     "%PDF-1.7\n", "#!/bin/sh\nexit 1\n",
        "\x89PNG\r\n\x1a\n\x01\x02\x03\x04IHDR",
    };
    static const char *const lists[] = {"gzip", "deflate", "br", "zstd"};

    (void)state;
    for (size_t i = 0; i < COUNT(texts) * COUNT(lists); i++) {
        const char *list = lists[i % COUNT(lists)];
        struct vector_buf body = {0};

        vector_buf_text(&body, texts[i / COUNT(lists)]);
        expect_other(list, &body, 0);
        for (int n = 0; n < 200; n++) {
            vector_buf_text(&body, texts[i / COUNT(lists)]);
        }
        expect_other(list, &body, 0);
        vector_buf_clear(&body);
    }
}

/* Each codec under the names of the others. */
static void
test_other_codec(void **state)
{
    static const char *const rows[][2] = {
        {"gzip", "br"},    {"gzip", "zlib"},   {"gzip", "zstd"},
        {"gzip", "rawdeflate"},
        {"zstd", "gzip"},  {"zstd", "br"},     {"zstd", "zlib"},
        {"br", "gzip"},    {"br", "zstd"},     {"deflate", "gzip"},
        {"deflate", "zstd"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct vector_buf data = {0};
        struct vector_buf body;
        struct vector_buf outer;
        char list[20];

        play_make(&data, PLAY_TEXT, 700);
        body = encode(rows[i][1], &data);
        expect_other(rows[i][0], &body, 0);
        /* The same below another coding. */
        outer = encode("gzip", &body);
        snprintf(list, sizeof(list), "%s, gzip", rows[i][0]);
        expect_other(list, &outer, 1);
        vector_buf_clear(&outer);
        vector_buf_clear(&body);
        vector_buf_clear(&data);
    }
}

static void
test_names(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf body;
    struct coding coding;

    (void)state;
    vector_buf_text(&data, "{\"error\": 1}");
    body = encode("gzip", &data);
    coding_open(&coding, pool, "br, gzip", 8, CEILING, NULL, NULL);
    coding_feed(&coding, body.data, body.len);
    assert_int_not_equal(coding_finish(&coding), GRPCFRAME_RESULT_OK);
    assert_string_equal(coding_name(&coding), "br");
    assert_string_equal(coding_magic(&coding), "json");
    coding_clear(&coding);
    vector_buf_clear(&body);
    vector_buf_clear(&data);
}

/* ---- Compressed twice ------------------------------------------------ */

static void
expect_double(const char *list, const char *encoders, size_t len, int expected)
{
    struct vector_buf data = {0};
    struct vector_buf body;
    struct found found;

    play_make(&data, PLAY_TEXT, len / 2);
    play_make(&data, PLAY_RANDOM, len - len / 2);
    body = encode(encoders, &data);
    found = undo_in_cuts(list, CEILING, &body);
    assert_int_equal(found.result, GRPCFRAME_RESULT_OK);
    if (found.is_double != expected) {
        fail_msg("%s with %s, %zu bytes", list, encoders, len);
    }
    vector_buf_clear(&found.output);
    vector_buf_clear(&body);
    vector_buf_clear(&data);
}

static void
test_double(void **state)
{
    static const size_t sizes[] = {1, 100, 4096, 5000, 60000};

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        expect_double("gzip", "gzip gzip", sizes[i], 1);
        expect_double("br", "br br", sizes[i], 1);
        expect_double("zstd", "zstd zstd", sizes[i], 1);
        expect_double("deflate", "zlib zlib", sizes[i], 1);
        expect_double("br", "gzip br", sizes[i], 1);
        expect_double("gzip", "zstd gzip", sizes[i], 1);
        expect_double("gzip, br", "gzip gzip br", sizes[i], 1);
        expect_double("gzip", "gzip", sizes[i], 0);
        expect_double("br", "br", sizes[i], 0);
        expect_double("gzip, gzip", "gzip gzip", sizes[i], 0);
        expect_double("br, br", "br br", sizes[i], 0);
    }
}

/* What only begins like something compressed is not. */
static void
test_looks_double(void **state)
{
    static const char *const lists[] = {"gzip", "zstd", "deflate"};
    static const char *const encoders[] = {"gzip", "zstd", "zlib"};
    static const char *const heads[] = {"\x1f\x8b is the magic of gzip",
                                        "\x28\xb5\x2f\xfd is that of zstd",
                                        "x^2 + 1 looks like zlib"};

    (void)state;
    for (size_t i = 0; i < COUNT(lists); i++) {
        for (size_t more = 0; more < 10000; more += 9000) {
            struct vector_buf data = {0};
            struct vector_buf body;

            vector_buf_text(&data, heads[i]);
            play_make(&data, PLAY_TEXT, more);
            body = encode(encoders[i], &data);
            expect_content(lists[i], &body, &data);
            vector_buf_clear(&body);
            vector_buf_clear(&data);
        }
    }
}

/* ---- Limits ---------------------------------------------------------- */

static void
test_ceiling(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf part;
    struct vector_buf body;
    struct found found;

    (void)state;
    play_make(&data, PLAY_RANDOM, 9000);
    play_make(&data, PLAY_ZEROS, 3000);
    part = encode("gzip", &data);
    body = encode("br", &part);
    for (uint64_t ceiling = 1; ceiling < data.len + 600; ceiling += 599) {
        found = undo_in_cuts("gzip, br", ceiling, &body);
        if (ceiling >= data.len) {
            assert_int_equal(found.result, GRPCFRAME_RESULT_OK);
            assert_int_equal(found.decoded, data.len);
        } else {
            assert_int_equal(found.result, GRPCFRAME_RESULT_LIMIT);
            assert_true(found.decoded <= ceiling);
        }
        if (ceiling + 4096 < part.len) {
            /* The first stage is at the ceiling well before the second. */
            assert_int_equal(found.failed, 0);
        } else if (ceiling >= part.len && ceiling < data.len) {
            assert_int_equal(found.failed, 1);
            assert_int_equal(found.decoded, ceiling);
        }
        vector_buf_clear(&found.output);
    }
    vector_buf_clear(&body);
    vector_buf_clear(&part);
    vector_buf_clear(&data);
}

/* 1 GiB of zeros, compressed twice, a piece at a time. */
static struct vector_buf
make_bomb(void)
{
    static const uint8_t zeros[1 << 16];
    struct vector_buf once = {0};
    struct vector_buf twice = {0};
    z_stream z = {.zalloc = NULL};

    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    for (size_t at = 0; at < 1u << 30; at += sizeof(zeros)) {
        size_t room = 1 << 16;

        z.next_in = (Bytef *)(uintptr_t)zeros;
        z.avail_in = sizeof(zeros);
        z.next_out = vector_buf_room(&once, room);
        z.avail_out = (uInt)room;
        assert_int_equal(
            deflate(&z, at + sizeof(zeros) < 1u << 30 ? Z_NO_FLUSH
                                                      : Z_FINISH) < 0,
            0);
        assert_int_equal(z.avail_in, 0);
        once.len += room - z.avail_out;
    }
    deflateEnd(&z);
    play_encode(&twice, "gzip", &once);
    vector_buf_clear(&once);
    return twice;
}

static int
count_output(const uint8_t *data, size_t len, void *user)
{
    uint64_t *count = user;

    (void)data;
    *count += len;
    return 0;
}

/* What 1 GiB behind |list| comes to with |ceiling|, in pieces of |step|. */
static uint64_t
blast(const struct vector_buf *body, const char *list, uint64_t ceiling,
      size_t step)
{
    uint64_t count = 0;
    struct coding coding;

    coding_open(&coding, pool, list, strlen(list), ceiling, count_output,
                &count);
    for (size_t at = 0; at < body->len; at += step) {
        coding_feed(&coding, body->data + at,
                    step < body->len - at ? step : body->len - at);
    }
    assert_int_equal(coding_finish(&coding), GRPCFRAME_RESULT_LIMIT);
    assert_int_equal(coding.failed, 1);
    assert_true(count <= coding.decoded_bytes);
    assert_true(grpcframe_pool_bytes(pool) < 8u << 20);
    coding_clear(&coding);
    return coding.decoded_bytes;
}

static void
test_bomb(void **state)
{
    struct vector_buf body = make_bomb();
    struct coding coding;
    clock_t begin = clock();
    uint64_t count;

    (void)state;
    assert_true(body.len < 100000);
    /* Labelled as what it is: each stage stops at the ceiling. */
    assert_int_equal(blast(&body, "gzip, gzip", CEILING, body.len), CEILING);
    /* Without one it is given up for its ratio, wherever it was cut. */
    count = blast(&body, "gzip, gzip", 0, body.len);
    assert_true(count >= GRPCFRAME_RATIO_FREE && count < 128u << 20);
    assert_int_equal(blast(&body, "gzip, gzip", 0, 1), count);
    /* Labelled once: what is below is not inflated, only recognised. */
    coding_open(&coding, pool, "gzip", 4, CEILING, NULL, NULL);
    coding_feed(&coding, body.data, body.len);
    assert_int_equal(coding_finish(&coding), GRPCFRAME_RESULT_OK);
    assert_true(coding.is_double);
    coding_clear(&coding);
    /* 64 MiB take a tenth of a second; all of it would be 20 times that. */
    assert_true(clock() - begin < 10 * CLOCKS_PER_SEC);
    vector_buf_clear(&body);
}

/* The limit of the pool is ours, not a fault of the body. */
static void
test_memory(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf body;
    size_t most = 0;

    (void)state;
    play_make(&data, PLAY_TEXT, 40000);
    body = encode("gzip br", &data);
    for (size_t bytes = 0; bytes < 400000; bytes += 10000) {
        struct grpcframe_pool *small;
        struct coding coding;
        enum grpcframe_result result;

        assert_int_equal(grpcframe_pool_new(&small, bytes), 0);
        coding_open(&coding, small, "gzip, br", 8, CEILING, NULL, NULL);
        coding_feed(&coding, body.data, body.len);
        result = coding_finish(&coding);
        assert_true(result == GRPCFRAME_RESULT_OK ||
                    result == GRPCFRAME_RESULT_MEMORY);
        if (result == GRPCFRAME_RESULT_OK) {
            assert_int_equal(coding.decoded_bytes, data.len);
            most = most == 0 ? bytes : most;
        } else {
            assert_int_equal(most, 0);
        }
        assert_true(grpcframe_pool_bytes(small) <= bytes);
        coding_clear(&coding);
        grpcframe_pool_free(small);
    }
    assert_true(most > 0);
    vector_buf_clear(&body);
    vector_buf_clear(&data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_other),
        cmocka_unit_test(test_other_codec),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_looks_double),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
