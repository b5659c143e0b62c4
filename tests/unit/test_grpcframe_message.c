/* SPDX-License-Identifier: MIT */
/*
 * The reader of grpcframe: prefixes and payloads in every cut, what it says
 * about each message, and what it adds up.  What inflating finds in a body is
 * tested in test_grpcframe_inflate.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../vector_alloc.h"
#include "grpcframe_play.h"

/* SEEN_MAX is how many messages a test looks at. */
#define SEEN_MAX 16

/* struct seen is what a reader reported. */
struct seen {
    /* messages are the first SEEN_MAX of them. */
    struct grpcframe_message messages[SEEN_MAX];
    /* n counts them all. */
    size_t n;
    /* stop_at is the number of calls after which the callback says no; 0 for
     * never. */
    size_t stop_at;
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

static int
see(const struct grpcframe_message *message, void *user)
{
    struct seen *seen = user;

    if (seen->n < SEEN_MAX)
        seen->messages[seen->n] = *message;
    seen->n++;
    return seen->n == seen->stop_at;
}

static void
add_message(struct vector_buf *out, uint8_t flag, const void *data, size_t len)
{
    vector_buf_be(out, flag, 1);
    vector_buf_be(out, len, 4);
    vector_buf_add(out, data, len);
}

/* A stream of all kinds of messages, to be read with gzip. */
static void
make_stream(struct vector_buf *out)
{
    struct vector_buf data = {0};
    struct vector_buf body = {0};

    play_make(&data, PLAY_TEXT, 700);
    play_encode(&body, "gzip", &data);
    add_message(out, 0, NULL, 0);
    add_message(out, 0, "hello", 5);
    add_message(out, 1, body.data, body.len);
    add_message(out, 1, NULL, 0);
    add_message(out, 0x80, data.data, 40);
    add_message(out, 0xff, body.data, body.len - 8);
    body.data[body.len - 5] ^= 1;
    add_message(out, 1, body.data, body.len);
    body.data[body.len - 5] ^= 1;
    vector_buf_add(&body, "junk", 4);
    add_message(out, 1, body.data, body.len);
    add_message(out, 1, "not gzip at all", 15);
    body.len = 0;
    play_encode(&body, "gzip", &(struct vector_buf){0});
    add_message(out, 1, body.data, body.len);
    vector_buf_clear(&data);
    vector_buf_clear(&body);
}

static void
read_all(const struct vector_buf *stream, enum grpcframe_codec codec,
         size_t first, size_t step, struct seen *seen,
         struct grpcframe_tally *tally)
{
    struct grpcframe_reader reader;
    size_t n = first;

    memset(seen, 0, sizeof(*seen));
    grpcframe_reader_init(&reader, pool, codec, 0, see, seen);
    for (size_t at = 0; at < stream->len; at += n) {
        /* Memory of its own, so that reading too far shows. */
        uint8_t *piece;

        if (at > 0)
            n = step;
        if (n > stream->len - at)
            n = stream->len - at;
        piece = vector_alloc(n);
        memcpy(piece, stream->data + at, n);
        assert_int_equal(grpcframe_reader_feed(&reader, piece, n, 1, 5), 0);
        free(piece);
    }
    assert_int_equal(grpcframe_reader_rest(&reader).bytes, 0);
    *tally = reader.tally;
    grpcframe_reader_clear(&reader);
}

/* The structs have padding, which is not compared. */
static void
assert_same(const struct grpcframe_message *a,
            const struct grpcframe_message *b)
{
    assert_int_equal(a->index, b->index);
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->flag, b->flag);
    assert_int_equal(a->compressed, b->compressed);
    assert_int_equal(a->codec, b->codec);
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->form, b->form);
    assert_int_equal(a->decoded_length, b->decoded_length);
    assert_int_equal(a->fault_offset, b->fault_offset);
    assert_int_equal(a->frames, b->frames);
    assert_int_equal(a->head_len, b->head_len);
    assert_memory_equal(a->head, b->head, a->head_len);
    assert_int_equal(a->first_byte_us, b->first_byte_us);
}

static void
test_stream(void **state)
{
    static const struct {
        uint8_t flag;
        uint8_t compressed;
        enum grpcframe_result result;
        uint64_t decoded;
    } rows[] = {
        {0, 0, GRPCFRAME_RESULT_OK, 0},
        {0, 0, GRPCFRAME_RESULT_OK, 5},
        {1, 1, GRPCFRAME_RESULT_OK, 700},
        {1, 1, GRPCFRAME_RESULT_OK, 0},
        {0x80, 0, GRPCFRAME_RESULT_OK, 40},
        {0xff, 1, GRPCFRAME_RESULT_TRUNCATED, 700},
        {1, 1, GRPCFRAME_RESULT_CHECKSUM, 700},
        {1, 1, GRPCFRAME_RESULT_TRAILING, 700},
        {1, 1, GRPCFRAME_RESULT_CORRUPT, 0},
        {1, 1, GRPCFRAME_RESULT_OK, 0},
    };
    struct vector_buf stream = {0};
    struct grpcframe_tally tally;
    struct seen seen;

    (void)state;
    make_stream(&stream);
    read_all(&stream, GRPCFRAME_CODEC_GZIP, stream.len, stream.len, &seen,
             &tally);
    assert_int_equal(seen.n, 10);
    for (size_t i = 0; i < seen.n; i++) {
        const struct grpcframe_message *message = &seen.messages[i];

        assert_int_equal(message->index, i);
        assert_int_equal(message->flag, rows[i].flag);
        assert_int_equal(message->compressed, rows[i].compressed);
        assert_int_equal(message->result, rows[i].result);
        assert_int_equal(message->decoded_length, rows[i].decoded);
        assert_int_equal(message->codec, rows[i].compressed
                                             ? GRPCFRAME_CODEC_GZIP
                                             : GRPCFRAME_CODEC_NONE);
        assert_int_equal(message->frames, 1);
        assert_int_equal(message->first_byte_us, 5);
    }
    assert_int_equal(seen.messages[1].head_len, 5);
    assert_memory_equal(seen.messages[1].head, "hello", 5);
    assert_int_equal(seen.messages[2].head_len, GRPCFRAME_HEAD_LEN);
    assert_string_equal(grpcframe_magic(seen.messages[2].head, 16), "gzip");
    assert_int_equal(tally.messages, 10);
    assert_int_equal(tally.compressed_messages, 7);
    assert_int_equal(tally.prefix_bytes, 50);
    assert_int_equal(tally.message_bytes, stream.len - 50);
    assert_int_equal(tally.undecoded_messages, 4);
    assert_int_equal(tally.decoded_bytes, 5 + 700 + 40);
    /* The last one: 20 bytes of gzip that stand for none. */
    assert_int_equal(tally.grown_messages, 1);
    assert_int_equal(tally.grown_bytes, 20);
    vector_buf_clear(&stream);
}

static void
test_every_cut(void **state)
{
    struct vector_buf stream = {0};
    struct grpcframe_tally tally;
    struct grpcframe_tally whole_tally;
    struct seen whole;
    struct seen seen;

    (void)state;
    make_stream(&stream);
    read_all(&stream, GRPCFRAME_CODEC_GZIP, stream.len, stream.len, &whole,
             &whole_tally);
    for (size_t cut = 0; cut < stream.len; cut++) {
        /* Byte by byte, then a cut at each point. */
        read_all(&stream, GRPCFRAME_CODEC_GZIP, cut == 0 ? 1 : cut,
                 cut == 0 ? 1 : stream.len, &seen, &tally);
        assert_int_equal(seen.n, whole.n);
        for (size_t i = 0; i < seen.n; i++)
            assert_same(&seen.messages[i], &whole.messages[i]);
        /* No padding: counters of one size. */
        assert_memory_equal(&tally, &whole_tally, sizeof(tally));
    }
    vector_buf_clear(&stream);
}

/* Without a codec that can be inflated. */
static void
test_unavailable(void **state)
{
    static const enum grpcframe_codec codecs[] = {GRPCFRAME_CODEC_NONE,
                                                  GRPCFRAME_CODEC_IDENTITY,
                                                  GRPCFRAME_CODEC_UNKNOWN};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct vector_buf stream = {0};
        struct grpcframe_tally tally;
        struct seen seen;

        make_stream(&stream);
        read_all(&stream, codecs[i], stream.len, stream.len, &seen, &tally);
        assert_int_equal(seen.n, 10);
        assert_int_equal(seen.messages[2].result, GRPCFRAME_RESULT_UNAVAILABLE);
        assert_int_equal(seen.messages[2].codec, codecs[i]);
        assert_int_equal(seen.messages[2].decoded_length, 0);
        assert_int_equal(seen.messages[2].fault_offset, 0);
        /* No bytes are no bytes whatever the codec. */
        assert_int_equal(seen.messages[3].result, GRPCFRAME_RESULT_OK);
        assert_int_equal(tally.undecoded_messages, 6);
        vector_buf_clear(&stream);
    }
}

/* Frames count where they carry a byte of the message, and only there. */
static void
test_frames(void **state)
{
    struct grpcframe_reader reader;
    struct seen seen = {0};

    (void)state;
    grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_NONE, 0, see, &seen);
    grpcframe_reader_feed(&reader, NULL, 0, 1, 10);
    grpcframe_reader_feed(&reader, (const uint8_t *)"\0\0", 2, 2, 20);
    grpcframe_reader_feed(&reader, NULL, 0, 3, 30);
    grpcframe_reader_feed(&reader, (const uint8_t *)"\0\0\4", 3, 4, 40);
    grpcframe_reader_feed(&reader, (const uint8_t *)"a", 1, 4, 50);
    grpcframe_reader_feed(&reader, (const uint8_t *)"b", 1, 4, 60);
    grpcframe_reader_feed(&reader, NULL, 0, 5, 65);
    /* The end of this one, all of the next, the start of a third. */
    grpcframe_reader_feed(&reader, (const uint8_t *)"cd\0\0\0\0\0\0", 8, 6, 70);
    assert_int_equal(seen.n, 2);
    grpcframe_reader_feed(&reader, (const uint8_t *)"\0\0\0\0", 4, 7, 80);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.messages[0].frames, 3);
    assert_int_equal(seen.messages[0].first_byte_us, 20);
    assert_int_equal(seen.messages[1].frames, 1);
    assert_int_equal(seen.messages[1].first_byte_us, 70);
    assert_int_equal(seen.messages[2].frames, 2);
    assert_int_equal(seen.messages[2].first_byte_us, 70);
    grpcframe_reader_clear(&reader);
}

static void
test_rest(void **state)
{
    static const uint8_t bytes[] = {1, 0x80, 0, 0, 2, 0x1f, 0x8b};
    struct grpcframe_reader reader;
    struct grpcframe_rest rest;

    (void)state;
    grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_GZIP, 0, NULL, NULL);
    rest = grpcframe_reader_rest(&reader);
    assert_int_equal(rest.bytes, 0);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        assert_int_equal(grpcframe_reader_feed(&reader, bytes + i, 1, 1, 1), 0);
        rest = grpcframe_reader_rest(&reader);
        assert_int_equal(rest.bytes, i + 1);
        assert_int_equal(rest.flag, 1);
        assert_int_equal(rest.in_payload, i >= 4);
        assert_int_equal(rest.declared, i >= 4 ? 0x80000002u : 0);
        assert_int_equal(rest.received, i >= 4 ? i - 4 : 0);
    }
    assert_int_equal(reader.tally.messages, 0);
    assert_int_equal(reader.tally.prefix_bytes, 0);
    grpcframe_reader_clear(&reader);
    grpcframe_reader_clear(&reader);
    assert_int_equal(grpcframe_reader_rest(&reader).bytes, sizeof(bytes));
    /* Still counts, but the decoder is gone. */
    assert_int_equal(grpcframe_reader_feed(&reader, bytes, 7, 2, 1), 0);
    assert_int_equal(grpcframe_reader_rest(&reader).received, 9);
    assert_null(reader.decoder);
}

/* The longest message there is: not one allocation, compressed or not. */
static void
test_longest(void **state)
{
    static uint8_t chunk[1 << 20];
    struct grpcframe_reader reader;
    struct seen seen = {0};

    (void)state;
    assert_true(vector_alloc_is_wrapped());
    vector_alloc_arm(1, VECTOR_ALLOC_FOR_GOOD);
    for (size_t flag = 0; flag < 2; flag++) {
        grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_UNKNOWN, 0, see,
                              &seen);
        grpcframe_reader_feed(&reader,
                              (const uint8_t *)(flag != 0
                                                    ? "\1\xff\xff\xff\xff"
                                                    : "\0\xff\xff\xff\xff"),
                              5, 0, 1);
        for (uint64_t i = 0; i < 4096; i++)
            grpcframe_reader_feed(&reader, chunk,
                                  i < 4095 ? sizeof(chunk) : (1 << 20) - 1,
                                  1 + i / 2, 1);
        assert_int_equal(seen.n, flag + 1);
        assert_int_equal(seen.messages[flag].length, UINT32_MAX);
        assert_int_equal(seen.messages[flag].frames, 2049);
        assert_int_equal(reader.tally.message_bytes, UINT32_MAX);
        assert_int_equal(grpcframe_reader_rest(&reader).bytes, 0);
        grpcframe_reader_clear(&reader);
    }
    assert_int_equal(vector_alloc_disarm(), 0);
    assert_int_equal(seen.messages[0].decoded_length, UINT32_MAX);
    assert_int_equal(seen.messages[1].result, GRPCFRAME_RESULT_UNAVAILABLE);
}

static void
test_callback_stops(void **state)
{
    struct vector_buf stream = {0};
    struct grpcframe_reader reader;
    struct seen seen = {.stop_at = 2};

    (void)state;
    add_message(&stream, 0, "a", 1);
    add_message(&stream, 0, "bc", 2);
    add_message(&stream, 0, "def", 3);
    grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_NONE, 0, see, &seen);
    assert_int_equal(
        grpcframe_reader_feed(&reader, stream.data, stream.len, 1, 1),
        GRPCFRAME_ERR_CALLBACK);
    assert_int_equal(seen.n, 2);
    assert_int_equal(reader.tally.messages, 2);
    assert_int_equal(grpcframe_reader_rest(&reader).bytes, 0);
    assert_int_equal(grpcframe_reader_feed(&reader, stream.data + 13, 8, 1, 1),
                     0);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.messages[2].index, 2);
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&stream);
}

/* A pool without memory: sizes on the wire all the same. */
static void
test_no_memory(void **state)
{
    struct vector_buf stream = {0};
    struct grpcframe_reader reader;
    struct grpcframe_pool *empty;
    struct seen seen = {0};

    (void)state;
    make_stream(&stream);
    assert_int_equal(grpcframe_pool_new(&empty, 0), 0);
    grpcframe_reader_init(&reader, empty, GRPCFRAME_CODEC_GZIP, 0, see, &seen);
    assert_int_equal(
        grpcframe_reader_feed(&reader, stream.data, stream.len, 1, 1), 0);
    assert_int_equal(seen.n, 10);
    assert_int_equal(seen.messages[1].result, GRPCFRAME_RESULT_OK);
    assert_int_equal(seen.messages[2].result, GRPCFRAME_RESULT_MEMORY);
    assert_int_equal(seen.messages[2].decoded_length, 0);
    assert_int_equal(seen.messages[3].result, GRPCFRAME_RESULT_OK);
    assert_int_equal(reader.tally.undecoded_messages, 6);
    assert_int_equal(reader.tally.message_bytes, stream.len - 50);
    grpcframe_reader_clear(&reader);
    grpcframe_pool_free(empty);
    vector_buf_clear(&stream);
}

/* A message at its ceiling and the ones above it; the decoder goes back as
 * soon as there is nothing left for it to find out. */
static void
test_ceiling(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf body = {0};

    (void)state;
    play_make(&data, PLAY_ZEROS, 1000000);
    play_encode(&body, "gzip", &data);
    for (uint64_t ceiling = 999998; ceiling < 1000003; ceiling++) {
        struct vector_buf stream = {0};
        struct grpcframe_reader reader;
        struct seen seen = {0};
        int is_over = ceiling < 1000000;

        add_message(&stream, 1, body.data, body.len);
        grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_GZIP, ceiling, see,
                              &seen);
        grpcframe_reader_feed(&reader, stream.data, stream.len, 1, 1);
        assert_int_equal(seen.messages[0].result, is_over
                                                      ? GRPCFRAME_RESULT_LIMIT
                                                      : GRPCFRAME_RESULT_OK);
        assert_int_equal(seen.messages[0].decoded_length,
                         is_over ? ceiling : 1000000);
        assert_int_equal(reader.tally.decoded_bytes, is_over ? 0 : 1000000);
        grpcframe_reader_clear(&reader);
        vector_buf_clear(&stream);
    }
    vector_buf_clear(&data);
    vector_buf_clear(&body);
}

static void
test_faulty_gives_back(void **state)
{
    static uint8_t junk[5 + 8192] = {1, 0, 1, 0, 0};
    struct grpcframe_reader reader;

    (void)state;
    grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_GZIP, 0, NULL, NULL);
    grpcframe_reader_feed(&reader, (const uint8_t *)"\0\0\0\0\1a", 6, 1, 1);
    assert_int_equal(reader.tally.messages, 1);
    grpcframe_reader_feed(&reader, junk, 6, 1, 1);
    assert_non_null(reader.decoder);
    grpcframe_reader_feed(&reader, junk + 6, sizeof(junk) - 6, 1, 1);
    assert_null(reader.decoder);
    assert_int_equal(reader.message.result, GRPCFRAME_RESULT_CORRUPT);
    grpcframe_reader_clear(&reader);
    assert_int_equal(reader.message.result, GRPCFRAME_RESULT_CORRUPT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_unavailable),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_callback_stops),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_faulty_gives_back),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
