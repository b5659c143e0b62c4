/* SPDX-License-Identifier: MIT */
/*
 * What gRPC-Web adds to the reader of grpcframe: the trailers frame, and its
 * lines.  Bodies are played in every cut.
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

/* ---- The trailers frame ---------------------------------------------- */

/* struct seen is what a reader of gRPC-Web reported. */
struct seen {
    /* messages counts them. */
    size_t messages;
    /* trailers counts the frames, of which the last is kept here. */
    size_t trailers;
    struct grpcframe_message frame;
    uint64_t omitted;
    struct vector_buf text;
    /* stop is what the callback of the trailers returns. */
    int stop;
};

static int
see_message(const struct grpcframe_message *message, void *user)
{
    (void)message;
    ((struct seen *)user)->messages++;
    return 0;
}

static int
see_trailers(const struct grpcframe_trailers *trailers, void *user)
{
    struct seen *seen = user;

    seen->trailers++;
    seen->frame = *trailers->frame;
    seen->omitted = trailers->omitted;
    seen->text.len = 0;
    vector_buf_add(&seen->text, trailers->text, trailers->text_len);
    return seen->stop;
}

static void
add_frame(struct vector_buf *out, uint8_t flag, const void *data, size_t len)
{
    vector_buf_be(out, flag, 1);
    vector_buf_be(out, len, 4);
    vector_buf_add(out, data, len);
}

static void
begin(struct grpcframe_reader *reader, uint64_t ceiling, struct seen *seen)
{
    memset(seen, 0, sizeof(*seen));
    grpcframe_reader_init(reader, pool, GRPCFRAME_CODEC_GZIP, ceiling,
                          see_message, seen);
    grpcframe_reader_set_web(reader, see_trailers);
}

static void
feed(struct grpcframe_reader *reader, const struct vector_buf *stream,
     size_t first, size_t step)
{
    size_t n = first;

    for (size_t at = 0; at < stream->len; at += n) {
        uint8_t *piece;

        if (at > 0)
            n = step;
        if (n > stream->len - at)
            n = stream->len - at;
        piece = vector_alloc(n);
        memcpy(piece, stream->data + at, n);
        assert_int_equal(grpcframe_reader_feed(reader, piece, n, 1, 5), 0);
        free(piece);
    }
}

/* A message, trailers of |flag| that hold |text|, and |surplus| bytes. */
static void
play(uint8_t flag, const struct vector_buf *payload, const char *text,
     size_t surplus)
{
    struct vector_buf stream = {0};

    add_frame(&stream, 0, "hello", 5);
    add_frame(&stream, flag, payload->data, payload->len);
    for (size_t i = 0; i < surplus; i++)
        vector_buf_add(&stream, "\x80", 1);
    for (size_t cut = 0; cut < stream.len; cut++) {
        struct grpcframe_reader reader;
        struct seen seen;

        begin(&reader, 0, &seen);
        feed(&reader, &stream, cut == 0 ? 1 : cut, cut == 0 ? 1 : stream.len);
        assert_int_equal(seen.messages, 1);
        assert_int_equal(seen.trailers, 1);
        assert_int_equal(seen.frame.flag, flag);
        assert_int_equal(seen.frame.index, 1);
        assert_int_equal(seen.frame.length, payload->len);
        assert_int_equal(seen.frame.result, GRPCFRAME_RESULT_OK);
        assert_int_equal(seen.frame.decoded_length, strlen(text));
        assert_int_equal(seen.omitted, 0);
        assert_int_equal(seen.text.len, strlen(text));
        if (seen.text.len > 0)
            assert_memory_equal(seen.text.data, text, seen.text.len);
        assert_int_equal(reader.tally.messages, 1);
        assert_int_equal(reader.tally.message_bytes, 5);
        assert_int_equal(reader.tally.prefix_bytes, 5);
        assert_int_equal(reader.tally.compressed_messages, 0);
        assert_int_equal(reader.tally.trailer_bytes, 5 + payload->len);
        assert_int_equal(reader.tally.surplus_bytes, surplus);
        assert_int_equal(grpcframe_reader_rest(&reader).bytes, 0);
        grpcframe_reader_clear(&reader);
        vector_buf_clear(&seen.text);
    }
    vector_buf_clear(&stream);
}

static void
test_trailers(void **state)
{
    static const char text[] = "grpc-status: 0\r\ngrpc-message: fine\r\n";
    struct vector_buf plain = {0};
    struct vector_buf packed = {0};
    struct vector_buf nothing = {0};

    (void)state;
    vector_buf_add(&plain, text, strlen(text));
    play_encode(&packed, "gzip", &plain);
    play(0x80, &plain, text, 0);
    play(0x81, &packed, text, 0);
    play(0x80, &plain, text, 7);
    play(0x81, &packed, text, 7);
    play(0x80, &nothing, "", 0);
    play(0x81, &nothing, "", 0);
    vector_buf_clear(&plain);
    vector_buf_clear(&packed);
}

/* Without set_web it is a message, and so it is with more bits set. */
static void
test_no_trailers(void **state)
{
    static const uint8_t flags[] = {0x82, 0x83, 0xc0, 0xff, 0x40};
    struct grpcframe_reader reader;
    struct vector_buf stream = {0};
    struct seen seen;

    (void)state;
    for (size_t i = 0; i < sizeof(flags); i++)
        add_frame(&stream, flags[i], "x", 1);
    begin(&reader, 0, &seen);
    feed(&reader, &stream, 1, 1);
    assert_int_equal(seen.messages, sizeof(flags));
    assert_int_equal(seen.trailers, 0);
    grpcframe_reader_clear(&reader);
    stream.len = 0;
    add_frame(&stream, 0x80, "x", 1);
    add_frame(&stream, 0x81, "x", 1);
    grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_GZIP, 0, see_message,
                          &seen);
    feed(&reader, &stream, 1, 1);
    assert_int_equal(seen.messages, sizeof(flags) + 2);
    assert_int_equal(reader.tally.trailer_bytes, 0);
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&stream);
}

static void
test_rest(void **state)
{
    static const uint8_t start[] = {0x80, 0xff, 0xff, 0xff, 0xff, 'g', 'r'};
    size_t before = grpcframe_pool_bytes(pool);
    struct grpcframe_reader reader;
    struct grpcframe_rest rest;
    struct seen seen;

    (void)state;
    begin(&reader, 0, &seen);
    grpcframe_reader_feed(&reader, start, 4, 1, 1);
    rest = grpcframe_reader_rest(&reader);
    assert_int_equal(rest.bytes, 4);
    assert_int_equal(rest.in_trailers, 0);
    grpcframe_reader_feed(&reader, start + 4, 3, 1, 1);
    rest = grpcframe_reader_rest(&reader);
    assert_int_equal(rest.in_payload, 1);
    assert_int_equal(rest.in_trailers, 1);
    assert_int_equal(rest.declared, UINT32_MAX);
    assert_int_equal(rest.received, 2);
    assert_int_equal(rest.bytes, 7);
    assert_int_equal(reader.tally.trailer_bytes, 0);
    /* A declared length allocates nothing. */
    assert_true(grpcframe_pool_bytes(pool) - before < 1024);
    grpcframe_reader_clear(&reader);
    assert_int_equal(grpcframe_pool_bytes(pool), before);
    grpcframe_reader_clear(&reader);
}

/* |lines| of 8 bytes, with a status behind them of which |more| bytes come. */
static void
play_limit(size_t lines, size_t more, int packed, size_t want_len,
           uint64_t want_omitted)
{
    struct vector_buf text = {0};
    struct vector_buf payload = {0};
    struct vector_buf stream = {0};
    struct grpcframe_reader reader;
    struct seen seen;

    for (size_t i = 0; i < lines; i++)
        vector_buf_add(&text, "a: bcd\r\n", 8);
    vector_buf_add(&text, "grpc-status: 0\r\n", more);
    if (packed)
        play_encode(&payload, "gzip", &text);
    else
        vector_buf_add(&payload, text.data, text.len);
    add_frame(&stream, packed ? 0x81 : 0x80, payload.data, payload.len);
    for (size_t step = 1; step < 40000; step = step * 7 + 1) {
        begin(&reader, 0, &seen);
        feed(&reader, &stream, step, step);
        assert_int_equal(seen.trailers, 1);
        assert_int_equal(seen.frame.result, GRPCFRAME_RESULT_OK);
        assert_int_equal(seen.frame.decoded_length, text.len);
        assert_int_equal(seen.text.len, want_len);
        assert_memory_equal(seen.text.data, text.data, want_len);
        assert_int_equal(seen.omitted, want_omitted);
        grpcframe_reader_clear(&reader);
        vector_buf_clear(&seen.text);
    }
    vector_buf_clear(&text);
    vector_buf_clear(&payload);
    vector_buf_clear(&stream);
}

static void
test_trailers_limit(void **state)
{
    const size_t max = GRPCFRAME_TRAILERS_MAX;

    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        play_limit(max / 8, 0, packed, max, 0);
        play_limit(max / 8 - 2, 16, packed, max, 0);
        /* One byte more, and the line it belongs to is not kept. */
        play_limit(max / 8, 1, packed, max, 1);
        play_limit(max / 8 - 1, 16, packed, max - 8, 16);
        play_limit(max, 16, packed, max, max * 7 + 16);
    }
}

/* The text up to where decoding stopped is given, whole lines of it. */
static void
test_trailers_ceiling(void **state)
{
    struct vector_buf text = {0};
    struct vector_buf payload = {0};
    struct vector_buf stream = {0};
    struct grpcframe_reader reader;
    struct seen seen;

    (void)state;
    vector_buf_add(&text, "grpc-status: 0\r\nx: 1\r\n", 22);
    play_encode(&payload, "gzip", &text);
    add_frame(&stream, 0x81, payload.data, payload.len);
    begin(&reader, 20, &seen);
    feed(&reader, &stream, 3, 3);
    assert_int_equal(seen.frame.result, GRPCFRAME_RESULT_LIMIT);
    assert_int_equal(seen.frame.decoded_length, 20);
    assert_int_equal(seen.text.len, 16);
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&seen.text);
    /* Without a codec there is no text. */
    begin(&reader, 0, &seen);
    reader.codec = GRPCFRAME_CODEC_NONE;
    feed(&reader, &stream, 3, 3);
    assert_int_equal(seen.frame.result, GRPCFRAME_RESULT_UNAVAILABLE);
    assert_int_equal(seen.text.len, 0);
    assert_int_equal(reader.tally.trailer_bytes, stream.len);
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&seen.text);
    vector_buf_clear(&text);
    vector_buf_clear(&payload);
    vector_buf_clear(&stream);
}

static void
test_trailers_memory(void **state)
{
    struct grpcframe_pool *usual = pool;
    struct vector_buf stream = {0};
    struct grpcframe_reader reader;
    struct seen seen;

    (void)state;
    add_frame(&stream, 0x80, "grpc-status: 0\r\n", 16);
    assert_int_equal(grpcframe_pool_new(&pool, 64), 0);
    begin(&reader, 0, &seen);
    feed(&reader, &stream, 6, 6);
    assert_int_equal(seen.trailers, 1);
    assert_int_equal(seen.frame.result, GRPCFRAME_RESULT_MEMORY);
    assert_int_equal(seen.text.len, 0);
    assert_int_equal(seen.omitted, 16);
    assert_int_equal(reader.tally.trailer_bytes, 21);
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&seen.text);
    grpcframe_pool_free(pool);
    pool = usual;
    if (vector_alloc_is_wrapped()) {
        begin(&reader, 0, &seen);
        vector_alloc_arm(1, VECTOR_ALLOC_FOR_GOOD);
        (void)grpcframe_reader_feed(&reader, stream.data, stream.len - 1, 1, 1);
        assert_int_equal(vector_alloc_disarm(), 1);
        feed(&reader, &(struct vector_buf){.data = stream.data, .len = 1}, 1,
             1);
        assert_int_equal(seen.frame.result, GRPCFRAME_RESULT_MEMORY);
        grpcframe_reader_clear(&reader);
        vector_buf_clear(&seen.text);
    }
    vector_buf_clear(&stream);
}

/* A text that is given up half-way is not taken up again. */
static void
test_trailers_cleared(void **state)
{
    struct grpcframe_reader reader;
    struct seen seen;

    (void)state;
    begin(&reader, 0, &seen);
    (void)grpcframe_reader_feed(&reader,
                                (const uint8_t *)"\x80\0\0\0\x10"
                                                 "x: grpc-",
                                13, 1, 1);
    grpcframe_reader_clear(&reader);
    (void)grpcframe_reader_feed(&reader, (const uint8_t *)"status:7", 8, 1, 1);
    assert_int_equal(seen.trailers, 1);
    assert_int_equal(seen.text.len, 0);
    assert_int_equal(seen.frame.result, GRPCFRAME_RESULT_MEMORY);
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&seen.text);
}

static void
test_trailers_callback(void **state)
{
    struct vector_buf stream = {0};
    struct grpcframe_reader reader;
    struct seen seen;

    (void)state;
    add_frame(&stream, 0x80, "a: b", 4);
    begin(&reader, 0, &seen);
    seen.stop = 1;
    assert_int_equal(
        grpcframe_reader_feed(&reader, stream.data, stream.len, 1, 1),
        GRPCFRAME_ERR_CALLBACK);
    assert_int_equal(reader.tally.trailer_bytes, 9);
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&seen.text);
    memset(&seen, 0, sizeof(seen));
    grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_NONE, 0, NULL, NULL);
    grpcframe_reader_set_web(&reader, NULL);
    assert_int_equal(
        grpcframe_reader_feed(&reader, stream.data, stream.len, 1, 1), 0);
    assert_int_equal(reader.tally.trailer_bytes, 9);
    grpcframe_reader_clear(&reader);
    vector_buf_clear(&stream);
}

/* ---- Lines ----------------------------------------------------------- */

/* The lines of |text| as `name=value` with a `|` behind each, `!|` for those
 * that are none. */
static void
expect_lines(const char *text, size_t len, const char *want)
{
    struct vector_buf copy = {0};
    struct vector_buf got = {0};
    struct grpcframe_trailer trailer;
    char *at;
    int result;

    vector_buf_add(&copy, text, len);
    at = (char *)copy.data;
    for (;;) {
        result = grpcframe_trailer_next(&at, &len, &trailer);
        if (result == 0)
            break;
        if (result == 1) {
            vector_buf_add(&got, trailer.name, trailer.name_len);
            vector_buf_add(&got, "=", 1);
            vector_buf_add(&got, trailer.value, trailer.value_len);
        } else {
            assert_int_equal(result, GRPCFRAME_ERR_INVALID);
            vector_buf_add(&got, "!", 1);
        }
        vector_buf_add(&got, "|", 1);
    }
    vector_buf_add(&got, "", 1);
    assert_string_equal((const char *)got.data, want);
    vector_buf_clear(&copy);
    vector_buf_clear(&got);
}

static void
test_lines(void **state)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"", ""},
        {"\r\n", ""},
        {"\n\n\r\n", ""},
        {"grpc-status: 0\r\n", "grpc-status=0|"},
        {"grpc-status:0", "grpc-status=0|"},
        {"Grpc-Status: \t 0 \t\r\nGRPC-MESSAGE:\n\r\n",
         "grpc-status=0|grpc-message=|"},
        {"a: b: c\nd::", "a=b: c|d=:|"},
        {"x: a\rb\n", "x=a\rb|"},
        {"no colon\na: b", "!|a=b|"},
        {": b\n a: b\na : b\n\ta: b\na\xc3: b\n", "!|!|!|!|!|"},
        {"a:b\r", "a=b|"},
        {"\r", ""},
        {":", "!|"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_lines(rows[i].text, strlen(rows[i].text), rows[i].want);
    expect_lines("a\0: b\nc: d", 10, "!|c=d|");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trailers),
        cmocka_unit_test(test_no_trailers),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_trailers_limit),
        cmocka_unit_test(test_trailers_ceiling),
        cmocka_unit_test(test_trailers_memory),
        cmocka_unit_test(test_trailers_cleared),
        cmocka_unit_test(test_trailers_callback),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
