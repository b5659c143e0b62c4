/* SPDX-License-Identifier: MIT */
/* Owns the members of the events of a connection that are rare: connections,
 * notices, GOAWAY.  event_call.c has those that come with each call and
 * message, event_pace.c the figures of pace in both. */
#include "event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event_line.h"
#include "event_pace.h"
#include "tap_conn.h"

/* ---- Connections ----------------------------------------------------- */

void
event_connection_open(struct tap *tap)
{
    struct json json;

    if (!event_line_begin(&json, tap, EVENT_CONNECTION_OPEN, tap->now_us)) {
        return;
    }
    json_string(&json, "client", tap->client);
    json_string(&json, "server", tap->server);
    event_line_end(&json);
}

/* ---- TLS ------------------------------------------------------------- */

static const struct tls_hello_facts *
tls_facts(const struct tap *tap, enum side side)
{
    const struct tls_hello *hello = tap->tls[side];

    return hello != NULL && (hello->has_hello || hello->has_retry)
               ? &hello->facts
               : NULL;
}

/* A version by its name, or as the number it is. */
static void
put_version(struct json *json, const char *key, uint16_t version)
{
    const char *text = tls_hello_version_name(version);
    char number[8];

    if (text == NULL) {
        snprintf(number, sizeof(number), "0x%04x", version);
        text = number;
    }
    json_string(json, key, version == 0 ? NULL : text);
}

static void
put_client_hello(struct json *json, const struct tls_hello_facts *facts)
{
    struct tls_hello_span rest;
    struct tls_hello_span name;

    put_version(json, "version_offered", facts == NULL ? 0 : facts->version);
    if (facts == NULL || !facts->has_sni) {
        json_null(json, "sni");
    } else {
        json_text(json, "sni", (const char *)facts->sni.data, facts->sni.len);
    }
    if (facts == NULL || !facts->has_alpn) {
        json_null(json, "alpn_offered");
        return;
    }
    json_array_open(json, "alpn_offered");
    rest = facts->alpn;
    while (tls_hello_alpn_next(&rest, &name)) {
        json_text(json, NULL, (const char *)name.data, name.len);
    }
    json_array_close(json);
}

static void
put_server_hello(struct json *json, const struct tls_hello_facts *facts)
{
    struct tls_hello_span rest = {NULL, 0};
    struct tls_hello_span name = {NULL, 0};
    char suite[8];

    put_version(json, "version", facts == NULL ? 0 : facts->version);
    if (facts != NULL) {
        snprintf(suite, sizeof(suite), "0x%04x", facts->cipher_suite);
        rest = facts->alpn;
    }
    json_string(json, "cipher_suite", facts == NULL ? NULL : suite);
    if (facts == NULL || !facts->has_alpn ||
        !tls_hello_alpn_next(&rest, &name)) {
        json_null(json, "alpn");
    } else {
        json_text(json, "alpn", (const char *)name.data, name.len);
    }
}

static void
put_alert(struct json *json, const char *key, const struct tls_hello *hello)
{
    const char *text;
    char number[8];

    if (hello == NULL || !hello->has_alert) {
        json_null(json, key);
        return;
    }
    text = tls_hello_alert_name(hello->alert_description);
    if (text == NULL) {
        snprintf(number, sizeof(number), "%u", hello->alert_description);
        text = number;
    }
    json_string(json, key, text);
}

/* What the two sides said of TLS in the clear; null when neither speaks it. */
static void
put_tls(struct json *json, const struct tap *tap)
{
    if (tap->tls[SIDE_CLIENT] == NULL && tap->tls[SIDE_SERVER] == NULL) {
        json_null(json, "tls");
        return;
    }
    json_open(json, "tls");
    put_client_hello(json, tls_facts(tap, SIDE_CLIENT));
    put_server_hello(json, tls_facts(tap, SIDE_SERVER));
    put_alert(json, "client_alert", tap->tls[SIDE_CLIENT]);
    put_alert(json, "server_alert", tap->tls[SIDE_SERVER]);
    json_close(json);
}

/* ---- The end of a connection ----------------------------------------- */

static const char *
reason_name(enum conn_reason reason)
{
    static const char *const names[] = {
        "client_closed", "server_closed",  "client_reset", "server_reset",
        "connect_failed", "timeout",       "shutdown",
    };

    return names[reason];
}

static void
put_frames(struct json *json, const struct h2dec_books *books)
{
    json_open(json, "frames");
    for (unsigned type = 0; type < H2DEC_TYPES; type++) {
        if (books->frames[type].count == 0) {
            continue;
        }
        json_open(json, h2dec_type_name(type));
        json_uint(json, "count", books->frames[type].count);
        json_uint(json, "bytes", books->frames[type].bytes);
        json_close(json);
    }
    json_close(json);
}

/* The books of a direction: those of each decoder it went through, and what
 * went to none. */
static struct h2dec_books
books_of(const struct tap *tap, enum side side)
{
    struct h2dec_books sum = {.bytes = 0};

    if (tap->h2 != NULL) {
        sum = *h2dec_conn_books(tap->h2, (enum h2dec_side)side);
    }
    if (tap->h1 != NULL) {
        const struct h1dec_books *h1 =
            h1dec_conn_books(tap->h1, (enum h1dec_side)side);

        sum.bytes += h1->bytes;
        sum.stream_bytes += h1->exchange_bytes;
        sum.connection_bytes += h1->connection_bytes;
        sum.undecoded_bytes += h1->undecoded_bytes;
    }
    sum.bytes += tap->dir[side].opaque_bytes;
    sum.undecoded_bytes += tap->dir[side].opaque_bytes;
    return sum;
}

static void
put_direction(struct json *json, const char *key, const struct tap *tap,
              enum side side)
{
    struct h2dec_books books = books_of(tap, side);

    json_open(json, key);
    json_uint(json, "bytes", books.bytes);
    json_uint(json, "call_bytes", books.stream_bytes);
    json_uint(json, "connection_bytes", books.connection_bytes);
    json_uint(json, "late_bytes", books.late_bytes);
    json_uint(json, "undecoded_bytes", books.undecoded_bytes);
    if (tap->h2 != NULL && tap->dir[side].mode != TAP_H1) {
        put_frames(json, &books);
    } else {
        json_null(json, "frames");
    }
    event_pace_connection(json, tap, side);
    json_close(json);
}

void
event_connection_close(struct tap *tap, const char *error)
{
    struct json json;

    if (!event_line_begin(&json, tap, EVENT_CONNECTION_CLOSE, tap->now_us)) {
        return;
    }
    json_string(&json, "client", tap->client);
    json_string(&json, "server", tap->server);
    json_string(&json, "protocol", tap_protocol(tap));
    json_uint(&json, "duration_us", tap->now_us - tap->accepted_us);
    if (tap->connect_us == UINT64_MAX || tap->reason == CONN_CONNECT_FAILED) {
        json_null(&json, "connect_us");
    } else {
        json_uint(&json, "connect_us", tap->connect_us);
    }
    json_string(&json, "reason", reason_name(tap->reason));
    json_string(&json, "error", error);
    json_uint(&json, "calls", tap->calls);
    json_uint(&json, "notices", tap->notices);
    put_tls(&json, tap);
    put_direction(&json, "from_client", tap, SIDE_CLIENT);
    put_direction(&json, "from_server", tap, SIDE_SERVER);
    event_line_end(&json);
}

/* ---- Notices and GOAWAY ---------------------------------------------- */

static void
put_field(struct json *json, const struct notice_field *field)
{
    switch (field->kind) {
    case NOTICE_NUMBER:
        json_uint(json, field->name, field->number);
        break;
    case NOTICE_BOOL:
        json_bool(json, field->name, field->number != 0);
        break;
    case NOTICE_TEXT:
        json_text(json, field->name, field->text, field->text_len);
        break;
    }
}

void
event_notice(struct tap *tap, const struct notice *notice)
{
    struct json json;

    if (!event_line_begin(&json, tap, EVENT_NOTICE, tap->now_us)) {
        return;
    }
    json_string(&json, "severity",
                notice_severity_name(notice_code_severity(notice->code)));
    json_string(&json, "code", notice_code_name(notice->code));
    json_string(&json, "from",
                notice->has_from ? side_name(notice->from) : NULL);
    if (notice->stream != 0) {
        json_uint(&json, "stream", notice->stream);
    } else {
        json_null(&json, "stream");
    }
    json_string(&json, "detail", notice->detail);
    for (unsigned i = 0; i < notice->n_fields; i++) {
        put_field(&json, &notice->fields[i]);
    }
    event_line_end(&json);
}

const char *
event_code(uint32_t code, char room[EVENT_CODE_MAX])
{
    const char *name = h2dec_code_name(code);

    if (name != NULL) {
        return name;
    }
    snprintf(room, EVENT_CODE_MAX, "%" PRIu32, code);
    return room;
}

void
event_goaway(struct tap *tap, const struct h2dec_goaway *goaway)
{
    char number[EVENT_CODE_MAX];
    struct json json;

    if (!event_line_begin(&json, tap, EVENT_GOAWAY, tap->now_us)) {
        return;
    }
    json_string(&json, "from", side_name((enum side)goaway->side));
    json_uint(&json, "last_stream_id", goaway->last_stream_id);
    json_literal(&json, "code", event_code(goaway->code, number));
    json_text(&json, "debug",
              goaway->debug_total > 0 ? (const char *)goaway->debug : NULL,
              goaway->debug_len);
    json_uint(&json, "debug_bytes", goaway->debug_total);
    event_line_end(&json);
}
