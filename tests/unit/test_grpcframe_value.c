/* SPDX-License-Identifier: MIT */
/*
 * Values of header fields, magic numbers and texts of grpcframe: tables of
 * what goes in and what must come out.  Messages and codecs are tested in
 * test_grpcframe_message.c and test_grpcframe_inflate.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../../grpcframe/grpcframe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Copies |text| to memory of exactly its length, so that the sanitizer sees a
 * read behind its end. */
static char *
exact(const char *text, size_t len)
{
    char *copy = malloc(len > 0 ? len : 1);

    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

static void
test_status(void **state)
{
    static const char *const bad[] = {"",   "17", "00", "01",  "-1", "+1",
                                      " 1", "1 ", "1a", "100", "0x1"};
    int status = -1;

    (void)state;
    for (int i = 0; i <= GRPCFRAME_STATUS_MAX; i++) {
        char text[3] = {(char)('0' + i), 0, 0};

        if (i > 9) {
            text[0] = '1';
            text[1] = (char)('0' + i - 10);
        }
        assert_int_equal(grpcframe_status_parse(text, strlen(text), &status),
                         0);
        assert_int_equal(status, i);
        assert_non_null(grpcframe_status_name(i));
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        char *value = exact(bad[i], strlen(bad[i]));

        assert_int_equal(grpcframe_status_parse(value, strlen(bad[i]), &status),
                         GRPCFRAME_ERR_INVALID);
        free(value);
    }
    assert_int_equal(status, GRPCFRAME_STATUS_MAX);
    assert_string_equal(grpcframe_status_name(0), "OK");
    assert_string_equal(grpcframe_status_name(14), "UNAVAILABLE");
    assert_string_equal(grpcframe_status_name(16), "UNAUTHENTICATED");
    assert_null(grpcframe_status_name(-1));
    assert_null(grpcframe_status_name(17));
}

static void
test_percent(void **state)
{
    static const struct {
        const char *in;
        const char *out;
        int malformed;
    } rows[] = {
        {"", "", 0},         {"plain text", "plain text", 0},
        {"a%20b", "a b", 0}, {"%e2%82%AC", "\xe2\x82\xac", 0},
        {"%25%25", "%%", 0}, {"100%", "100%", 1},
        {"%4", "%4", 1},     {"%4g", "%4g", 1},
        {"%g4", "%g4", 1},   {"%%41", "%A", 1},
        {"%4%41", "%4A", 1}, {"ok%0A%zz%21", "ok\n%zz!", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t len = strlen(rows[i].in);
        char *in = exact(rows[i].in, len);
        char *out = exact(rows[i].in, len);
        int malformed = -1;
        size_t n = grpcframe_percent_decode(out, in, len, &malformed);

        assert_int_equal(n, strlen(rows[i].out));
        assert_memory_equal(out, rows[i].out, n);
        assert_int_equal(malformed, rows[i].malformed);
        assert_int_equal(grpcframe_percent_decode(out, in, len, NULL), n);
        free(in);
        free(out);
    }
}

static void
test_timeout(void **state)
{
    static const struct {
        const char *value;
        uint64_t us;
    } good[] = {
        {"1H", UINT64_C(3600000000)},
        {"99999999H", UINT64_C(99999999) * 3600 * 1000000},
        {"2M", 120000000},
        {"30S", 30000000},
        {"100m", 100000},
        {"7u", 7},
        {"0n", 0},
        {"1n", 1},
        {"1000n", 1},
        {"1001n", 2},
        {"00000001S", 1000000},
    };
    static const char *const bad[] = {"",    "S",          "1",   "1s",  "1h",
                                      "1 S", " 1S",        "-1S", "+1S", "1.5S",
                                      "1SS", "123456789S", "1S ", "1U"};
    uint64_t us;

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        char *value = exact(good[i].value, strlen(good[i].value));

        us = 12345;
        assert_int_equal(
            grpcframe_timeout_parse(value, strlen(good[i].value), &us), 0);
        assert_int_equal(us, good[i].us);
        free(value);
    }
    us = 12345;
    for (size_t i = 0; i < COUNT(bad); i++) {
        char *value = exact(bad[i], strlen(bad[i]));

        assert_int_equal(grpcframe_timeout_parse(value, strlen(bad[i]), &us),
                         GRPCFRAME_ERR_INVALID);
        free(value);
    }
    assert_int_equal(us, 12345);
}

static void
test_codec(void **state)
{
    static const struct {
        const char *name;
        enum grpcframe_codec codec;
    } rows[] = {
        {"", GRPCFRAME_CODEC_NONE},
        {" \t", GRPCFRAME_CODEC_NONE},
        {"identity", GRPCFRAME_CODEC_IDENTITY},
        {"gzip", GRPCFRAME_CODEC_GZIP},
        {" GZip\t", GRPCFRAME_CODEC_GZIP},
        {"x-gzip", GRPCFRAME_CODEC_GZIP},
        {"deflate", GRPCFRAME_CODEC_DEFLATE},
        {"br", GRPCFRAME_CODEC_BR},
        {"ZSTD", GRPCFRAME_CODEC_ZSTD},
        {"snappy", GRPCFRAME_CODEC_SNAPPY},
        {"gzi", GRPCFRAME_CODEC_UNKNOWN},
        {"gzipp", GRPCFRAME_CODEC_UNKNOWN},
        {"gzip,br", GRPCFRAME_CODEC_UNKNOWN},
        {"lz4", GRPCFRAME_CODEC_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t len = strlen(rows[i].name);
        char *name = exact(rows[i].name, len);

        assert_int_equal(grpcframe_codec_parse(name, len), rows[i].codec);
        free(name);
    }
    assert_int_equal(grpcframe_codec_parse("gzip, br", 4),
                     GRPCFRAME_CODEC_GZIP);
}

static void
test_list(void **state)
{
    static const struct {
        const char *list;
        const char *name;
        int has;
    } rows[] = {
        {"", "gzip", 0},
        {"", "", 0},
        {",,", "", 0},
        {"gzip", "gzip", 1},
        {"gzip", "gzi", 0},
        {"gzi", "gzip", 0},
        {"identity,deflate,gzip", "gzip", 1},
        {"identity, deflate ,\tGZIP", "gzip", 1},
        {"identity,deflate,gzip", "Deflate", 1},
        {"identity,,gzip", "gzip", 1},
        {"x-gzip", "gzip", 0},
        {"gzip;q=1", "gzip", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t len = strlen(rows[i].list);
        char *list = exact(rows[i].list, len);

        assert_int_equal(
            grpcframe_list_has(list, len, rows[i].name, strlen(rows[i].name)),
            rows[i].has);
        free(list);
    }
    assert_int_equal(grpcframe_list_has(NULL, 0, "gzip", 4), 0);
}

static void
test_base64(void **state)
{
    static const char *const good[] = {
        "",     "AA",      "AAA",         "AAAA", "AA==",     "AAA=",
        "ab+/", "AAAA,AA", "AA== , AAA=", ",AA",  "AAAAAAAA", "zZ09+/==",
    };
    static const char *const bad[] = {
        "A", "AAAAA", "A===",  "AA=",    "AAA==", "AAAA=", "AA=A",     "AA-_",
        "=", "====",  "AA AA", "AA==AA", "AA,A",  "AA\n",  "AAAA====",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        size_t len = strlen(good[i]);
        char *value = exact(good[i], len);

        if (!grpcframe_base64_valid(value, len))
            fail_msg("valid: %s", good[i]);
        free(value);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        size_t len = strlen(bad[i]);
        char *value = exact(bad[i], len);

        if (grpcframe_base64_valid(value, len))
            fail_msg("invalid: %s", bad[i]);
        free(value);
    }
    assert_int_equal(grpcframe_base64_valid("AA\0=", 4), 0);
}

#define ROW(bytes, name)               \
    {                                  \
        bytes, sizeof(bytes) - 1, name \
    }

static void
test_magic(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *name;
    } rows[] = {
        ROW("", NULL),
        ROW("\x1f\x8b", "gzip"),
        ROW("\x1f", NULL),
        ROW("\x1f\x8a\x08", NULL),
        ROW("\x78\x9c\x01", "zlib"),
        ROW("\x78\x01", "zlib"),
        ROW("\x78\xda", "zlib"),
        ROW("\x78\xbb", NULL), /* wants a dictionary */
        ROW("\x08\x1d", NULL), /* protobuf: field 1 is 29 */
        ROW("\x28\xb5\x2f\xfd", "zstd"),
        ROW("\x28\xb5\x2f", NULL),
        ROW("\xff\x06\x00\x00sNaPpY", "snappy"),
        ROW("\xff\x06\x00\x00sNaPp", NULL),
        ROW("<html>", "html"),
        ROW("<!DOCTYPE html>", "html"),
        ROW("\xef\xbb\xbf\r\n <HTML", "html"),
        ROW("<htm", NULL),
        ROW("<a>", NULL),
        ROW("{\"a\":1}", "json"),
        ROW("{ }", "json"),
        ROW("{\n", "json"),
        ROW(" [1,2]", "json"),
        ROW("[]", "json"),
        ROW("[{\"a\"", "json"),
        ROW("{", NULL),
        ROW("{a", NULL),
        ROW("[\0", NULL),
        ROW("[x", NULL),
        ROW("\n\x05hello", NULL), /* protobuf: field 1 is a string */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *bytes = exact(rows[i].bytes, rows[i].len);
        const char *name = grpcframe_magic((const uint8_t *)bytes, rows[i].len);

        if (rows[i].name == NULL)
            assert_null(name);
        else
            assert_string_equal(name != NULL ? name : "none", rows[i].name);
        free(bytes);
    }
}

static void
test_texts(void **state)
{
    static const int errors[] = {GRPCFRAME_OK, GRPCFRAME_ERR_CALLBACK,
                                 GRPCFRAME_ERR_INVALID, GRPCFRAME_ERR_NOMEM};

    (void)state;
    for (size_t i = 0; i < COUNT(errors); i++) {
        const char *text = grpcframe_strerror(errors[i]);

        assert_string_not_equal(text, "unknown error");
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(text, grpcframe_strerror(errors[k]));
    }
    assert_string_equal(grpcframe_strerror(-77), "unknown error");
    assert_int_equal(grpcframe_error_is_fatal(GRPCFRAME_OK), 0);
    assert_int_equal(grpcframe_error_is_fatal(GRPCFRAME_ERR_CALLBACK), 0);
    assert_int_equal(grpcframe_error_is_fatal(GRPCFRAME_ERR_INVALID), 0);
    assert_int_equal(grpcframe_error_is_fatal(GRPCFRAME_ERR_NOMEM), 1);
    for (int i = GRPCFRAME_RESULT_OK; i <= GRPCFRAME_RESULT_MEMORY; i++) {
        const char *text = grpcframe_result_reason((enum grpcframe_result)i);

        assert_string_not_equal(text, "unknown result");
        for (int k = GRPCFRAME_RESULT_OK; k < i; k++)
            assert_string_not_equal(
                text, grpcframe_result_reason((enum grpcframe_result)k));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),  cmocka_unit_test(test_percent),
        cmocka_unit_test(test_timeout), cmocka_unit_test(test_codec),
        cmocka_unit_test(test_list),    cmocka_unit_test(test_base64),
        cmocka_unit_test(test_magic),   cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
