/* SPDX-License-Identifier: MIT */
/*
 * The base64 of gRPC-Web-text bodies in grpcframe: pieces, cuts and faults.
 * That of header values is tested in test_grpcframe_value.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "grpcframe_play.h"

static int
keep(const uint8_t *data, size_t len, void *user)
{
    vector_buf_add(user, data, len);
    return 0;
}

/* Feeds |text| in pieces of |step|, the first of them |first|, each in memory
 * of its own so that reading too far shows. */
static int
decode(const char *text, size_t len, size_t first, size_t step,
       struct grpcframe_base64 *decoder, struct vector_buf *out)
{
    int result = 0;
    size_t n = first;

    memset(decoder, 0, sizeof(*decoder));
    for (size_t at = 0; at < len; at += n) {
        uint8_t *piece;

        if (at > 0)
            n = step;
        if (n > len - at)
            n = len - at;
        piece = vector_alloc(n);
        memcpy(piece, text + at, n);
        result = grpcframe_base64_feed(decoder, piece, n, keep, out);
        free(piece);
    }
    return result;
}

/* Asserts that |text| comes to |want| up to a fault at |offset| (its length:
 * none), in every cut. */
static void
expect(const char *text, size_t len, const void *want, size_t want_len,
       size_t offset)
{
    for (size_t cut = 0; cut <= len; cut++) {
        struct grpcframe_base64 decoder;
        struct vector_buf out = {0};
        int result = decode(text, len, cut == 0 ? 1 : cut, cut == 0 ? 1 : len,
                            &decoder, &out);

        assert_int_equal(result, offset < len ? GRPCFRAME_ERR_INVALID : 0);
        assert_int_equal(decoder.taken + decoder.pending, offset);
        assert_int_equal(decoder.decoded, want_len);
        assert_int_equal(out.len, want_len);
        if (want_len > 0)
            assert_memory_equal(out.data, want, want_len);
        assert_int_equal(grpcframe_base64_finish(&decoder),
                         offset < len || decoder.pending > 0
                             ? GRPCFRAME_ERR_INVALID
                             : 0);
        vector_buf_clear(&out);
    }
}

static void
test_base64_pieces(void **state)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        /* RFC 4648, section 10 */
        {"", ""},
        {"Zg==", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYg==", "foob"},
        {"Zm9vYmE=", "fooba"},
        {"Zm9vYmFy", "foobar"},
        /* pieces padded each on its own */
        {"Zg==bw==bw==", "foo"},
        {"Zm8=b2JhZm9v", "foobafoo"},
        {"Zm8=Zg==Zm9v", "foffoo"},
        /* bits that stand for nothing are not looked at */
        {"Zh==", "f"},
        {"Zm9=", "fo"},
        /* the two characters beside letters and digits */
        {"+/+/", "\xfb\xff\xbf"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(rows[i].text, strlen(rows[i].text), rows[i].want,
               strlen(rows[i].want), strlen(rows[i].text));
}

static void
test_base64_faults(void **state)
{
    static const struct {
        const char *text;
        const char *want;
        size_t offset;
    } rows[] = {
        {"=", "", 0},           {"Z===", "", 1},
        {"====", "", 0},        {"Zm=v", "", 3},
        {"Zg=", "", 3},         {"Zg==Z", "f", 5},
        {"Zm9v=", "foo", 4},    {"Zm9v\r\nZm9v", "foo", 4},
        {"Zm9v Zm9v", "foo", 4}, {"Zm-v", "", 2},
        {"Zm9_", "", 3},        {"Zm9vZm", "foo", 6},
        {"Zm8==", "fo", 4},     {"\xc3\xa4", "", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(rows[i].text, strlen(rows[i].text), rows[i].want,
               strlen(rows[i].want), rows[i].offset);
    expect("Zm9v\0", 5, "foo", 3, 4);
}

/* Each of the 256 characters at each of the four places of a group. */
static void
test_base64_every_character(void **state)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "abcdefghijklmnopqrstuvwxyz0123456789+/";

    (void)state;
    for (int c = 0; c < 256; c++) {
        const char *at = c == 0 ? NULL : strchr(alphabet, c);

        for (int place = 0; place < 4; place++) {
            char text[4] = {'A', 'A', 'A', 'A'};
            uint32_t bits =
                at == NULL ? 0 : (uint32_t)(at - alphabet) << (18 - 6 * place);
            struct grpcframe_base64 decoder;
            struct vector_buf out = {0};
            /* A pad at the third place wants one behind it. */
            int good = at != NULL || (c == '=' && place == 3);

            text[place] = (char)c;
            assert_int_equal(decode(text, 4, 4, 4, &decoder, &out),
                             good ? 0 : GRPCFRAME_ERR_INVALID);
            if (at != NULL) {
                assert_int_equal(out.len, 3);
                assert_int_equal(out.data[0] << 16 | out.data[1] << 8 |
                                     out.data[2],
                                 bits);
            }
            vector_buf_clear(&out);
        }
    }
}

/* Against the encoder of another library. */
static void
test_base64_encoded(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf text = {0};
    struct grpcframe_base64 decoder;
    struct vector_buf out = {0};

    (void)state;
    play_make(&data, PLAY_RANDOM, 100000);
    for (size_t at = 0, n = 0; at < data.len; at += n, n = n * 2 + 1) {
        struct vector_buf piece = {.data = data.data + at};

        piece.len = n < data.len - at ? n : data.len - at;
        play_encode(&text, "base64", &piece);
    }
    for (size_t step = 1; step < 200000; step = step * 3 + 1) {
        out.len = 0;
        assert_int_equal(decode((const char *)text.data, text.len, step, step,
                                &decoder, &out),
                         0);
        assert_int_equal(grpcframe_base64_finish(&decoder), 0);
        assert_int_equal(decoder.taken, text.len);
        assert_int_equal(decoder.decoded, data.len);
        assert_int_equal(out.len, data.len);
        assert_memory_equal(out.data, data.data, data.len);
    }
    vector_buf_clear(&data);
    vector_buf_clear(&text);
    vector_buf_clear(&out);
}

static int
refuse(const uint8_t *data, size_t len, void *user)
{
    (void)data;
    *(size_t *)user += len;
    return 1;
}

static void
test_base64_callback(void **state)
{
    struct grpcframe_base64 decoder = {0};
    size_t seen = 0;

    (void)state;
    assert_int_equal(grpcframe_base64_feed(&decoder, (const uint8_t *)"Zm9v",
                                           4, refuse, &seen),
                     GRPCFRAME_ERR_CALLBACK);
    assert_int_equal(seen, 3);
    memset(&decoder, 0, sizeof(decoder));
    assert_int_equal(grpcframe_base64_feed(&decoder, (const uint8_t *)"Zm9v",
                                           4, NULL, NULL),
                     0);
    assert_int_equal(decoder.decoded, 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64_pieces),
        cmocka_unit_test(test_base64_faults),
        cmocka_unit_test(test_base64_every_character),
        cmocka_unit_test(test_base64_encoded),
        cmocka_unit_test(test_base64_callback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
