/* SPDX-License-Identifier: MIT */
/* h2dec alone: its limits, at the limit and one past it, and what vectors
 * cannot say in frames.  The wire behaviour is in tests/vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../h2dec/h2dec.h"

/* struct seen is what the callbacks noted. */
struct seen {
    /* n_faults counts by code. */
    unsigned n_faults[H2DEC_FAULT_TABLE_LIMIT + 1];
    unsigned n_opened;
    unsigned n_ended;
    /* headers is the last block; fields of it are gone. */
    struct h2dec_headers headers;
    unsigned n_headers;
    unsigned n_settings;
    size_t n_entries;
    size_t n_entries_omitted;
    struct h2dec_goaway goaway;
    /* stop is the callback that returns non-zero: 'o'pen or 0. */
    char stop;
};

static int
on_open(struct h2dec_stream *stream, void *user)
{
    struct seen *seen = user;

    (void)stream;
    seen->n_opened++;
    return seen->stop == 'o';
}

static void
on_end(struct h2dec_stream *stream, const struct h2dec_ending *ending,
       void *user)
{
    struct seen *seen = user;

    (void)stream;
    (void)ending;
    seen->n_ended++;
}

static int
on_headers(const struct h2dec_headers *headers, struct h2dec_stream *stream,
           void *user)
{
    struct seen *seen = user;

    (void)stream;
    seen->headers = *headers;
    seen->n_headers++;
    return 0;
}

static int
on_settings(const struct h2dec_settings *settings, void *user)
{
    struct seen *seen = user;

    seen->n_settings++;
    seen->n_entries = settings->n_entries;
    seen->n_entries_omitted = settings->n_omitted;
    return 0;
}

static int
on_goaway(const struct h2dec_goaway *goaway, void *user)
{
    struct seen *seen = user;

    seen->goaway = *goaway;
    return 0;
}

static int
on_fault(const struct h2dec_fault *fault, void *user)
{
    struct seen *seen = user;

    assert_non_null(fault->reason);
    seen->n_faults[fault->code]++;
    return 0;
}

static const struct h2dec_callbacks callbacks = {
    .stream_open = on_open,
    .headers = on_headers,
    .stream_end = on_end,
    .settings = on_settings,
    .goaway = on_goaway,
    .fault = on_fault,
};

/* ---- Making input ---------------------------------------------------- */

static struct h2dec_conn *
start(struct seen *seen)
{
    struct h2dec_conn *conn;

    memset(seen, 0, sizeof(*seen));
    assert_int_equal(h2dec_conn_new(&conn, &callbacks, seen), 0);
    assert_int_equal(h2dec_conn_feed(conn, H2DEC_CLIENT,
                                     (const uint8_t *)h2dec_preface,
                                     H2DEC_PREFACE_LEN, 0),
                     0);
    return conn;
}

/* Feeds a frame; NULL |payload| is zeros. */
static int
frame(struct h2dec_conn *conn, enum h2dec_side side, uint8_t type,
      uint8_t flags, uint32_t id, const void *payload, size_t len)
{
    uint8_t header[H2DEC_FRAME_HEADER_LEN] = {
        (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,
        type, flags, (uint8_t)(id >> 24), (uint8_t)(id >> 16),
        (uint8_t)(id >> 8), (uint8_t)id};
    uint8_t *zeros = calloc(1, len + 1);
    int rv;

    assert_non_null(zeros);
    h2dec_conn_feed(conn, side, header, sizeof(header), 0);
    rv = h2dec_conn_feed(conn, side, payload ? payload : zeros, len, 0);
    free(zeros);
    return rv;
}

static int
settings(struct h2dec_conn *conn, enum h2dec_side side, uint16_t id,
         uint32_t value)
{
    uint8_t entry[6] = {(uint8_t)(id >> 8), (uint8_t)id,
                        (uint8_t)(value >> 24), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 8), (uint8_t)value};

    return frame(conn, side, H2DEC_SETTINGS, 0, 0, entry, sizeof(entry));
}

static int
ack(struct h2dec_conn *conn, enum h2dec_side side)
{
    return frame(conn, side, H2DEC_SETTINGS, H2DEC_FLAG_ACK, 0, "", 0);
}

/* HEADERS with `:method: GET` alone. */
static int
headers(struct h2dec_conn *conn, enum h2dec_side side, uint32_t id,
        uint8_t flags)
{
    return frame(conn, side, H2DEC_HEADERS,
                 (uint8_t)(flags | H2DEC_FLAG_END_HEADERS), id, "\x82", 1);
}

/* Asserts that the books balance, and frees. */
static void
finish(struct h2dec_conn *conn)
{
    h2dec_conn_close(conn);
    for (int side = 0; side < 2; side++) {
        const struct h2dec_books *books =
            h2dec_conn_books(conn, (enum h2dec_side)side);

        assert_int_equal(books->bytes,
                         books->stream_bytes + books->connection_bytes +
                             books->late_bytes + books->undecoded_bytes);
    }
    h2dec_conn_free(conn);
}

/* ---- Streams --------------------------------------------------------- */

static void
test_streams_max(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);
    int rv = 0;

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    for (uint32_t i = 0; i < H2DEC_STREAMS_MAX; i++) {
        rv = headers(conn, H2DEC_CLIENT, 2 * i + 1, 0);
    }
    assert_int_equal(rv, 0);
    assert_int_equal(h2dec_conn_streams(conn), H2DEC_STREAMS_MAX);
    rv = headers(conn, H2DEC_CLIENT, 2 * H2DEC_STREAMS_MAX + 1, 0);
    assert_int_equal(rv, H2DEC_ERR_STREAMS);
    assert_true(h2dec_error_is_fatal(rv));
    /* Sticky; bytes are still counted. */
    assert_int_equal(headers(conn, H2DEC_SERVER, 1, 0), H2DEC_ERR_STREAMS);
    assert_int_equal(h2dec_conn_books(conn, H2DEC_SERVER)->undecoded_bytes,
                     10);
    finish(conn);
    assert_int_equal(seen.n_opened, H2DEC_STREAMS_MAX);
    assert_int_equal(seen.n_ended, H2DEC_STREAMS_MAX);
}

static void
test_streams_ended_are_free(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    settings(conn, H2DEC_SERVER, 4, 65535);
    for (uint32_t i = 0; i < 3 * H2DEC_STREAMS_MAX; i++) {
        headers(conn, H2DEC_CLIENT, 2 * i + 1, H2DEC_FLAG_END_STREAM);
        headers(conn, H2DEC_SERVER, 2 * i + 1, H2DEC_FLAG_END_STREAM);
    }
    assert_int_equal(h2dec_conn_streams(conn), 0);
    assert_int_equal(seen.n_ended, 3 * H2DEC_STREAMS_MAX);
    finish(conn);
}

/* A frame on a skipped id is the connection's, one on an ended stream late. */
static void
test_gaps(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);
    const struct h2dec_books *books = h2dec_conn_books(conn, H2DEC_CLIENT);
    uint64_t before;

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    /* Ids 1, 5, 9, ...: H2DEC_GAPS_MAX ranges and one more are skipped. */
    for (uint32_t i = 0; i <= H2DEC_GAPS_MAX + 1; i++) {
        headers(conn, H2DEC_CLIENT, 4 * i + 1, 0);
        frame(conn, H2DEC_CLIENT, H2DEC_RST_STREAM, 0, 4 * i + 1, NULL, 4);
    }
    before = books->connection_bytes;
    frame(conn, H2DEC_CLIENT, H2DEC_PRIORITY, 0, 4 * H2DEC_GAPS_MAX + 3, NULL,
          5);
    assert_int_equal(books->connection_bytes, before + 14);
    assert_int_equal(books->late_bytes, 0);
    frame(conn, H2DEC_CLIENT, H2DEC_PRIORITY, 0, 5, NULL, 5);
    assert_int_equal(books->late_bytes, 14);
    /* The oldest range, id 3, has been forgotten. */
    frame(conn, H2DEC_CLIENT, H2DEC_PRIORITY, 0, 3, NULL, 5);
    assert_int_equal(books->late_bytes, 28);
    frame(conn, H2DEC_CLIENT, H2DEC_PRIORITY, 0, 7, NULL, 5);
    assert_int_equal(books->late_bytes, 28);
    finish(conn);
}

/* ---- Header blocks --------------------------------------------------- */

/* A literal field without indexing: name `x`, a value of |len| bytes. */
static size_t
literal(uint8_t *out, size_t len)
{
    size_t at = 0;
    size_t rest = len;

    out[at++] = 0x00;
    out[at++] = 1;
    out[at++] = 'x';
    if (rest < 127) {
        out[at++] = (uint8_t)rest;
    } else {
        out[at++] = 127;
        rest -= 127;
        while (rest >= 128) {
            out[at++] = (uint8_t)(rest % 128 + 128);
            rest /= 128;
        }
        out[at++] = (uint8_t)rest;
    }
    memset(out + at, 'v', len);
    return at + len;
}

/* Sends |n| fields of |len| bytes in one block, a CONTINUATION each. */
static void
block(struct h2dec_conn *conn, uint32_t id, unsigned n, size_t len)
{
    uint8_t *field = malloc(len + 16);

    assert_non_null(field);
    frame(conn, H2DEC_CLIENT, H2DEC_HEADERS, 0, id, "", 0);
    for (unsigned i = 0; i < n; i++) {
        size_t size = literal(field, len);

        frame(conn, H2DEC_CLIENT, H2DEC_CONTINUATION,
              i + 1 == n ? H2DEC_FLAG_END_HEADERS : 0, id, field, size);
    }
    free(field);
}

static void
test_fields_max(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    block(conn, 1, H2DEC_FIELDS_MAX, 3);
    assert_int_equal(seen.headers.known, 1);
    assert_int_equal(seen.headers.n_fields, H2DEC_FIELDS_MAX);
    assert_int_equal(seen.headers.n_omitted, 0);
    block(conn, 3, H2DEC_FIELDS_MAX + 1, 3);
    assert_int_equal(seen.headers.n_fields, H2DEC_FIELDS_MAX);
    assert_int_equal(seen.headers.n_omitted, 1);
    assert_int_equal(seen.headers.list_bytes, 4 * (H2DEC_FIELDS_MAX + 1));
    finish(conn);
}

static void
test_fields_len_max(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);
    unsigned n = H2DEC_FIELDS_LEN_MAX / 16384;

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    settings(conn, H2DEC_SERVER, 5, 32768);
    ack(conn, H2DEC_CLIENT);
    block(conn, 1, n, 16383);
    assert_int_equal(seen.headers.n_omitted, 0);
    assert_int_equal(seen.headers.list_bytes, H2DEC_FIELDS_LEN_MAX);
    block(conn, 3, n + 1, 16383);
    assert_int_equal(seen.headers.n_omitted, 1);
    assert_int_equal(seen.headers.known, 1);
    finish(conn);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_FRAME_SIZE], 0);
}

/* ---- SETTINGS -------------------------------------------------------- */

static void
test_settings_max(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);
    uint8_t entries[6 * (H2DEC_SETTINGS_MAX + 1)] = {0};

    (void)state;
    frame(conn, H2DEC_CLIENT, H2DEC_SETTINGS, 0, 0, entries,
          6 * H2DEC_SETTINGS_MAX);
    assert_int_equal(seen.n_entries, H2DEC_SETTINGS_MAX);
    assert_int_equal(seen.n_entries_omitted, 0);
    frame(conn, H2DEC_CLIENT, H2DEC_SETTINGS, 0, 0, entries,
          sizeof(entries));
    assert_int_equal(seen.n_entries, H2DEC_SETTINGS_MAX);
    assert_int_equal(seen.n_entries_omitted, 1);
    finish(conn);
}

/* More SETTINGS than are remembered one by one: each ACK still counts, and the
 * last value is in force only after the last ACK. */
static void
test_pending_max(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);
    unsigned n = 2 * H2DEC_PENDING_MAX;
    uint8_t *big = calloc(1, 40000);

    (void)state;
    assert_non_null(big);
    settings(conn, H2DEC_CLIENT, 4, 65535);
    for (unsigned i = 0; i < n; i++) {
        settings(conn, H2DEC_SERVER, 5, i + 1 < n ? 16384 : 40000);
    }
    headers(conn, H2DEC_CLIENT, 1, 0);
    /* What waits for its ACK may already be used. */
    frame(conn, H2DEC_CLIENT, H2DEC_DATA, 0, 1, big, 40000);
    for (unsigned i = 0; i < n; i++) {
        ack(conn, H2DEC_CLIENT);
    }
    frame(conn, H2DEC_CLIENT, H2DEC_DATA, 0, 1, big, 40000);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_FRAME_SIZE], 0);
    frame(conn, H2DEC_CLIENT, H2DEC_DATA, 0, 1, big, 40000);
    assert_false(h2dec_conn_is_lost(conn, H2DEC_CLIENT));
    free(big);
    finish(conn);
}

static void
test_frame_size(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    headers(conn, H2DEC_CLIENT, 1, 0);
    frame(conn, H2DEC_CLIENT, H2DEC_DATA, 0, 1, NULL, 16384);
    assert_false(h2dec_conn_is_lost(conn, H2DEC_CLIENT));
    frame(conn, H2DEC_CLIENT, H2DEC_DATA, 0, 1, NULL, 16385);
    assert_true(h2dec_conn_is_lost(conn, H2DEC_CLIENT));
    assert_int_equal(seen.n_faults[H2DEC_FAULT_FRAME_SIZE], 1);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_FRAMING_LOST], 1);
    assert_int_equal(h2dec_conn_books(conn, H2DEC_CLIENT)->undecoded_bytes,
                     9 + 16385);
    finish(conn);
}

/* The server allows a large table: up to the limit it is followed in silence,
 * above it with one word. */
static void
test_table_limit(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    settings(conn, H2DEC_SERVER, 1, H2DEC_TABLE_SIZE_MAX);
    ack(conn, H2DEC_CLIENT);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_TABLE_LIMIT], 0);
    for (int i = 0; i < 2; i++) {
        settings(conn, H2DEC_SERVER, 1, H2DEC_TABLE_SIZE_MAX + 1);
        ack(conn, H2DEC_CLIENT);
    }
    assert_int_equal(seen.n_faults[H2DEC_FAULT_TABLE_LIMIT], 1);
    finish(conn);
}

/* The table of the client's blocks follows the server's SETTINGS, not the
 * client's own, and from the client's ACK on, not before. */
static void
test_table_side(void **state)
{
    /* Size update to 8,192, then `:method: GET`. */
    static const uint8_t update[] = {0x3f, 0xe1, 0x3f, 0x82};
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);

    (void)state;
    settings(conn, H2DEC_CLIENT, 1, 8192);
    ack(conn, H2DEC_SERVER);
    settings(conn, H2DEC_SERVER, 1, 8192);
    frame(conn, H2DEC_SERVER, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS, 1,
          update, sizeof(update));
    assert_int_equal(seen.headers.known, 1);
    ack(conn, H2DEC_CLIENT);
    frame(conn, H2DEC_CLIENT, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS, 3,
          update, sizeof(update));
    assert_int_equal(seen.headers.known, 1);
    finish(conn);

    conn = start(&seen);
    settings(conn, H2DEC_CLIENT, 1, 8192);
    ack(conn, H2DEC_SERVER);
    settings(conn, H2DEC_SERVER, 1, 8192);
    frame(conn, H2DEC_CLIENT, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS, 3,
          update, sizeof(update));
    assert_int_equal(seen.headers.known, 0);
    assert_int_equal(seen.n_faults[H2DEC_FAULT_HPACK], 1);
    finish(conn);
}

/* ---- The rest -------------------------------------------------------- */

static void
test_debug_max(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    frame(conn, H2DEC_CLIENT, H2DEC_GOAWAY, 0, 0, NULL, 8 + H2DEC_DEBUG_MAX);
    assert_int_equal(seen.goaway.debug_len, H2DEC_DEBUG_MAX);
    assert_int_equal(seen.goaway.debug_total, H2DEC_DEBUG_MAX);
    frame(conn, H2DEC_CLIENT, H2DEC_GOAWAY, 0, 0, NULL, 9 + H2DEC_DEBUG_MAX);
    assert_int_equal(seen.goaway.debug_len, H2DEC_DEBUG_MAX);
    assert_int_equal(seen.goaway.debug_total, H2DEC_DEBUG_MAX + 1);
    finish(conn);
}

static void
test_callback_stops(void **state)
{
    struct seen seen;
    struct h2dec_conn *conn = start(&seen);

    (void)state;
    settings(conn, H2DEC_CLIENT, 4, 65535);
    seen.stop = 'o';
    assert_int_equal(headers(conn, H2DEC_CLIENT, 1, 0), H2DEC_ERR_CALLBACK);
    seen.stop = 0;
    assert_int_equal(headers(conn, H2DEC_CLIENT, 3, 0), H2DEC_ERR_CALLBACK);
    assert_int_equal(seen.n_opened, 1);
    finish(conn);
    assert_int_equal(seen.n_ended, 1);
}

static void
test_names(void **state)
{
    (void)state;
    assert_string_equal(h2dec_type_name(H2DEC_PUSH_PROMISE), "PUSH_PROMISE");
    assert_string_equal(h2dec_type_name(0xfe), "UNKNOWN");
    assert_string_equal(h2dec_code_name(13), "HTTP_1_1_REQUIRED");
    assert_null(h2dec_code_name(14));
    assert_string_equal(h2dec_setting_name(1), "SETTINGS_HEADER_TABLE_SIZE");
    assert_null(h2dec_setting_name(0));
    assert_null(h2dec_setting_name(7));
    assert_null(h2dec_setting_name(0xffff));
    assert_string_equal(h2dec_strerror(H2DEC_ERR_NOMEM), "out of memory");
    assert_string_equal(h2dec_strerror(1), "unknown error");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_max),
        cmocka_unit_test(test_streams_ended_are_free),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_fields_max),
        cmocka_unit_test(test_fields_len_max),
        cmocka_unit_test(test_settings_max),
        cmocka_unit_test(test_pending_max),
        cmocka_unit_test(test_frame_size),
        cmocka_unit_test(test_table_limit),
        cmocka_unit_test(test_table_side),
        cmocka_unit_test(test_debug_max),
        cmocka_unit_test(test_callback_stops),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
