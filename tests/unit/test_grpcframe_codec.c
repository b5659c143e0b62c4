/* SPDX-License-Identifier: MIT */
/*
 * What gzip, deflate, br and zstd in grpcframe have of their own: members,
 * headers, windows, checksums.  snappy is in test_grpcframe_snappy.c, what all
 * do alike in test_grpcframe_inflate.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <zlib.h>
#include <zstd.h>

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

/* The byte |back| from the end (from 1) is wrong. */
static void
expect_bad_byte(struct sample *sample, enum grpcframe_codec codec, size_t back,
                enum grpcframe_result result, uint64_t offset)
{
    sample->body.data[sample->body.len - back] ^= 0x10;
    play_expect(pool, codec, &sample->body, result, offset);
    sample->body.data[sample->body.len - back] ^= 0x10;
}

/* ---- gzip and deflate ------------------------------------------------ */

static void
test_gzip_trailer(void **state)
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

static void
test_gzip_members(void **state)
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
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_TRAILING,
                first);
    s.body.data[first] = 0x1f;
    s.body.data[first + 1] = 0;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_TRAILING,
                first);
    s.body.data[first + 1] = 0x8b;
    s.body.data[first + 2] = 7;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_CORRUPT,
                first + 4);
    /* A magic number that the body ends in may have been one. */
    s.body.len = first + 1;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_TRUNCATED,
                first + 1);
    s.body.len = first + 2;
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_TRUNCATED,
                first + 2);
    sample_clear(&s);
}

/* Members whose first bytes a step of the library cuts in two. */
static void
test_gzip_member_at_step(void **state)
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

static void
gzip_with_header(struct vector_buf *out, const struct vector_buf *data)
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

static void
test_gzip_header(void **state)
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
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_CHECKSUM,
                crc);
    s.body.data[crc] ^= 1;
    s.body.data[3] |= 0x80; /* a reserved flag */
    play_expect(pool, GRPCFRAME_CODEC_GZIP, &s.body, GRPCFRAME_RESULT_CORRUPT,
                4);
    sample_clear(&s);
}

static void
test_gzip_wrong_magic(void **state)
{
    static const char *const bodies[] = {"\x1e\x8b\x08", "\x1f\x8c\x08", "x",
                                         "\x78\x9c\x03"};

    (void)state;
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct vector_buf body = {0};

        vector_buf_text(&body, bodies[i]);
        play_expect(pool, GRPCFRAME_CODEC_GZIP, &body, GRPCFRAME_RESULT_CORRUPT,
                    0);
        vector_buf_clear(&body);
    }
}

static void
test_deflate(void **state)
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

/* ---- Steps ------------------------------------------------------------ */

/* Bodies that end where a step of the library does, and go on behind it. */
static void
test_trailing_at_step(void **state)
{
    static const char *const names[] = {"gzip", "zlib", "br", "zstd",
                                        "zstd_checksum"};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t n_tried = 0;

        for (size_t len = 4040; len < 4100; len++) {
            struct vector_buf data = {0};
            struct vector_buf body = {0};

            play_make(&data, PLAY_RANDOM, len);
            play_encode(&body, names[i], &data);
            if (body.len == 4096) {
                vector_buf_add(&body, "x", 1);
                play_expect(pool, play_codec(names[i]), &body,
                            GRPCFRAME_RESULT_TRAILING, 4096);
                n_tried++;
            }
            vector_buf_clear(&data);
            vector_buf_clear(&body);
        }
        assert_int_equal(n_tried, 1);
    }
}

/* ---- br -------------------------------------------------------------- */

static void
test_br(void **state)
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
static void
zstd_stream(struct vector_buf *out, const struct vector_buf *data, int log)
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

static void
test_zstd_window(void **state)
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

static void
skippable(struct vector_buf *out, unsigned kind, size_t len)
{
    vector_buf_le(out, 0x184d2a50u + kind, 4);
    vector_buf_le(out, len, 4);
    play_make(out, PLAY_RANDOM, len);
}

static void
test_zstd_frames(void **state)
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
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_TRUNCATED,
                len + 17);
    s.body.len = len + 3;
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_TRUNCATED,
                len + 3);
    s.body.data[len + 2] ^= 1;
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_TRAILING,
                len);
    s.body.len = len;
    vector_buf_add(&s.body, "\x28\xb5\x2f\xfd\x20", 5);
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_TRUNCATED,
                len + 5);
    sample_clear(&s);
}

static void
test_zstd_faults(void **state)
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

/* A frame of 32 KiB windows stores its size: one too small shows in the block
 * that goes beyond, one too large at the end. */
static void
test_zstd_content_size(void **state)
{
    struct sample s = {0};
    struct outcome outcome;
    ZSTD_CCtx *cctx = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(200000);

    (void)state;
    assert_non_null(cctx);
    play_make(&s.data, PLAY_TEXT, 200000);
    ZSTD_CCtx_setParameter(cctx, ZSTD_c_windowLog, 15);
    s.body.len = ZSTD_compress2(cctx, vector_buf_room(&s.body, room), room,
                                s.data.data, s.data.len);
    ZSTD_freeCCtx(cctx);
    play_content(pool, GRPCFRAME_CODEC_ZSTD, &s.body, &s.data);
    /* 200,000 is 0x00030d40, behind magic number, descriptor and window. */
    assert_int_equal(s.body.data[8], 3);
    s.body.data[8] = 2;
    play_body(pool, GRPCFRAME_CODEC_ZSTD, 0, s.body.data, s.body.len, &outcome);
    assert_int_equal(outcome.result, GRPCFRAME_RESULT_CORRUPT);
    assert_int_equal(outcome.length, 131072);
    assert_true(outcome.offset > 10 && outcome.offset < s.body.len);
    outcome_clear(&outcome);
    s.body.data[8] = 4;
    play_body(pool, GRPCFRAME_CODEC_ZSTD, 0, s.body.data, s.body.len, &outcome);
    assert_int_equal(outcome.result, GRPCFRAME_RESULT_CORRUPT);
    outcome_clear(&outcome);
    /* One segment of 2 bytes, and an empty last block. */
    s.body.len = 0;
    vector_buf_add(&s.body, "\x28\xb5\x2f\xfd\x20\x02\x01\x00\x00", 9);
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_CORRUPT,
                6);
    s.body.data[5] = 0;
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &s.body, GRPCFRAME_RESULT_OK, 9);
    sample_clear(&s);
}

/* A dictionary, which nobody has; and the formats before RFC 8878. */
static void
test_zstd_foreign(void **state)
{
    struct vector_buf body = {0};

    (void)state;
    /* One segment of 5 bytes, dictionary 7, one raw block. */
    vector_buf_add(&body, "\x28\xb5\x2f\xfd\x21\x07\x05\x29\x00\x00hello", 15);
    play_expect(pool, GRPCFRAME_CODEC_ZSTD, &body, GRPCFRAME_RESULT_CORRUPT, 0);
    for (uint8_t version = 0x1e; version <= 0x27; version++) {
        body.data[0] = version;
        play_expect(pool, GRPCFRAME_CODEC_ZSTD, &body, GRPCFRAME_RESULT_CORRUPT,
                    0);
    }
    vector_buf_clear(&body);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip_trailer),
        cmocka_unit_test(test_gzip_members),
        cmocka_unit_test(test_gzip_member_at_step),
        cmocka_unit_test(test_gzip_header),
        cmocka_unit_test(test_gzip_wrong_magic),
        cmocka_unit_test(test_deflate),
        cmocka_unit_test(test_trailing_at_step),
        cmocka_unit_test(test_br),
        cmocka_unit_test(test_zstd_window),
        cmocka_unit_test(test_zstd_frames),
        cmocka_unit_test(test_zstd_faults),
        cmocka_unit_test(test_zstd_content_size),
        cmocka_unit_test(test_zstd_foreign),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
