/* SPDX-License-Identifier: MIT */
/* The figures of a connection that no notice tells: round trips of PINGs,
 * peaks, and stalls as totals.  Notices are in tests/vectors/pace.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../proxy/call.h"
#include "../../proxy/lane.h"
#include "../../proxy/pace.h"
#include "../../proxy/tap_conn.h"

#define MAX_CONCURRENT 3

/* struct rig is a tap and what it needs. */
struct rig {
    struct tap_config config;
    struct lane lane;
    struct tap_shared *shared;
    struct tap *tap;
    /* now_us is the time of what is fed. */
    uint64_t now_us;
};

/* ---- Making input ---------------------------------------------------- */

static void
frame(struct rig *rig, enum side side, uint8_t type, uint8_t flags,
      uint32_t id, const void *payload, size_t len)
{
    uint8_t header[H2DEC_FRAME_HEADER_LEN] = {
        (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,
        type, flags, (uint8_t)(id >> 24), (uint8_t)(id >> 16),
        (uint8_t)(id >> 8), (uint8_t)id};
    uint8_t *bytes = calloc(1, len + 1);

    assert_non_null(bytes);
    if (payload != NULL) {
        memcpy(bytes, payload, len);
    }
    tap_observer.bytes(rig->tap, side, header, sizeof(header), rig->now_us);
    if (len > 0) {
        tap_observer.bytes(rig->tap, side, bytes, len, rig->now_us);
    }
    free(bytes);
}

static void
start(struct rig *rig)
{
    memset(rig, 0, sizeof(*rig));
    lane_init(&rig->lane, NULL);
    rig->shared = tap_shared_new(&rig->config, &rig->lane, NULL, 0);
    assert_non_null(rig->shared);
    rig->tap = tap_new(rig->shared, 1, "test", 0);
    assert_non_null(rig->tap);
    tap_observer.opened(rig->tap, "test", 0, 0);
    tap_observer.bytes(rig->tap, SIDE_CLIENT, (const uint8_t *)h2dec_preface,
                       H2DEC_PREFACE_LEN, 0);
    frame(rig, SIDE_CLIENT, H2DEC_SETTINGS, 0, 0, NULL, 0);
    frame(rig, SIDE_SERVER, H2DEC_SETTINGS, 0, 0, NULL, 0);
}

static void
finish(struct rig *rig)
{
    tap_observer.closed(rig->tap, CONN_CLIENT_CLOSED, NULL, rig->now_us);
    tap_shared_free(rig->shared);
    lane_clear(&rig->lane);
}

static void
ping(struct rig *rig, enum side side, uint8_t flags, const char *opaque)
{
    frame(rig, side, H2DEC_PING, flags, 0, opaque, H2DEC_PING_LEN);
}

/* `:method: GET`, as an indexed field. */
static void
request(struct rig *rig, uint32_t id)
{
    frame(rig, SIDE_CLIENT, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS, id, "\x82",
          1);
}

static void
reset(struct rig *rig, enum side side, uint32_t id)
{
    frame(rig, side, H2DEC_RST_STREAM, 0, id, NULL, 4);
}

/* ---- Tests ----------------------------------------------------------- */

static void
test_round_trips(void **state)
{
    struct rig rig;
    struct pace_figures figures;

    (void)state;
    start(&rig);
    figures = pace_figures(rig.tap, SIDE_CLIENT);
    assert_int_equal(figures.pings, 0);
    assert_int_equal(figures.answered, 0);
    rig.now_us = 1000;
    ping(&rig, SIDE_CLIENT, 0, "aaaaaaaa");
    rig.now_us = 2000;
    ping(&rig, SIDE_CLIENT, 0, "bbbbbbbb");
    ping(&rig, SIDE_CLIENT, 0, "aaaaaaaa");
    rig.now_us = 5000;
    ping(&rig, SIDE_SERVER, H2DEC_FLAG_ACK, "bbbbbbbb");
    ping(&rig, SIDE_SERVER, H2DEC_FLAG_ACK, "cccccccc");
    ping(&rig, SIDE_SERVER, H2DEC_FLAG_ACK, "aaaaaaaa");
    rig.now_us = 10000;
    ping(&rig, SIDE_SERVER, H2DEC_FLAG_ACK, "aaaaaaaa");
    /* 3,000, 4,000 and 8,000. */
    figures = pace_figures(rig.tap, SIDE_CLIENT);
    assert_int_equal(figures.pings, 3);
    assert_int_equal(figures.answered, 3);
    assert_int_equal(figures.ping_min_us, 3000);
    assert_int_equal(figures.ping_avg_us, 5000);
    assert_int_equal(figures.ping_max_us, 8000);
    assert_int_equal(pace_figures(rig.tap, SIDE_SERVER).pings, 0);
    finish(&rig);
}

/* More at once than are tracked, all alike: no ACK is taken for another's. */
static void
test_pings_max(void **state)
{
    struct rig rig;
    struct pace_figures figures;

    (void)state;
    start(&rig);
    for (int i = 0; i < PACE_PINGS_MAX + 3; i++) {
        ping(&rig, SIDE_SERVER, 0, "aaaaaaaa");
    }
    rig.now_us = 1000;
    for (int i = 0; i < PACE_PINGS_MAX; i++) {
        ping(&rig, SIDE_CLIENT, H2DEC_FLAG_ACK, "aaaaaaaa");
    }
    ping(&rig, SIDE_SERVER, 0, "aaaaaaaa");
    for (int i = 0; i < 4; i++) {
        ping(&rig, SIDE_CLIENT, H2DEC_FLAG_ACK, "aaaaaaaa");
    }
    figures = pace_figures(rig.tap, SIDE_SERVER);
    assert_int_equal(figures.pings, PACE_PINGS_MAX + 4);
    assert_int_equal(figures.answered, PACE_PINGS_MAX);
    assert_int_equal(figures.ping_min_us, 1000);
    /* All are answered: the next one is tracked again. */
    ping(&rig, SIDE_SERVER, 0, "aaaaaaaa");
    ping(&rig, SIDE_CLIENT, H2DEC_FLAG_ACK, "aaaaaaaa");
    assert_int_equal(pace_figures(rig.tap, SIDE_SERVER).answered,
                     PACE_PINGS_MAX + 1);
    finish(&rig);
}

static void
test_streams(void **state)
{
    static const uint8_t limit[6] = {0, MAX_CONCURRENT, 0, 0, 0, 2};
    struct rig rig;
    struct pace_figures figures;

    (void)state;
    start(&rig);
    request(&rig, 1);
    figures = pace_figures(rig.tap, SIDE_CLIENT);
    assert_int_equal(figures.peak_streams, 1);
    assert_int_equal(figures.has_limit, 0);
    frame(&rig, SIDE_SERVER, H2DEC_SETTINGS, 0, 0, limit, sizeof(limit));
    for (int i = 0; i < 2; i++) {
        request(&rig, 3);
        request(&rig, 5);
        rig.now_us += 1000;
        reset(&rig, SIDE_CLIENT, 3);
        reset(&rig, SIDE_SERVER, 5);
        rig.now_us += 1000;
        request(&rig, 7);
        rig.now_us += 50;
        reset(&rig, SIDE_CLIENT, 7);
    }
    figures = pace_figures(rig.tap, SIDE_CLIENT);
    assert_int_equal(figures.peak_streams, 3);
    assert_int_equal(figures.has_limit, 1);
    assert_int_equal(figures.stream_limit, 2);
    /* The second time these streams are over already. */
    assert_int_equal(figures.limited_us, 1050);
    assert_int_equal(figures.resets, 4);
    assert_int_equal(pace_figures(rig.tap, SIDE_SERVER).resets, 2);
    assert_int_equal(pace_figures(rig.tap, SIDE_SERVER).peak_streams, 0);
    finish(&rig);
}

/* 65,535 bytes on one stream: both windows are empty at once. */
static void
fill(struct rig *rig)
{
    for (int i = 0; i < 4; i++) {
        frame(rig, SIDE_CLIENT, H2DEC_DATA, 0, 1, NULL, i < 3 ? 16384 : 16383);
    }
}

static void
update(struct rig *rig, uint32_t id)
{
    frame(rig, SIDE_SERVER, H2DEC_WINDOW_UPDATE, 0, id, "\0\1\0\0", 4);
}

static void
test_stalls(void **state)
{
    struct rig rig;
    struct pace_figures figures;

    (void)state;
    start(&rig);
    rig.now_us = 1000;
    request(&rig, 1);
    fill(&rig);
    rig.now_us = 3000;
    update(&rig, 1);
    rig.now_us = 5000;
    update(&rig, 0);
    frame(&rig, SIDE_CLIENT, H2DEC_DATA, 0, 1, NULL, 16384);
    reset(&rig, SIDE_CLIENT, 1);
    figures = pace_figures(rig.tap, SIDE_CLIENT);
    assert_int_equal(figures.stalls.count, 1);
    assert_int_equal(figures.stalls.total_us, 4000);
    assert_int_equal(figures.stalls.longest_us, 4000);
    assert_int_equal(figures.connection_stalls.count, 1);
    assert_int_equal(figures.connection_stalls.total_us, 4000);
    assert_int_equal(pace_figures(rig.tap, SIDE_SERVER).stalls.count, 0);
    finish(&rig);
}

/* A window of the connection that is never opened, and a call that gives up
 * before the connection does. */
static void
test_stall_never_ends(void **state)
{
    struct rig rig;
    struct pace_figures figures;

    (void)state;
    start(&rig);
    rig.now_us = 1000;
    request(&rig, 1);
    fill(&rig);
    update(&rig, 1);
    rig.now_us = 5000;
    reset(&rig, SIDE_CLIENT, 1);
    figures = pace_figures(rig.tap, SIDE_CLIENT);
    assert_int_equal(figures.stalls.count, 1);
    assert_int_equal(figures.stalls.total_us, 4000);
    assert_int_equal(figures.connection_stalls.count, 0);
    rig.tap->now_us = 9000;
    h2dec_conn_close(rig.tap->h2);
    figures = pace_figures(rig.tap, SIDE_CLIENT);
    assert_int_equal(figures.stalls.count, 1);
    assert_int_equal(figures.connection_stalls.count, 1);
    assert_int_equal(figures.connection_stalls.total_us, 8000);
    rig.now_us = 9000;
    finish(&rig);
}

/* It used up the window with its last byte: nobody waited. */
static void
test_empty_without_stall(void **state)
{
    struct rig rig;

    (void)state;
    start(&rig);
    request(&rig, 1);
    for (int i = 0; i < 4; i++) {
        frame(&rig, SIDE_CLIENT, H2DEC_DATA, i < 3 ? 0 : H2DEC_FLAG_END_STREAM,
              1, NULL, i < 3 ? 16384 : 16383);
    }
    reset(&rig, SIDE_SERVER, 1);
    rig.tap->now_us = 9000;
    h2dec_conn_close(rig.tap->h2);
    assert_int_equal(
        pace_figures(rig.tap, SIDE_CLIENT).connection_stalls.count, 0);
    finish(&rig);
}

static void
test_first_data(void **state)
{
    struct h2dec_stream stream = {
        .headers_us = {1000, 1000},
        .first_data_us = {4000, H2DEC_NEVER},
    };
    struct rig rig;
    struct call *call;

    (void)state;
    start(&rig);
    call = call_new(rig.tap, 1, CALL_H2, 1000);
    assert_non_null(call);
    pace_call_end(call, &stream);
    assert_int_equal(call->pace[SIDE_CLIENT].has_first_data, 1);
    assert_int_equal(call->pace[SIDE_CLIENT].first_data_us, 3000);
    assert_int_equal(call->pace[SIDE_SERVER].has_first_data, 0);
    call_free(call);
    finish(&rig);
}

static void
test_no_http2(void **state)
{
    static const uint8_t bytes[30] = "no protocol that anybody knows";
    struct rig rig;

    (void)state;
    memset(&rig, 0, sizeof(rig));
    lane_init(&rig.lane, NULL);
    rig.shared = tap_shared_new(&rig.config, &rig.lane, NULL, 0);
    rig.tap = tap_new(rig.shared, 1, "test", 0);
    tap_observer.bytes(rig.tap, SIDE_CLIENT, bytes, sizeof(bytes), 0);
    assert_int_equal(pace_figures(rig.tap, SIDE_CLIENT).peak_streams, 0);
    assert_int_equal(pace_figures(rig.tap, SIDE_CLIENT).has_limit, 0);
    finish(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_pings_max),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_stalls),
        cmocka_unit_test(test_stall_never_ends),
        cmocka_unit_test(test_empty_without_stall),
        cmocka_unit_test(test_first_data),
        cmocka_unit_test(test_no_http2),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
