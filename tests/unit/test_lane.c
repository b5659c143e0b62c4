/* SPDX-License-Identifier: MIT */
/* Lanes without a sink: lines, lines that fail, limits; and the events of a
 * run, parsed back.  Full outputs are test_sink.c's. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../proxy/event_run.h"
#include "../../proxy/kind.h"
#include "../../proxy/lane.h"
#include "../../proxy/version.h"
#include "../vector_alloc.h"

/* 2026-11-30T17:40:57.000009Z */
#define WALL_US (INT64_C(1796060457) * 1000000 + 9)

static void
test_lines(void **state)
{
    struct lane lane;

    (void)state;
    lane_init(&lane, NULL);
    assert_int_equal(lane_begin(&lane, EVENT_CALL), 1);
    lane_append(&lane, "{\"a\":", 5);
    char *to = lane_reserve(&lane, 100);
    assert_non_null(to);
    memcpy(to, "1}", 2);
    lane.len += 2;
    lane_end(&lane);
    assert_int_equal(lane_begin(&lane, EVENT_NOTICE), 1);
    lane_append(&lane, "{}", 2);
    lane_end(&lane);
    lane_flush(&lane);
    assert_int_equal(lane.len, 11);
    assert_memory_equal(lane.data, "{\"a\":1}\n{}\n", 11);
    assert_int_equal(lane_has_dropped(&lane), 0);
    lane_clear(&lane);
}

/* test_failed_line: a line that failed is taken back as a whole and counted;
 * so is one to which nothing was appended. */
static void
test_failed_line(void **state)
{
    struct lane lane;

    (void)state;
    lane_init(&lane, NULL);
    lane_begin(&lane, EVENT_CALL);
    lane_append(&lane, "first", 5);
    lane_end(&lane);
    lane_begin(&lane, EVENT_MESSAGE);
    lane_append(&lane, "half", 4);
    lane.failed = 1;
    lane_append(&lane, "more", 4);
    assert_null(lane_reserve(&lane, 1));
    lane_end(&lane);
    lane_begin(&lane, EVENT_NOTICE);
    lane_end(&lane);
    lane_begin(&lane, EVENT_CALL);
    lane_append(&lane, "last", 4);
    lane_end(&lane);
    assert_int_equal(lane.len, 11);
    assert_memory_equal(lane.data, "first\nlast\n", 11);
    assert_int_equal(lane.dropped[EVENT_MESSAGE], 1);
    assert_int_equal(lane.lost[EVENT_MESSAGE], 1);
    assert_int_equal(lane.dropped[EVENT_NOTICE], 1);
    assert_int_equal(lane_has_dropped(&lane), 1);
    lane_clear(&lane);
}

/* test_line_max: the longest line, and one byte more. */
static void
test_line_max(void **state)
{
    struct lane lane;
    char *bytes = malloc(LANE_LINE_MAX);

    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'x', LANE_LINE_MAX);
    lane_init(&lane, NULL);
    lane_begin(&lane, EVENT_HEADERS);
    lane_append(&lane, bytes, LANE_LINE_MAX - 2);
    lane_append(&lane, bytes, 1);
    lane_end(&lane);
    assert_int_equal(lane.len, LANE_LINE_MAX);
    lane_begin(&lane, EVENT_HEADERS);
    lane_append(&lane, bytes, LANE_LINE_MAX - 1);
    lane_append(&lane, bytes, 1);
    lane_end(&lane);
    lane_begin(&lane, EVENT_HEADERS);
    assert_null(lane_reserve(&lane, SIZE_MAX));
    lane_end(&lane);
    assert_int_equal(lane.len, LANE_LINE_MAX);
    assert_int_equal(lane.dropped[EVENT_HEADERS], 2);
    lane_clear(&lane);
    free(bytes);
}

/* take parses the one line in |lane|, which must be whole, and empties it. */
static cJSON *
take(struct lane *lane)
{
    const char *end = NULL;

    assert_true(lane->len > 0 && lane->data[lane->len - 1] == '\n');
    lane->data[lane->len - 1] = '\0';
    assert_null(strchr(lane->data, '\n'));
    cJSON *json = cJSON_ParseWithOpts(lane->data, &end, 1);
    assert_non_null(json);
    lane->len = 0;
    lane->line = 0;
    return json;
}

static const char *
text_of(const cJSON *json, const char *name)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));

    assert_non_null(text);
    return text;
}

static void
test_start(void **state)
{
    struct lane lane;

    (void)state;
    lane_init(&lane, NULL);
    assert_int_equal(
        event_start(&lane, WALL_US, "127.0.0.1:8080", "unix:/tmp/\"\xff\x01"),
        0);
    cJSON *json = take(&lane);
    assert_string_equal(text_of(json, "event"), "start");
    assert_string_equal(text_of(json, "time"), "2026-11-30T17:40:57.000009Z");
    assert_string_equal(text_of(json, "version"), GRPCTAP_VERSION);
    assert_string_equal(text_of(json, "listen"), "127.0.0.1:8080");
    assert_string_equal(text_of(json, "upstream"), "unix:/tmp/\"\\xff\x01");
    assert_true(cJSON_GetObjectItem(json, "pid")->valuedouble == getpid());
    assert_int_equal(cJSON_GetArraySize(json), 6);
    cJSON_Delete(json);
    lane_clear(&lane);
}

/* test_stop: 64 bits arrive to the last one, which a double does not hold. */
static void
test_stop(void **state)
{
    const struct run_totals totals = {
        .connections = 1,
        .calls = 2,
        .messages = 3,
        .notices = 4,
        .bytes_from_client = UINT64_MAX,
        .bytes_from_server = 9007199254740993,
        .dropped = 7,
        .duration_us = 8,
    };
    static const char expected[] =
        "{\"event\":\"stop\",\"time\":\"2026-11-30T17:40:57.000009Z\","
        "\"duration_us\":8,\"connections\":1,\"calls\":2,\"messages\":3,"
        "\"notices\":4,\"bytes_from_client\":18446744073709551615,"
        "\"bytes_from_server\":9007199254740993,\"dropped\":7}\n";
    struct lane lane;

    (void)state;
    lane_init(&lane, NULL);
    assert_int_equal(event_stop(&lane, WALL_US, &totals), 0);
    assert_int_equal(lane.len, sizeof(expected) - 1);
    assert_memory_equal(lane.data, expected, lane.len);
    lane_clear(&lane);
}

static void
test_dropped(void **state)
{
    static const char expected[] =
        "{\"event\":\"dropped\",\"time\":\"2026-11-30T17:40:57.000009Z\","
        "\"counts\":{\"call\":5,\"message\":12345678901234567},"
        "\"total\":12345678901234572}\n";
    struct lane lane;

    (void)state;
    lane_init(&lane, NULL);
    lane.dropped[EVENT_CALL] = 5;
    lane.dropped[EVENT_MESSAGE] = 12345678901234567;
    assert_int_equal(event_dropped(&lane, WALL_US), 0);
    assert_int_equal(lane.len, sizeof(expected) - 1);
    assert_memory_equal(lane.data, expected, lane.len);
    assert_int_equal(lane_dropped_total(&lane), 0);
    assert_int_equal(lane_has_dropped(&lane), 0);
    lane_clear(&lane);
}

/* test_no_memory: with any allocation failing there is no line, not half of
 * one, and the counts stay, for the next report. */
static void
test_no_memory(void **state)
{
    struct lane lane;
    int result = -1;
    uint64_t n = 0;

    (void)state;
    assert_true(vector_alloc_is_wrapped());
    lane_init(&lane, NULL);
    lane.dropped[EVENT_CALL] = 5;
    while (result != 0) {
        assert_int_equal(lane.len, 0);
        assert_true(lane_dropped_total(&lane) == 5);
        vector_alloc_arm(++n, VECTOR_ALLOC_ONCE);
        result = event_dropped(&lane, WALL_US);
        vector_alloc_disarm();
    }
    assert_true(n > 1);
    cJSON_Delete(take(&lane));
    lane_clear(&lane);
}

static void
test_kinds(void **state)
{
    unsigned mask = 0;

    (void)state;
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        assert_true(strlen(event_kind_name((enum event_kind)kind)) > 0);
        assert_int_equal(event_kind_is_vital((enum event_kind)kind),
                         kind <= EVENT_DROPPED);
    }
    assert_string_equal(event_kind_name(EVENT_CONNECTION_CLOSE),
                        "connection_close");
    assert_string_equal(event_kind_name(EVENT_SETTINGS), "settings");
    assert_int_equal(event_kind_select(&mask, "calls", 4), 0);
    assert_int_equal(mask, 1u << EVENT_CALL);
    assert_int_equal(event_kind_select(&mask, "call", 3), -1);
    assert_int_equal(event_kind_select(&mask, "", 0), -1);
    assert_int_equal(mask, 1u << EVENT_CALL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_failed_line),
        cmocka_unit_test(test_line_max),  cmocka_unit_test(test_start),
        cmocka_unit_test(test_stop),      cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_kinds),
    };

    return cmocka_run_group_tests_name("lane", tests, NULL, NULL);
}
