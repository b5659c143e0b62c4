/* SPDX-License-Identifier: MIT */
/* text.c, timefmt.c and json.c: whatever bytes come, lines stay valid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <cjson/cJSON.h>

#include "../../proxy/json.h"
#include "../../proxy/text.h"
#include "../../proxy/timefmt.h"

static void
test_utf8(void **state)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } table[] = {
        {"plain", 5, "plain"},
        {"gr\xc3\xb6\xc3\x9f" "er", 8, "gr\xc3\xb6\xc3\x9f" "er"},
        {"\xe5\x80\xa4", 3, "\xe5\x80\xa4"},
        {"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80"},
        {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"},
        {"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"}, /* > U+10FFFF */
        {"\xc0\xaf", 2, "\\xc0\\xaf"},                   /* overlong */
        {"\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf"},
        {"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"}, /* a surrogate */
        {"a\xff" "b", 3, "a\\xffb"},
        {"\xe5\x80", 2, "\\xe5\\x80"}, /* cut short */
        {"\xc3", 1, "\\xc3"},
        {"a\0b", 3, "a\\x00b"},
        {"", 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char out[64];
        size_t len = text_utf8(out, sizeof(out), table[i].in, table[i].len);

        assert_string_equal(out, table[i].out);
        assert_int_equal(len, strlen(table[i].out));
    }
}

/* A character is written whole or not at all. */
static void
test_utf8_cap(void **state)
{
    char out[8];

    (void)state;
    assert_int_equal(text_utf8(out, 4, "ab\xc3\xb6", 4), 2);
    assert_string_equal(out, "ab");
    assert_int_equal(text_utf8(out, 5, "ab\xc3\xb6", 4), 4);
    assert_int_equal(text_utf8(out, 4, "\xff", 1), 0);
    assert_int_equal(text_utf8(out, 5, "\xff", 1), 4);
    assert_int_equal(text_utf8(out, 1, "a", 1), 0);
    assert_int_equal(text_utf8(out, 0, "a", 1), 0);
}

/* Each day of 400 years, and the ends of a day, against the C library. */
static void
test_time(void **state)
{
    (void)state;
    for (int64_t day = 0; day < 146097; day++) {
        int64_t second = day * 86400 + day % 86400;
        time_t when = (time_t)second;
        struct tm tm;
        char want[TIME_TEXT_LEN + 8];
        char got[TIME_TEXT_LEN];

        assert_non_null(gmtime_r(&when, &tm));
        strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.000123Z", &tm);
        time_format(second * 1000000 + 123, got);
        assert_string_equal(got, want);
    }
}

static void
test_time_before_1970(void **state)
{
    char got[TIME_TEXT_LEN];

    (void)state;
    time_format(-1, got);
    assert_string_equal(got, "1969-12-31T23:59:59.999999Z");
}

/* Writes one object with every kind of member, parses it with cJSON. */
static void
test_json(void **state)
{
    static const char nasty[] = "\"\\/\b\f\n\r\t\x01\x7f\xff\xc3\xb6\0z";
    struct lane lane;
    struct json json;
    cJSON *object;

    (void)state;
    lane_init(&lane, NULL);
    assert_true(lane_begin(&lane, EVENT_CALL));
    json_begin(&json, &lane);
    json_uint(&json, "max", UINT64_MAX);
    json_uint(&json, "zero", 0);
    json_uint(&json, "ten", 10);
    json_bool(&json, "yes", 1);
    json_null(&json, "nothing");
    json_text(&json, "nasty", nasty, sizeof(nasty) - 1);
    json_text(&json, "none", NULL, 0);
    json_open(&json, "in");
    json_close(&json);
    json_array_open(&json, "list");
    json_uint(&json, NULL, 1);
    json_array_open(&json, NULL);
    json_string(&json, NULL, "a");
    json_array_close(&json);
    json_array_close(&json);
    json_string(&json, "last", "x");
    json_end(&json);
    lane_end(&lane);
    lane_append(&lane, "", 1);
    assert_non_null(strstr(lane.data, "\"max\":18446744073709551615,"));
    assert_non_null(strstr(lane.data, "\"zero\":0,\"ten\":10,"));
    assert_non_null(strstr(lane.data, "\"list\":[1,[\"a\"]],"));
    object = cJSON_Parse(lane.data);
    assert_non_null(object);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(object, "none")));
    assert_string_equal(
        cJSON_GetStringValue(cJSON_GetObjectItem(object, "last")), "x");
    assert_non_null(strstr(lane.data,
                           "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\\\\xff"
                           "\xc3\xb6\\\\x00z\""));
    cJSON_Delete(object);
    lane_clear(&lane);
}

/* Each single byte, and each pair, leaves a string that is valid JSON. */
static void
test_json_any_bytes(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair < 65536; pair += 7) {
        char bytes[2] = {(char)(pair >> 8), (char)pair};
        struct lane lane;
        struct json json;
        cJSON *object;

        lane_init(&lane, NULL);
        assert_true(lane_begin(&lane, EVENT_CALL));
        json_begin(&json, &lane);
        json_text(&json, "k", bytes, 2);
        json_end(&json);
        lane_end(&lane);
        object = cJSON_ParseWithLength(lane.data, lane.len);
        assert_non_null(object);
        cJSON_Delete(object);
        lane_clear(&lane);
    }
}

/* Every byte at every place among plain ones, to which the writer takes a
 * short cut, eight at a time: what is read back is what text.h says. */
static void
test_json_places(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 256 * 20; i++) {
        char bytes[] = "a[z~ ]!#{0}@^`AZ]?_.";
        char shown[4 * sizeof(bytes) + 1];
        struct lane lane;
        struct json json;
        cJSON *object;

        bytes[i % 20] = (char)(i / 20);
        text_utf8(shown, sizeof(shown), bytes, 20);
        lane_init(&lane, NULL);
        assert_true(lane_begin(&lane, EVENT_CALL));
        json_begin(&json, &lane);
        json_text(&json, "k", bytes, 20);
        json_end(&json);
        lane_end(&lane);
        object = cJSON_ParseWithLength(lane.data, lane.len);
        assert_string_equal(
            cJSON_GetStringValue(cJSON_GetObjectItem(object, "k")), shown);
        cJSON_Delete(object);
        lane_clear(&lane);
    }
}

/* A line longer than any room asked for at once, and one that becomes too
 * long: it is dropped as a whole. */
static void
test_json_long(void **state)
{
    static char text[5000];
    struct lane lane;
    struct json json;
    cJSON *object;

    (void)state;
    memset(text, 'x', sizeof(text));
    lane_init(&lane, NULL);
    for (uint64_t n = 1; n < 10000; n *= 3) {
        assert_true(lane_begin(&lane, EVENT_CALL));
        json_begin(&json, &lane);
        json_array_open(&json, "list");
        for (uint64_t i = 0; i < n; i++) {
            json_text(&json, NULL, text, sizeof(text));
        }
        json_array_close(&json);
        json_end(&json);
        lane_end(&lane);
        assert_int_equal(lane.lost[EVENT_CALL], n > 3300);
        if (n < 3300) {
            object = cJSON_ParseWithLength(lane.data, lane.len);
            assert_int_equal(
                cJSON_GetArraySize(cJSON_GetObjectItem(object, "list")), n);
            cJSON_Delete(object);
        }
        lane_clear(&lane);
    }
}

/* The memo changes nothing. */
static void
test_time_memo(void **state)
{
    static const int64_t steps[] = {0,       1,           999999, 1000000,
                                    -1000000, 86400000000, -1,     1,
                                    123456789, -2000000};
    struct time_memo memo = {0};
    int64_t wall_us = 1796060457000000;
    char text[TIME_TEXT_LEN];

    (void)state;
    for (int i = 0; i < 100; i++) {
        wall_us += steps[i % 10];
        time_format(wall_us, text);
        assert_string_equal(time_format_memo(&memo, wall_us), text);
    }
    for (wall_us = -3000000; wall_us < 3000000; wall_us += 333333) {
        time_format(wall_us, text);
        assert_string_equal(time_format_memo(&memo, wall_us), text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_utf8_cap),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_time_before_1970),
        cmocka_unit_test(test_time_memo),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_any_bytes),
        cmocka_unit_test(test_json_places),
        cmocka_unit_test(test_json_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
