/* SPDX-License-Identifier: MIT */
/* Flow control in h2dec alone: what vectors cannot say of stalls (their raw
 * times, judged by nobody), the changes of the initial window beyond those
 * that are kept, and the counts of open streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../h2dec/h2dec.h"

#define INITIAL_WINDOW 4
#define MAX_CONCURRENT 3

#define STALLS_MAX 8

/* struct seen is what the callbacks noted. */
struct seen {
    /* n_faults counts by code, fault is the last. */
    unsigned n_faults[H2DEC_FAULT_TABLE_LIMIT + 1];
    struct h2dec_fault fault;
    /* stalls are the first ones, on_stream the streams they are about, 0
     * where there was none. */
    unsigned n_stalls;
    struct h2dec_stall stalls[STALLS_MAX];
    uint32_t on_stream[STALLS_MAX];
    /* ping is the last of n_pings. */
    unsigned n_pings;
    struct h2dec_ping ping;
    /* at_end is the count of the client's streams in stream_end. */
    uint32_t at_end;
    /* ended is the last stream that ended. */
    struct h2dec_stream ended;
    struct h2dec_conn *conn;
    /* now_us is the time of what is fed. */
    uint64_t now_us;
    /* stop makes the next stall stop the connection. */
    int stop;
};

static int
on_fault(const struct h2dec_fault *fault, void *user)
{
    struct seen *seen = user;

    seen->n_faults[fault->code]++;
    seen->fault = *fault;
    return 0;
}

static int
on_stall(const struct h2dec_stall *stall, struct h2dec_stream *stream,
         void *user)
{
    struct seen *seen = user;

    if (seen->n_stalls < STALLS_MAX) {
        seen->stalls[seen->n_stalls] = *stall;
        seen->on_stream[seen->n_stalls] = stream == NULL ? 0 : stream->id;
    }
    seen->n_stalls++;
    return seen->stop;
}

static int
on_ping(const struct h2dec_ping *ping, void *user)
{
    struct seen *seen = user;

    seen->ping = *ping;
    seen->n_pings++;
    return 0;
}

static void
on_end(struct h2dec_stream *stream, const struct h2dec_ending *ending,
       void *user)
{
    struct seen *seen = user;

    (void)ending;
    seen->ended = *stream;
    seen->at_end = h2dec_conn_concurrency(seen->conn, H2DEC_CLIENT)->open;
}

static const struct h2dec_callbacks callbacks = {
    .fault = on_fault,
    .stall = on_stall,
    .ping = on_ping,
    .stream_end = on_end,
};

/* ---- Making input ---------------------------------------------------- */

/* Feeds a frame whose payload is |payload|, or zeros, byte by byte. */
static int
frame(struct seen *seen, enum h2dec_side side, uint8_t type, uint8_t flags,
      uint32_t id, const void *payload, size_t len)
{
    uint8_t header[H2DEC_FRAME_HEADER_LEN] = {
        (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,
        type, flags, (uint8_t)(id >> 24), (uint8_t)(id >> 16),
        (uint8_t)(id >> 8), (uint8_t)id};
    uint8_t *bytes = calloc(1, len + 1);
    int rv = 0;

    assert_non_null(bytes);
    if (payload != NULL) {
        memcpy(bytes, payload, len);
    }
    for (size_t i = 0; i < sizeof(header); i++) {
        rv = h2dec_conn_feed(seen->conn, side, &header[i], 1, seen->now_us);
    }
    if (len > 0) {
        rv = h2dec_conn_feed(seen->conn, side, bytes, len, seen->now_us);
    }
    free(bytes);
    return rv;
}

static void
settings(struct seen *seen, enum h2dec_side side, uint16_t id, uint32_t value)
{
    uint8_t entry[6] = {(uint8_t)(id >> 8), (uint8_t)id,
                        (uint8_t)(value >> 24), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 8), (uint8_t)value};

    frame(seen, side, H2DEC_SETTINGS, 0, 0, entry, sizeof(entry));
}

static void
ack(struct seen *seen, enum h2dec_side side)
{
    frame(seen, side, H2DEC_SETTINGS, H2DEC_FLAG_ACK, 0, NULL, 0);
}

/* `:status: 200` or `:method: GET`, as indexed fields. */
static int
headers(struct seen *seen, enum h2dec_side side, uint32_t id, uint8_t flags)
{
    return frame(seen, side, H2DEC_HEADERS, flags | H2DEC_FLAG_END_HEADERS,
                 id, side == H2DEC_CLIENT ? "\x82" : "\x88", 1);
}

static int
data(struct seen *seen, enum h2dec_side side, uint32_t id, size_t len,
     uint8_t flags)
{
    return frame(seen, side, H2DEC_DATA, flags, id, NULL, len);
}

static void
update(struct seen *seen, enum h2dec_side side, uint32_t id, uint32_t n)
{
    uint8_t payload[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16),
                          (uint8_t)(n >> 8), (uint8_t)n};

    frame(seen, side, H2DEC_WINDOW_UPDATE, 0, id, payload, 4);
}

static void
reset(struct seen *seen, enum h2dec_side side, uint32_t id)
{
    frame(seen, side, H2DEC_RST_STREAM, 0, id, NULL, 4);
}

/* Starts a connection with stream 1 open, on which the client may send
 * |window| bytes. */
static void
start(struct seen *seen, uint32_t window)
{
    memset(seen, 0, sizeof(*seen));
    assert_int_equal(h2dec_conn_new(&seen->conn, &callbacks, seen), 0);
    h2dec_conn_feed(seen->conn, H2DEC_CLIENT, (const uint8_t *)h2dec_preface,
                    H2DEC_PREFACE_LEN, 0);
    settings(seen, H2DEC_CLIENT, INITIAL_WINDOW, 65535);
    settings(seen, H2DEC_SERVER, INITIAL_WINDOW, window);
    ack(seen, H2DEC_CLIENT);
    seen->now_us = 1000;
    headers(seen, H2DEC_CLIENT, 1, 0);
}

static void
finish(struct seen *seen)
{
    h2dec_conn_close(seen->conn);
    h2dec_conn_free(seen->conn);
}

/* ---- Stalls ---------------------------------------------------------- */

static void
test_stall_times(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    seen.now_us = 2000;
    data(&seen, H2DEC_CLIENT, 1, 100, 0);
    seen.now_us = 3000;
    update(&seen, H2DEC_SERVER, 1, 1);
    seen.now_us = 4000;
    update(&seen, H2DEC_SERVER, 1, 1);
    assert_int_equal(seen.n_stalls, 0);
    seen.now_us = 5000;
    data(&seen, H2DEC_CLIENT, 1, 2, 0);
    assert_int_equal(seen.n_stalls, 1);
    assert_int_equal(seen.on_stream[0], 1);
    assert_int_equal(seen.stalls[0].side, H2DEC_CLIENT);
    assert_int_equal(seen.stalls[0].window, H2DEC_WINDOW_STREAM);
    assert_int_equal(seen.stalls[0].reopened, 1);
    assert_int_equal(seen.stalls[0].resumed, 1);
    assert_int_equal(seen.stalls[0].started_us, 2000);
    assert_int_equal(seen.stalls[0].reopened_us, 3000);
    assert_int_equal(seen.stalls[0].ended_us, 5000);
    /* The next one has begun, and ends with the stream. */
    seen.now_us = 9000;
    reset(&seen, H2DEC_CLIENT, 1);
    assert_int_equal(seen.n_stalls, 2);
    assert_int_equal(seen.stalls[1].started_us, 5000);
    assert_int_equal(seen.stalls[1].ended_us, 9000);
    assert_int_equal(seen.stalls[1].reopened, 0);
    assert_int_equal(seen.stalls[1].resumed, 0);
    finish(&seen);
    assert_int_equal(seen.n_stalls, 2);
}

/* A window update in the middle of a DATA frame: it was never empty for the
 * sender. */
static void
test_opened_while_sending(void **state)
{
    static const uint8_t head[H2DEC_FRAME_HEADER_LEN] = {
        0, 0, 100, H2DEC_DATA, 0, 0, 0, 0, 1};
    static const uint8_t body[100];
    struct seen seen;

    (void)state;
    start(&seen, 100);
    h2dec_conn_feed(seen.conn, H2DEC_CLIENT, head, sizeof(head), 2000);
    h2dec_conn_feed(seen.conn, H2DEC_CLIENT, body, 50, 2000);
    seen.now_us = 3000;
    update(&seen, H2DEC_SERVER, 1, 100);
    h2dec_conn_feed(seen.conn, H2DEC_CLIENT, body, 50, 4000);
    seen.now_us = 5000;
    data(&seen, H2DEC_CLIENT, 1, 100, 0);
    finish(&seen);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 0);
    /* Only the second frame left an empty window behind. */
    assert_int_equal(seen.n_stalls, 1);
    assert_int_equal(seen.stalls[0].started_us, 5000);
}

/* Whoever sends on without leave has not waited. */
static void
test_fault_is_no_stall(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    data(&seen, H2DEC_CLIENT, 1, 100, 0);
    seen.now_us = 9000;
    data(&seen, H2DEC_CLIENT, 1, 100, 0);
    data(&seen, H2DEC_CLIENT, 1, 100, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 1);
    assert_int_equal(seen.fault.value, 100);
    assert_int_equal(seen.fault.limit, 0);
    update(&seen, H2DEC_SERVER, 1, 1000);
    finish(&seen);
    assert_int_equal(seen.n_stalls, 0);
}

/* What the server was told before it began to answer kept it from nothing. */
static void
test_changes_before_headers(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    settings(&seen, H2DEC_CLIENT, INITIAL_WINDOW, 0);
    ack(&seen, H2DEC_SERVER);
    ack(&seen, H2DEC_SERVER);
    seen.now_us = 5000;
    settings(&seen, H2DEC_CLIENT, INITIAL_WINDOW, 1000);
    ack(&seen, H2DEC_SERVER);
    seen.now_us = 6000;
    headers(&seen, H2DEC_SERVER, 1, 0);
    data(&seen, H2DEC_SERVER, 1, 10, 0);
    finish(&seen);
    assert_int_equal(seen.n_stalls, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 0);
}

/* Nor does a response begin with 1xx. */
static void
test_informational(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    ack(&seen, H2DEC_SERVER);
    settings(&seen, H2DEC_CLIENT, INITIAL_WINDOW, 0);
    ack(&seen, H2DEC_SERVER);
    /* `:status` as an indexed name, and its value. */
    frame(&seen, H2DEC_SERVER, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS, 1,
          "\x08\x03" "103", 5);
    seen.now_us = 5000;
    update(&seen, H2DEC_CLIENT, 1, 100);
    headers(&seen, H2DEC_SERVER, 1, 0);
    data(&seen, H2DEC_SERVER, 1, 10, 0);
    finish(&seen);
    assert_int_equal(seen.n_stalls, 0);
    assert_int_equal(seen.ended.headers_us[H2DEC_SERVER], 5000);
}

/* More changes than are kept, while nothing happens on the stream: the window
 * is right nevertheless. */
static void
test_changes_max(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    data(&seen, H2DEC_CLIENT, 1, 60, 0);
    for (uint32_t i = 0; i <= H2DEC_CHANGES_MAX; i++) {
        seen.now_us += 1000;
        settings(&seen, H2DEC_SERVER, INITIAL_WINDOW, i % 2 ? 200 : 50);
        ack(&seen, H2DEC_CLIENT);
    }
    /* 50 - 60: nothing more, until 11 have come. */
    update(&seen, H2DEC_SERVER, 1, 11);
    data(&seen, H2DEC_CLIENT, 1, 1, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 0);
    data(&seen, H2DEC_CLIENT, 1, 1, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 1);
    finish(&seen);
}

/* SETTINGS beyond those that are remembered one by one: the largest window of
 * all that wait may be known. */
static void
test_pending_max(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    for (unsigned i = 0; i < H2DEC_PENDING_MAX + 2; i++) {
        settings(&seen, H2DEC_SERVER, INITIAL_WINDOW,
                 i == H2DEC_PENDING_MAX ? 150 : 10);
    }
    data(&seen, H2DEC_CLIENT, 1, 150, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 0);
    for (unsigned i = 0; i < H2DEC_PENDING_MAX + 2; i++) {
        ack(&seen, H2DEC_CLIENT);
    }
    headers(&seen, H2DEC_CLIENT, 3, 0);
    data(&seen, H2DEC_CLIENT, 3, 10, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 0);
    data(&seen, H2DEC_CLIENT, 3, 1, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 1);
    finish(&seen);
}

/* The connection's window: reported with whoever goes on, with those that end
 * meanwhile, and once for itself at the end. */
static void
test_connection(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 65535);
    headers(&seen, H2DEC_CLIENT, 3, 0);
    headers(&seen, H2DEC_CLIENT, 5, 0);
    for (uint32_t i = 0; i < 4; i++) {
        data(&seen, H2DEC_CLIENT, i < 2 ? 1 : 3, i < 3 ? 16384 : 16383, 0);
    }
    seen.now_us = 5000;
    reset(&seen, H2DEC_SERVER, 1);
    assert_int_equal(seen.n_stalls, 1);
    assert_int_equal(seen.on_stream[0], 1);
    assert_int_equal(seen.stalls[0].window, H2DEC_WINDOW_CONNECTION);
    assert_int_equal(seen.stalls[0].resumed, 0);
    update(&seen, H2DEC_SERVER, 0, 10);
    seen.now_us = 6000;
    data(&seen, H2DEC_CLIENT, 3, 10, 0);
    assert_int_equal(seen.n_stalls, 2);
    assert_int_equal(seen.on_stream[1], 3);
    assert_int_equal(seen.stalls[1].resumed, 1);
    assert_int_equal(seen.stalls[1].reopened_us, 5000);
    assert_int_equal(seen.stalls[1].ended_us, 6000);
    /* No bytes, but the time. */
    h2dec_conn_feed(seen.conn, H2DEC_CLIENT, NULL, 0, 7000);
    finish(&seen);
    assert_int_equal(seen.n_stalls, 5);
    assert_int_equal(seen.on_stream[2], 3);
    assert_int_equal(seen.on_stream[3], 5);
    assert_int_equal(seen.on_stream[4], 0);
    assert_int_equal(seen.stalls[4].started_us, 6000);
    assert_int_equal(seen.stalls[4].ended_us, 7000);
}

static void
test_callback_stops(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    data(&seen, H2DEC_CLIENT, 1, 100, 0);
    update(&seen, H2DEC_SERVER, 1, 100);
    seen.stop = 1;
    assert_int_equal(data(&seen, H2DEC_CLIENT, 1, 1, 0), H2DEC_ERR_CALLBACK);
    finish(&seen);
    assert_int_equal(seen.n_stalls, 1);
}

/* ---- The rest -------------------------------------------------------- */

static void
test_concurrency(void **state)
{
    const struct h2dec_concurrency *client;
    const struct h2dec_concurrency *server;
    struct seen seen;

    (void)state;
    start(&seen, 100);
    client = h2dec_conn_concurrency(seen.conn, H2DEC_CLIENT);
    server = h2dec_conn_concurrency(seen.conn, H2DEC_SERVER);
    assert_int_equal(client->has_limit, 0);
    settings(&seen, H2DEC_SERVER, MAX_CONCURRENT, 7);
    assert_int_equal(client->has_limit, 1);
    assert_int_equal(client->limit, 7);
    assert_int_equal(server->has_limit, 0);
    headers(&seen, H2DEC_CLIENT, 3, H2DEC_FLAG_END_STREAM);
    assert_int_equal(client->open, 2);
    reset(&seen, H2DEC_CLIENT, 1);
    assert_int_equal(seen.at_end, 1);
    assert_int_equal(client->open, 1);
    /* A promise does not count until it is kept. */
    frame(&seen, H2DEC_SERVER, H2DEC_PUSH_PROMISE, H2DEC_FLAG_END_HEADERS, 3,
          "\0\0\0\2\x82", 5);
    assert_int_equal(server->open, 0);
    headers(&seen, H2DEC_SERVER, 2, 0);
    assert_int_equal(server->open, 1);
    headers(&seen, H2DEC_SERVER, 2, H2DEC_FLAG_END_STREAM);
    assert_int_equal(server->open, 0);
    frame(&seen, H2DEC_SERVER, H2DEC_PUSH_PROMISE, H2DEC_FLAG_END_HEADERS, 3,
          "\0\0\0\4\x82", 5);
    reset(&seen, H2DEC_CLIENT, 4);
    assert_int_equal(server->open, 0);
    assert_int_equal(server->peak, 1);
    assert_int_equal(client->peak, 2);
    finish(&seen);
}

/* The upgraded request is stream 1, and HTTP2-Settings is the first word on
 * the server's windows. */
static void
test_upgrade(void **state)
{
    static const uint8_t window[] = {0, INITIAL_WINDOW, 0, 0, 0, 100};
    struct h2dec_upgrade upgrade = {.settings = window,
                                    .settings_len = sizeof(window),
                                    .opened_us = 1000};
    struct seen seen;

    (void)state;
    memset(&seen, 0, sizeof(seen));
    assert_int_equal(h2dec_conn_new(&seen.conn, &callbacks, &seen), 0);
    assert_int_equal(h2dec_conn_upgrade(seen.conn, &upgrade), 0);
    assert_int_equal(h2dec_conn_concurrency(seen.conn, H2DEC_CLIENT)->open, 1);
    settings(&seen, H2DEC_SERVER, INITIAL_WINDOW, 65535);
    seen.now_us = 2000;
    headers(&seen, H2DEC_SERVER, 1, 0);
    data(&seen, H2DEC_SERVER, 1, 100, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_EXCEEDED], 0);
    h2dec_conn_feed(seen.conn, H2DEC_CLIENT, (const uint8_t *)h2dec_preface,
                    H2DEC_PREFACE_LEN, 3000);
    update(&seen, H2DEC_CLIENT, 1, H2DEC_WINDOW_MAX);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_OVERFLOW], 0);
    update(&seen, H2DEC_CLIENT, 1, 1);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_WINDOW_OVERFLOW], 1);
    h2dec_conn_close(seen.conn);
    assert_int_equal(seen.n_stalls, 0);
    assert_true(seen.ended.headers_us[H2DEC_CLIENT] == H2DEC_NEVER);
    assert_true(seen.ended.first_data_us[H2DEC_CLIENT] == H2DEC_NEVER);
    assert_int_equal(seen.ended.first_data_us[H2DEC_SERVER], 2000);
    assert_int_equal(h2dec_conn_concurrency(seen.conn, H2DEC_CLIENT)->open, 0);
    h2dec_conn_free(seen.conn);
}

static void
test_first_data(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    seen.now_us = 2000;
    data(&seen, H2DEC_CLIENT, 1, 0, 0);
    seen.now_us = 3000;
    data(&seen, H2DEC_CLIENT, 1, 1, 0);
    seen.now_us = 4000;
    data(&seen, H2DEC_CLIENT, 1, 1, 0);
    headers(&seen, H2DEC_SERVER, 1, 0);
    seen.now_us = 5000;
    reset(&seen, H2DEC_CLIENT, 1);
    assert_int_equal(seen.ended.headers_us[H2DEC_CLIENT], 1000);
    assert_int_equal(seen.ended.first_data_us[H2DEC_CLIENT], 3000);
    assert_int_equal(seen.ended.headers_us[H2DEC_SERVER], 4000);
    assert_true(seen.ended.first_data_us[H2DEC_SERVER] == H2DEC_NEVER);
    finish(&seen);
}

static void
test_ping(void **state)
{
    struct seen seen;

    (void)state;
    start(&seen, 100);
    frame(&seen, H2DEC_SERVER, H2DEC_PING, 0x80, 0, "12345678", 8);
    assert_int_equal(seen.n_pings, 1);
    assert_int_equal(seen.ping.side, H2DEC_SERVER);
    assert_int_equal(seen.ping.ack, 0);
    assert_memory_equal(seen.ping.opaque, "12345678", H2DEC_PING_LEN);
    frame(&seen, H2DEC_CLIENT, H2DEC_PING, H2DEC_FLAG_ACK, 0, "12345678", 8);
    assert_int_equal(seen.ping.ack, 1);
    frame(&seen, H2DEC_CLIENT, H2DEC_PING, 0, 0, "1234567", 7);
    assert_int_equal(seen.n_pings, 2);
    finish(&seen);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stall_times),
        cmocka_unit_test(test_opened_while_sending),
        cmocka_unit_test(test_fault_is_no_stall),
        cmocka_unit_test(test_changes_before_headers),
        cmocka_unit_test(test_informational),
        cmocka_unit_test(test_changes_max),
        cmocka_unit_test(test_pending_max),
        cmocka_unit_test(test_connection),
        cmocka_unit_test(test_callback_stops),
        cmocka_unit_test(test_concurrency),
        cmocka_unit_test(test_upgrade),
        cmocka_unit_test(test_first_data),
        cmocka_unit_test(test_ping),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
