/* SPDX-License-Identifier: MIT */
/*
 * What each codec of grpcframe has of its own: members, headers, windows,
 * chunks, checksums.  What all do alike is in test_grpcframe_inflate.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

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

static int set_up(void **state)
{
    (void)state;
    return grpcframe_pool_new(&pool, GRPCFRAME_POOL_DEFAULT_BYTES);
}

static int tear_down(void **state)
{
    (void)state;
    grpcframe_pool_free(pool);
    return 0;
}

static void sample_make(struct sample *sample, const char *name, size_t len)
{
    memset(sample, 0, sizeof(*sample));
    play_make(&sample->data, PLAY_TEXT, len);
    play_encode(&sample->body, name, &sample->data);
}

static void sample_clear(struct sample *sample)
{
    vector_buf_clear(&sample->data);
    vector_buf_clear(&sample->body);
}

/* The byte |back| from the end (from 1) is wrong. */
static void expect_bad_byte(struct sample *sample, enum grpcframe_codec codec,
                            size_t back, enum grpcframe_result result,
                            uint64_t offset)
{
    sample->body.data[sample->body.len - back] ^= 0x10;
    play_expect(pool, codec, &sample->body, result, offset);
    sample->body.data[sample->body.len - back] ^= 0x10;
}

/* ---- gzip and deflate ------------------------------------------------ */

static void test_gzip_trailer(void **state)
{
    struct sample s;
    uint64_t len;

    (void)state;
    sample_make(&s, "gzip", 5000);
    len = s.body.len;
    for (size_t back = 1; back <= 4; back++)
        expect_bad_byte(&s, GRPCFRAME_CODEC_GZIP, back,
                        GRPCFRAME_RESULT_CHECKSUM, len - 4);
    for (size_t back = 5; back <= 8; back++)
        expect_bad_byte(&s, GRPCFRAME_CODEC_GZIP, back,
                        GRPCFRAME_RESULT_CHECKSUM, len - 8);
    sample_clear(&s);
}

static void test_gzip_members(void **state)
{
    struct sample s;
    size_t first;

    (void)state;
    sample_make(&s, "gzip", 3000);
    first = s.body.len;
    for (size_t i = 0; i < 40; i++) {
        struct vector_buf more = {0};

        play_make(&more, PLAY_RANDOM, i * 17);
        play_encode(&s.body, "gzip", &more);
        vector_buf_add(&s.data, more.data, more.len);
        vector_buf_clear(&more);
        if (i % 8 == 0)
            play_content(pool, GRPCFRAME_CODEC_GZIP, &s.body, &s.data);
    }
    play_content(pool, GRPCFRAME_CODEC_GZIP, &s.body, &s.data);
    /* The second member's magic number, method and reserved flags. */
    s.body.data[first] = 0x1e;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body,
                GRPCFRAME_RESULT_TRAILING, first);
    s.body.data[first] = 0x1f;
    s.body.data[first + 1] = 0;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body,
                GRPCFRAME_RESULT_TRAILING, first);
    s.body.data[first + 1] = 0x8b;
    s.body.data[first + 2] = 7;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_CORRUPT,
                first + 4);
    /* A magic number that the body ends in may have been one. */
    s.body.len = first + 1;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body,
                GRPCFRAME_RESULT_TRUNCATED, first + 1);
    s.body.len = first + 2;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body,
                GRPCFRAME_RESULT_TRUNCATED, first + 2);
    sample_clear(&s);
}

/* Members whose first bytes a step of the library cuts in two. */
static void test_gzip_member_at_step(void **state)
{
    unsigned n_tried = 0;

    (void)state;
    for (size_t pad = 4040; pad < 4100; pad++) {
        struct vector_buf body = {0};
        struct vector_buf data = {0};

        play_make(&data, PLAY_RANDOM, pad);
        play_encode(&body, "gzip", &data);
        if (body.len >= 4094 && body.len <= 4097) {
            play_encode(&body, "gzip", &data);
            play_make(&data, PLAY_RANDOM, pad);
            play_content(pool, GRPCFRAME_CODEC_GZIP, &body, &data);
            n_tried++;
        }
        vector_buf_clear(&body);
        vector_buf_clear(&data);
    }
    assert_int_equal(n_tried, 4);
}

static void gzip_with_header(struct vector_buf *out,
                             const struct vector_buf *data)
{
    uint8_t extra[300];
    uint8_t name[] = "a-name.json";
    uint8_t comment[] = "a comment";
    gz_header header = {.extra = extra,
                        .extra_len = sizeof(extra),
                        .name = name,
                        .comment = comment,
                        .hcrc = 1,
                        .os = 3};
    z_stream z;

    memset(extra, 0x1f, sizeof(extra));
    memset(&z, 0, sizeof(z));
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, 0), Z_OK);
    assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
    z.next_in = data->data;
    z.avail_in = (uInt)data->len;
    z.next_out = vector_buf_room(out, data->len + 1000);
    z.avail_out = (uInt)data->len + 1000;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->len += z.total_out;
    deflateEnd(&z);
}

static void test_gzip_header(void **state)
{
    struct sample s = {0};
    /* Behind 10 fixed bytes, length and extra field, name, comment. */
    size_t crc = 10 + 2 + 300 + 12 + 10;

    (void)state;
    play_make(&s.data, PLAY_TEXT, 500);
    gzip_with_header(&s.body, &s.data);
    play_content(pool, GRPCFRAME_CODEC_GZIP, &s.body, &s.data);
    for (size_t len = 1; len < s.body.len; len++) {
        struct vector_buf cut = {.data = s.body.data, .len = len};
        struct outcome outcome = {0};

        play_body(pool, GRPCFRAME_CODEC_GZIP, 0, cut.data, cut.len, &outcome);
        assert_int_equal(outcome.result, GRPCFRAME_RESULT_TRUNCATED);
        outcome_clear(&outcome);
    }
    s.body.data[crc] ^= 1;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body,
                GRPCFRAME_RESULT_CHECKSUM, crc);
    s.body.data[crc] ^= 1;
    s.body.data[3] |= 0x80; /* a reserved flag */
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_CORRUPT,
                4);
    sample_clear(&s);
}

static void test_gzip_wrong_magic(void **state)
{
    static const char *const bodies[] = {"\x1e\x8b\x08", "\x1f\x8c\x08", "x",
                                         "\x78\x9c\x03"};

    (void)state;
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct vector_buf body = {0};

        vector_buf_text(&body, bodies[i]);
        play_expect(pool, GRPCFRAME_CODEC_GZIP, &body,
                    GRPCFRAME_RESULT_CORRUPT, 0);
        vector_buf_clear(&body);
    }
}

static void test_deflate(void **state)
{
    struct sample s;

    (void)state;
    sample_make(&s, "zlib", 5000);
    for (size_t back = 1; back <= 4; back++)
        expect_bad_byte(&s, GRPCFRAME_CODEC_DEFLATE, back,
                        GRPCFRAME_RESULT_CHECKSUM, s.body.len - 4);
    /* A preset dictionary, which nobody has: the header stays a multiple of
     * 31, and its 4 bytes of identifier follow. */
    s.body.data[0] = 0x78;
    s.body.data[1] = 0xbb;
    play_expect(pool, GRPCFRAME_CODEC_DEFLATE, &s.body,
                GRPCFRAME_RESULT_CORRUPT, 6);
    sample_clear(&s);
    /* gzip is not deflate: taken for a raw stream it breaks. */
    sample_make(&s, "gzip", 5000);
    play_expect(pool, GRPCFRAME_CODEC_DEFLATE, &s.body,
                GRPCFRAME_RESULT_CORRUPT, 1);
    sample_clear(&s);
}

/* ---- br -------------------------------------------------------------- */

static void test_br(void **state)
{
    struct vector_buf body = {0};
    struct vector_buf nothing = {0};

    (void)state;
    /* Empty streams that announce windows of 16 bits and of 24. */
    vector_buf_add(&body, "\x06", 1);
    play_content(pool, GRPCFRAME_CODEC_BR, &body, &nothing);
    body.data[0] = 0x3f;
    play_content(pool, GRPCFRAME_CODEC_BR, &body, &nothing);
    /* The window size 0010001 stands for a "large window", which RFC 7932
     * does not know. */
    body.data[0] = 0x11;
    play_expect(pool, GRPCFRAME_CODEC_BR, &body, GRPCFRAME_RESULT_CORRUPT, 1);
    vector_buf_clear(&body);
}

/* ---- zstd ------------------------------------------------------------ */

/* Appends a frame of |data| in a window of 2^|log| bytes, whose size is not
 * stored. */
static void zstd_stream(struct vector_buf *out, const struct vector_buf *data,
                        int log)
{
    ZSTD_CCtx *cctx = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(data->len) + 1000;
    ZSTD_inBuffer in = {data->data, data->len, 0};
    ZSTD_outBuffer to = {vector_buf_room(out, room), room, 0};

    assert_non_null(cctx);
    ZSTD_CCtx_setParameter(cctx, ZSTD_c_windowLog, log);
    assert_false(
        ZSTD_isError(ZSTD_compressStream2(cctx, &to, &in, ZSTD_e_flush)));
    assert_int_equal(ZSTD_compressStream2(cctx, &to, &in, ZSTD_e_end), 0);
    out->len += to.pos;
    ZSTD_freeCCtx(cctx);
}

static void test_zstd_window(void **state)
{
    (void)state;
    for (int log = 10; log <= 27; log++) {
        struct sample s = {0};

        play_make(&s.data, PLAY_TEXT, 20000);
        zstd_stream(&s.body, &s.data, log);
        if (log <= GRPCFRAME_WINDOW_LOG_MAX)
            play_content(pool, GRPCFRAME_CODEC_ZSTD, &s.body, &s.data);
        else
            play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body,
                        GRPCFRAME_RESULT_MEMORY, 0);
        sample_clear(&s);
    }
}

static void skippable(struct vector_buf *out, unsigned kind, size_t len)
{
    vector_buf_le(out, 0x184d2a50u + kind, 4);
    vector_buf_le(out, len, 4);
    play_make(out, PLAY_RANDOM, len);
}

static void test_zstd_frames(void **state)
{
    struct sample s = {0};
    size_t len;

    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        struct vector_buf more = {0};

        skippable(&s.body, i, i * i * 20);
        play_make(&more, (enum play_data)(i % 3), i * 300);
        play_encode(&s.body, i % 2 == 0 ? "zstd" : "zstd_checksum", &more);
        vector_buf_add(&s.data, more.data, more.len);
        vector_buf_clear(&more);
    }
    play_content(pool, GRPCFRAME_CODEC_ZSTD, &s.body, &s.data);
    skippable(&s.body, 3, 0);
    play_content(pool, GRPCFRAME_CODEC_ZSTD, &s.body, &s.data);
    len = s.body.len;
    /* Half a skippable frame, half a magic number, half a header. */
    skippable(&s.body, 3, 10);
    s.body.len--;
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body,
                GRPCFRAME_RESULT_TRUNCATED, len + 17);
    s.body.len = len + 3;
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body,
                GRPCFRAME_RESULT_TRUNCATED, len + 3);
    s.body.data[len + 2] ^= 1;
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body,
                GRPCFRAME_RESULT_TRAILING, len);
    s.body.len = len;
    vector_buf_add(&s.body, "\x28\xb5\x2f\xfd\x20", 5);
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body,
                GRPCFRAME_RESULT_TRUNCATED, len + 5);
    sample_clear(&s);
}

static void test_zstd_faults(void **state)
{
    struct sample s;

    (void)state;
    sample_make(&s, "zstd_checksum", 5000);
    for (size_t back = 1; back <= 4; back++)
        expect_bad_byte(&s, GRPCFRAME_CODEC_ZSTD, back,
                        GRPCFRAME_RESULT_CHECKSUM, s.body.len - 4);
    /* The size stored, 256 less than a field of 2 bytes says, is one off. */
    s.body.data[5]++;
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_CORRUPT,
                10);
    s.body.data[5] -= 2;
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_CORRUPT,
                10);
    s.body.data[5]++;
    s.body.data[4] |= 8; /* a reserved bit */
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_CORRUPT,
                0);
    sample_clear(&s);
}

/* A dictionary, which nobody has; and the formats before RFC 8878. */
static void test_zstd_foreign(void **state)
{
    struct vector_buf body = {0};

    (void)state;
    /* One segment of 5 bytes, dictionary 7, one raw block. */
    vector_buf_add(&body, "\x28\xb5\x2f\xfd\x21\x07\x05\x29\x00\x00hello",
                   15);
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &body, GRPCFRAME_RESULT_CORRUPT,
                0);
    for (uint8_t version = 0x1e; version <= 0x27; version++) {
        body.data[0] = version;
        play_expect(pool, GRPCFRAME_CODEC_ZSTD, &body,
                    GRPCFRAME_RESULT_CORRUPT, 0);
    }
    vector_buf_clear(&body);
}

/* ---- snappy ---------------------------------------------------------- */

static void chunk(struct vector_buf *out, uint8_t type, const void *data,
                  size_t len)
{
    vector_buf_be(out, type, 1);
    vector_buf_le(out, len, 3);
    vector_buf_add(out, data, len);
}

/* An uncompressed chunk. */
static void plain_chunk(struct vector_buf *out, const struct vector_buf *data)
{
    uint32_t crc = vector_codec_crc32c(data->data, data->len);

    vector_buf_be(out, 1, 1);
    vector_buf_le(out, data->len + 4, 3);
    vector_buf_le(out, (crc >> 15 | crc << 17) + 0xa282ead8u, 4);
    vector_buf_add(out, data->data, data->len);
}

static void test_snappy_chunks(void **state)
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
    play_expect(pool, GRPCFRAME_CODEC_SNAPPY, &s.body,
                GRPCFRAME_RESULT_CORRUPT, at);
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

static void test_snappy_bad_chunks(void **state)
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

static void test_snappy_checksum(void **state)
{
    struct sample s;

    (void)state;
    sample_make(&s, "snappy", 100000);
    s.body.data[14] ^= 1;
    play_expect(pool, GRPCFRAME_CODEC_SNAPPY, &s.body,
                GRPCFRAME_RESULT_CHECKSUM, 10);
    sample_clear(&s);
}

static void test_snappy_block(void **state)
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
        {"\x03\x08" "abc", 5, GRPCFRAME_RESULT_OK, 5, 3},
        {"\x03\x04" "ab\x00" "c", 6, GRPCFRAME_RESULT_OK, 6, 3},
        {"\x03\x0c" "abcd", 6, GRPCFRAME_RESULT_CORRUPT, 1, 0},
        {"\x03\xf0\x02" "abc", 6, GRPCFRAME_RESULT_OK, 6, 3},
        {"\x03\xf4\x02\0" "abc", 7, GRPCFRAME_RESULT_OK, 7, 3},
        {"\x03\xf8\x02\0\0" "abc", 8, GRPCFRAME_RESULT_OK, 8, 3},
        {"\x03\xfc\x02\0\0\0" "abc", 9, GRPCFRAME_RESULT_OK, 9, 3},
        {"\x03\xfc\xff\xff\xff\xff" "abc", 9, GRPCFRAME_RESULT_CORRUPT, 1, 0},
        {"\x05\x00" "a\x01\x01", 5, GRPCFRAME_RESULT_OK, 5, 5},
        {"\x05\x00" "a\x01\x00", 5, GRPCFRAME_RESULT_CORRUPT, 3, 1},
        {"\x05\x00" "a\x01\x02", 5, GRPCFRAME_RESULT_CORRUPT, 3, 1},
        {"\x04\x00" "a\x01\x01", 5, GRPCFRAME_RESULT_CORRUPT, 3, 1},
        {"\x41\x00" "a\xfe\x01\0", 6, GRPCFRAME_RESULT_OK, 6, 65},
        {"\x41\x00" "a\xff\x01\0\0\0", 8, GRPCFRAME_RESULT_OK, 8, 65},
        {"\x41\x00" "a\xff\x01\0\0\1", 8, GRPCFRAME_RESULT_CORRUPT, 3, 1},
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

/* A copy from further back than 64 KiB is sound, but only counted. */
static void test_snappy_far_copy(void **state)
{
    struct vector_buf body = {0};
    struct grpcframe_decoder *decoder;
    uint32_t distance = 65537;

    (void)state;
    vector_buf_add(&body, "\x85\x80\x04", 3); /* 65,541 */
    vector_buf_add(&body, "\xf4\x00\x00x", 4);
    vector_buf_add(&body, "\xf4\xff\xff", 3);
    play_make(&body, PLAY_RANDOM, 65536);
    vector_buf_be(&body, 3 << 2 | 3, 1);
    vector_buf_le(&body, distance, 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip_trailer),
        cmocka_unit_test(test_gzip_members),
        cmocka_unit_test(test_gzip_member_at_step),
        cmocka_unit_test(test_gzip_header),
        cmocka_unit_test(test_gzip_wrong_magic),
        cmocka_unit_test(test_deflate),
        cmocka_unit_test(test_br),
        cmocka_unit_test(test_zstd_window),
        cmocka_unit_test(test_zstd_frames),
        cmocka_unit_test(test_zstd_faults),
        cmocka_unit_test(test_zstd_foreign),
        cmocka_unit_test(test_snappy_chunks),
        cmocka_unit_test(test_snappy_bad_chunks),
        cmocka_unit_test(test_snappy_checksum),
        cmocka_unit_test(test_snappy_block),
        cmocka_unit_test(test_snappy_far_copy),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
