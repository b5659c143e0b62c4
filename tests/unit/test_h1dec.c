/* SPDX-License-Identifier: MIT */
/*
 * h1dec alone: its limits, at the limit and one past it, long connections,
 * and the functions a caller has.  What the wire can say is in the tables of
 * test_h1dec_*.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../vector_h1.h"

static const char plain[] = "GET / HTTP/1.1\r\n\r\n";
static const char none[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
static const char chunked[] =
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

static void
add_text(struct vector_h1_script *script, enum h1dec_side side,
         const char *text)
{
    vector_h1_add(script, side, text, strlen(text));
}

/* add_filled adds |before|, as many |fill| as make |total| bytes of all, and
 * |behind|. */
static void
add_filled(struct vector_h1_script *script, enum h1dec_side side,
           const char *before, char fill, const char *behind, size_t total)
{
    size_t len = total - strlen(before) - strlen(behind);
    char *filling = malloc(len);

    assert_non_null(filling);
    memset(filling, fill, len);
    add_text(script, side, before);
    vector_h1_add(script, side, filling, len);
    add_text(script, side, behind);
    free(filling);
}

static void
play(const struct vector_h1_script *script, enum vector_h1_cut cut,
     uint64_t at, struct vector_h1_log *log)
{
    vector_h1_play(script, cut, at, log);
    if (log->problem.len > 0) {
        print_error("%s", (const char *)log->problem.data);
    }
    assert_int_equal(log->problem.len, 0);
}

/* ---- Limits ---------------------------------------------------------- */

/* struct limit is a way to make a head, or what has the same limit. */
struct limit {
    /* first is sent before, by the client. */
    const char *first;
    enum h1dec_side side;
    const char *before;
    char fill;
    const char *behind;
    /* rest is sent behind, when all is well. */
    const char *rest;
    /* is_head is 0 when the exchange begins before the limit matters. */
    int is_head;
};

static const struct limit limits[] = {
    { "", H1DEC_CLIENT, "GET /", 'a', " HTTP/1.1\r\n\r\n", "", 1 },
    { "", H1DEC_CLIENT, "GET / HTTP/1.1\r\nA: ", 'b', "\r\n\r\n", "", 1 },
    { "", H1DEC_CLIENT, "GET / HTTP/1.1\r\nA:", ' ', "\n\n", "", 1 },
    { "", H1DEC_CLIENT, "GET / HTTP/1.1\r\nConnection:", ',', "\r\n\r\n", "",
      1 },
    { "", H1DEC_CLIENT, "GET / HTTP/1.1\r\nA", 'B', ":\r\n\r\n", "", 1 },
    { "", H1DEC_CLIENT, "GET / HTTP/1.1", '\n', "\r\n\r\n", "", 1 },
    { plain, H1DEC_SERVER, "HTTP/1.1 204 ", 'O', "\r\n\r\n", "", 1 },
    { chunked, H1DEC_CLIENT, "1;", 'x', "\r\n", "a\r\n0\r\n\r\n", 0 },
    { chunked, H1DEC_CLIENT, "", '0', "\r\n", "\r\n", 0 },
    { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
      H1DEC_CLIENT, "A: ", 'x', "\r\n\r\n", "", 0 },
};

static void
make_limit(struct vector_h1_script *script, const struct limit *limit,
           size_t total)
{
    add_text(script, H1DEC_CLIENT, limit->first);
    if (limit->fill == '\n') {
        /* Fields of five bytes, and one of what remains. */
        size_t left = total - strlen(limit->before) - 4;

        add_text(script, limit->side, limit->before);
        add_text(script, limit->side, "\r\n");
        for (; left > 10; left -= 5) {
            add_text(script, limit->side, "a:b\r\n");
        }
        add_filled(script, limit->side, "c:", 'd', "\r\n\r\n", left + 2);
    } else {
        add_filled(script, limit->side, limit->before, limit->fill,
                   limit->behind, total);
    }
    add_text(script, limit->side, limit->rest);
}

static void
check_limit(const struct limit *limit, size_t over, enum vector_h1_cut cut)
{
    struct vector_h1_script script = { 0 };
    struct vector_h1_log log = { .is_quiet = 1 };
    uint64_t before = limit->side == H1DEC_CLIENT ? strlen(limit->first) : 0;

    make_limit(&script, limit, H1DEC_HEAD_MAX + over);
    play(&script, cut, 1, &log);
    assert_int_equal(log.error, 0);
    assert_int_equal(log.n_faults[H1DEC_FAULT_PARSE], 0);
    assert_int_equal(log.n_faults[H1DEC_FAULT_HEAD_LIMIT], over);
    if (over > 0) {
        assert_int_equal(log.last_fault.offset, before + H1DEC_HEAD_MAX);
        assert_int_equal(log.last_fault.received, H1DEC_HEAD_MAX);
        assert_int_equal(log.last_fault.side, limit->side);
        assert_int_equal(log.books[limit->side].undecoded_bytes,
                         H1DEC_HEAD_MAX + 1 + strlen(limit->rest));
        assert_int_equal(log.n_opened, !limit->is_head || limit->first[0]);
    } else {
        assert_int_equal(log.books[limit->side].undecoded_bytes, 0);
        assert_int_equal(log.n_faults[H1DEC_FAULT_CLOSED_EARLY], 0);
        assert_int_equal(log.n_opened, 1);
    }
    vector_h1_log_clear(&log);
    vector_h1_script_clear(&script);
}

static void
test_head_max(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        for (size_t over = 0; over < 2; over++) {
            check_limit(&limits[i], over, VECTOR_H1_WHOLE);
            check_limit(&limits[i], over, VECTOR_H1_BYTES);
            check_limit(&limits[i], over, VECTOR_H1_RANDOM);
        }
    }
}

/* A limit is one head's: many long ones are fine, and so are empty lines. */
static void
test_head_max_each(void **state)
{
    struct vector_h1_script script = { 0 };
    struct vector_h1_log log = { .is_quiet = 1 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        add_filled(&script, H1DEC_CLIENT, "", '\n', "", H1DEC_HEAD_MAX + 7);
        add_filled(&script, H1DEC_CLIENT, "GET /", 'a', " HTTP/1.0\n\n",
                   H1DEC_HEAD_MAX);
    }
    play(&script, VECTOR_H1_RANDOM, 3, &log);
    assert_int_equal(log.n_opened, 3);
    assert_int_equal(log.books[H1DEC_CLIENT].exchange_bytes,
                     3 * H1DEC_HEAD_MAX);
    assert_int_equal(log.books[H1DEC_CLIENT].connection_bytes,
                     3 * (H1DEC_HEAD_MAX + 7));
    vector_h1_log_clear(&log);
    vector_h1_script_clear(&script);
}

/* struct counts is what a head and trailers had. */
struct counts {
    size_t n_fields[2];
    size_t n_omitted[2];
    uint64_t list_bytes[2];
    /* last is the last field kept of the head. */
    char last[16];
};

static int
count_head(const struct h1dec_head *head, struct h1dec_exchange *exchange,
           void *user)
{
    struct counts *counts = user;
    const struct h1dec_field *last = &head->fields[head->n_fields - 1];

    (void)exchange;
    counts->n_fields[0] = head->n_fields;
    counts->n_omitted[0] = head->n_omitted;
    counts->list_bytes[0] = head->list_bytes;
    snprintf(counts->last, sizeof(counts->last), "%.*s=%.*s",
             (int)last->name_len, last->name, (int)last->value_len,
             last->value);
    return 0;
}

static int
count_trailers(const struct h1dec_trailers *trailers,
               struct h1dec_exchange *exchange, void *user)
{
    struct counts *counts = user;

    (void)exchange;
    counts->n_fields[1] = trailers->n_fields;
    counts->n_omitted[1] = trailers->n_omitted;
    counts->list_bytes[1] = trailers->list_bytes;
    return 0;
}

static void
feed_fields(struct h1dec_conn *conn, unsigned n)
{
    char line[32];
    size_t used;

    for (unsigned i = 1; i <= n; i++) {
        int len = snprintf(line, sizeof(line), "F%04u: %04u \r\n", i, i);

        assert_int_equal(h1dec_conn_feed(conn, H1DEC_CLIENT,
                                         (const uint8_t *)line, (size_t)len,
                                         &used, 0),
                         0);
    }
}

static void
feed_text(struct h1dec_conn *conn, enum h1dec_side side, const char *text)
{
    size_t used = 0;

    assert_int_equal(h1dec_conn_feed(conn, side, (const uint8_t *)text,
                                     strlen(text), &used, 0),
                     0);
    assert_int_equal(used, strlen(text));
}

static void
check_fields(unsigned n, size_t n_kept, const char *last)
{
    static const struct h1dec_callbacks callbacks = {
        .head = count_head,
        .trailers = count_trailers,
    };
    struct counts counts = { { 0 }, { 0 }, { 0 }, "" };
    struct h1dec_conn *conn;

    assert_int_equal(h1dec_conn_new(&conn, &callbacks, &counts), 0);
    feed_text(conn, H1DEC_CLIENT, "POST / HTTP/1.1\r\n");
    feed_fields(conn, n - 1);
    feed_text(conn, H1DEC_CLIENT, "Transfer-Encoding: chunked\r\n\r\n0\r\n");
    feed_fields(conn, n);
    feed_text(conn, H1DEC_CLIENT, "\r\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(counts.n_fields[i], n_kept);
        assert_int_equal(counts.n_omitted[i], n - n_kept);
    }
    assert_int_equal(counts.list_bytes[0], 9 * (n - 1) + 24);
    assert_int_equal(counts.list_bytes[1], 9 * n);
    assert_string_equal(counts.last, last);
    h1dec_conn_free(conn);
}

static void
test_fields_max(void **state)
{
    (void)state;
    check_fields(2, 2, "transfer-encodi");
    check_fields(H1DEC_FIELDS_MAX, H1DEC_FIELDS_MAX, "transfer-encodi");
    check_fields(H1DEC_FIELDS_MAX + 1, H1DEC_FIELDS_MAX, "f1024=1024");
    check_fields(3000, H1DEC_FIELDS_MAX, "f1024=1024");
}

static void
check_exchanges(size_t n, int error)
{
    struct vector_h1_script script = { 0 };
    struct vector_h1_log log = { .is_quiet = 1 };

    for (size_t i = 0; i < n; i++) {
        add_text(&script, H1DEC_CLIENT, plain);
    }
    add_text(&script, H1DEC_SERVER, none);
    play(&script, VECTOR_H1_RANDOM, 5, &log);
    assert_int_equal(log.error, error);
    assert_int_equal(log.n_opened, H1DEC_EXCHANGES_MAX);
    assert_int_equal(log.books[H1DEC_CLIENT].undecoded_bytes,
                     (n - H1DEC_EXCHANGES_MAX) * strlen(plain));
    assert_int_equal(log.books[H1DEC_SERVER].undecoded_bytes,
                     error != 0 ? strlen(none) : 0);
    vector_h1_log_clear(&log);
    vector_h1_script_clear(&script);
}

static void
test_exchanges_max(void **state)
{
    (void)state;
    check_exchanges(H1DEC_EXCHANGES_MAX, 0);
    check_exchanges(H1DEC_EXCHANGES_MAX + 1, H1DEC_ERR_EXCHANGES);
    check_exchanges(H1DEC_EXCHANGES_MAX + 2, H1DEC_ERR_EXCHANGES);
}

/* ---- Long connections ------------------------------------------------ */

#define N_REQUESTS 10000

/* Requests and responses of all kinds: |i| says which. */
static void
add_exchange(struct vector_h1_script *script, unsigned i)
{
    static const char *const requests[] = {
        "GET /%u HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST /%u HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd",
        "PUT /%u HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2;x=y\r\nab\r\n1\r\nc\r\n0\r\nT: u\r\n\r\n",
        "HEAD /%u HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
        "\r\nDELETE /%u HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    };
    static const char *const responses[] = {
        "HTTP/1.1 200 OK\r\nX: %u\r\nContent-Length: 10\r\n\r\n0123456789",
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 204 No Content\r\nX: %u\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: %u\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\nX: %u\r\nContent-Length: 7\r\n\r\n",
        "HTTP/1.0 304 Not Modified\r\nConnection: keep-alive\r\nX: %u\r\n"
        "\r\n",
    };
    char text[256];

    snprintf(text, sizeof(text), requests[i % 5], i);
    add_text(script, H1DEC_CLIENT, text);
    snprintf(text, sizeof(text), responses[i % 5], i);
    add_text(script, H1DEC_SERVER, text);
}

static void
test_pipelining(void **state)
{
    static const enum vector_h1_cut cuts[] = {
        VECTOR_H1_BYTES, VECTOR_H1_RANDOM, VECTOR_H1_AHEAD
    };
    struct vector_h1_script script = { 0 };
    struct vector_h1_log whole = { .is_quiet = 1 };

    (void)state;
    for (unsigned i = 0; i < N_REQUESTS; i++) {
        add_exchange(&script, i);
    }
    play(&script, VECTOR_H1_WHOLE, 0, &whole);
    assert_int_equal(whole.n_opened, N_REQUESTS);
    assert_int_equal(whole.n_open_max, 1);
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        struct vector_h1_log log = { .is_quiet = 1 };

        play(&script, cuts[i], i, &log);
        assert_string_equal((const char *)log.ends.data,
                            (const char *)whole.ends.data);
        if (cuts[i] == VECTOR_H1_AHEAD) {
            /* Each fifth one is an Upgrade, which those behind wait for. */
            assert_true(log.n_open_max > 4);
        }
        vector_h1_log_clear(&log);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(whole.books[i].undecoded_bytes, 0);
    }
    assert_null(strstr((const char *)whole.ends.data, "connection since"));
    vector_h1_log_clear(&whole);
    vector_h1_script_clear(&script);
}

/* All requests first, then all responses, in large pieces.  None asks for an
 * upgrade: what follows one waits for its response. */
static void
test_pipelining_all_ahead(void **state)
{
    struct vector_h1_script script = { 0 };
    struct vector_h1_script ahead = { 0 };
    struct vector_h1_log in_order = { .is_quiet = 1 };
    struct vector_h1_log log = { .is_quiet = 1 };

    (void)state;
    for (unsigned i = 0; i < N_REQUESTS; i++) {
        add_exchange(&script, i % 5 == 3 ? i - 1 : i);
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = (size_t)side; i < script.n_steps; i += 2) {
            vector_h1_add(&ahead, (enum h1dec_side)side,
                          script.steps[i].bytes.data,
                          script.steps[i].bytes.len);
        }
    }
    assert_int_equal(ahead.n_steps, 2);
    play(&script, VECTOR_H1_WHOLE, 0, &in_order);
    play(&ahead, VECTOR_H1_WHOLE, 0, &log);
    assert_int_equal(log.n_open_max, N_REQUESTS);
    assert_memory_equal(log.books, in_order.books, sizeof(log.books));
    assert_int_equal(log.n_ended, N_REQUESTS);
    assert_null(strstr((const char *)log.ends.data, "connection since"));
    vector_h1_log_clear(&log);
    vector_h1_log_clear(&in_order);
    vector_h1_script_clear(&ahead);
    vector_h1_script_clear(&script);
}

/* Requests that no response can follow do not pile up. */
static void
test_no_pile(void **state)
{
    struct vector_h1_script script = { 0 };
    struct vector_h1_log log = { .is_quiet = 1 };

    (void)state;
    add_text(&script, H1DEC_CLIENT, plain);
    add_text(&script, H1DEC_SERVER, "garbage");
    for (unsigned i = 0; i < 2 * H1DEC_EXCHANGES_MAX; i++) {
        add_text(&script, H1DEC_CLIENT, plain);
    }
    play(&script, VECTOR_H1_WHOLE, 0, &log);
    assert_int_equal(log.error, 0);
    assert_int_equal(log.n_ended, 2 * H1DEC_EXCHANGES_MAX + 1);
    assert_int_equal(log.n_open_max, 1);
    vector_h1_log_clear(&log);
    vector_h1_script_clear(&script);
}

/* More than 32 bits can count, in both lengths. */
static void
test_large_body(void **state)
{
    static const struct h1dec_callbacks callbacks = { NULL };
    static const uint8_t mib[1 << 20];
    const struct h1dec_books *books;
    struct h1dec_conn *conn;

    (void)state;
    assert_int_equal(h1dec_conn_new(&conn, &callbacks, NULL), 0);
    feed_text(conn, H1DEC_CLIENT, plain);
    feed_text(conn, H1DEC_CLIENT, plain);
    feed_text(conn, H1DEC_SERVER,
              "HTTP/1.1 200 OK\r\nContent-Length: 5368709120\r\n\r\n");
    for (unsigned i = 0; i < 2 * 5120; i++) {
        size_t used;

        if (i == 5120) {
            feed_text(conn, H1DEC_SERVER, "HTTP/1.1 200 OK\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n140000000\r\n");
        }
        assert_int_equal(h1dec_conn_feed(conn, H1DEC_SERVER, mib, sizeof(mib),
                                         &used, 0),
                         0);
    }
    feed_text(conn, H1DEC_SERVER, "\r\n0\r\n\r\n");
    books = h1dec_conn_books(conn, H1DEC_SERVER);
    assert_int_equal(books->bytes, 2 * 5368709120u + 47 + 47 + 11 + 7);
    assert_int_equal(books->exchange_bytes, books->bytes);
    h1dec_conn_close(conn);
    assert_int_equal(books->undecoded_bytes, 0);
    h1dec_conn_free(conn);
}

/* ---- The functions --------------------------------------------------- */

/* struct ends counts how exchanges ended. */
struct ends {
    unsigned n[H1DEC_END_CONNECTION + 1];
};

static void
count_end(struct h1dec_exchange *exchange, enum h1dec_end end, void *user)
{
    struct ends *ends = user;

    (void)exchange;
    ends->n[end]++;
}

static const struct h1dec_callbacks end_callbacks = {
    .exchange_end = count_end,
};

static void
test_free_open(void **state)
{
    struct ends ends = { { 0 } };
    struct h1dec_conn *conn;

    (void)state;
    h1dec_conn_free(NULL);
    assert_int_equal(h1dec_conn_new(&conn, &end_callbacks, &ends), 0);
    h1dec_conn_free(conn);
    assert_int_equal(h1dec_conn_new(&conn, &end_callbacks, &ends), 0);
    feed_text(conn, H1DEC_CLIENT, plain);
    feed_text(conn, H1DEC_CLIENT, "GET / HTTP/1.1\r\nHost: x");
    h1dec_conn_free(conn);
    assert_int_equal(ends.n[H1DEC_END_CONNECTION], 0);
}

static void
test_abandon(void **state)
{
    struct ends ends = { { 0 } };
    struct h1dec_conn *conn;

    (void)state;
    assert_int_equal(h1dec_conn_new(&conn, &end_callbacks, &ends), 0);
    feed_text(conn, H1DEC_CLIENT, plain);
    feed_text(conn, H1DEC_SERVER, "HTTP/1.1 200 OK\r\n\r\nhello");
    h1dec_conn_abandon(conn, H1DEC_SERVER);
    assert_int_equal(ends.n[H1DEC_END_CONNECTION], 1);
    assert_int_equal(h1dec_conn_is_lost(conn, H1DEC_SERVER), 1);
    assert_int_equal(h1dec_conn_is_lost(conn, H1DEC_CLIENT), 0);
    feed_text(conn, H1DEC_SERVER, "more");
    assert_int_equal(
        h1dec_conn_books(conn, H1DEC_SERVER)->undecoded_bytes, 4);
    h1dec_conn_close(conn);
    h1dec_conn_abandon(conn, H1DEC_CLIENT);
    assert_int_equal(h1dec_conn_is_lost(conn, H1DEC_CLIENT), 0);
    assert_int_equal(ends.n[H1DEC_END_COMPLETE], 0);
    h1dec_conn_free(conn);
}

static void
test_switched(void **state)
{
    struct ends ends = { { 0 } };
    struct h1dec_conn *conn;
    size_t used = 9;

    (void)state;
    assert_int_equal(h1dec_conn_new(&conn, &end_callbacks, &ends), 0);
    feed_text(conn, H1DEC_CLIENT, "CONNECT h:1 HTTP/1.1\r\n\r\n");
    assert_int_equal(h1dec_conn_is_switched(conn), 0);
    feed_text(conn, H1DEC_SERVER, "HTTP/1.1 200 OK\r\n\r\n");
    assert_int_equal(h1dec_conn_is_switched(conn), 1);
    assert_int_equal(ends.n[H1DEC_END_SWITCHED], 1);
    assert_int_equal(h1dec_conn_feed(conn, H1DEC_CLIENT,
                                     (const uint8_t *)"x", 1, &used, 0),
                     0);
    assert_int_equal(used, 0);
    h1dec_conn_abandon(conn, H1DEC_CLIENT);
    h1dec_conn_close(conn);
    assert_int_equal(h1dec_conn_is_lost(conn, H1DEC_CLIENT), 0);
    h1dec_conn_free(conn);
}

static void
test_names(void **state)
{
    (void)state;
    assert_string_equal(h1dec_strerror(0), "success");
    assert_string_equal(h1dec_strerror(H1DEC_ERR_NOMEM), "out of memory");
    assert_string_equal(h1dec_strerror(H1DEC_ERR_CALLBACK),
                        "stopped by a callback");
    assert_string_equal(h1dec_strerror(H1DEC_ERR_EXCHANGES),
                        "too many requests wait for a response");
    assert_string_equal(h1dec_strerror(1), "unknown error");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_max),
        cmocka_unit_test(test_head_max_each),
        cmocka_unit_test(test_fields_max),
        cmocka_unit_test(test_exchanges_max),
        cmocka_unit_test(test_pipelining),
        cmocka_unit_test(test_pipelining_all_ahead),
        cmocka_unit_test(test_no_pile),
        cmocka_unit_test(test_large_body),
        cmocka_unit_test(test_free_open),
        cmocka_unit_test(test_abandon),
        cmocka_unit_test(test_switched),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
