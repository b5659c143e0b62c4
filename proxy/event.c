/* SPDX-License-Identifier: MIT */
/* Owns the members of the events of a connection that are rare: connections,
 * notices, GOAWAY; they are built with cJSON.  event_call.c has those that
 * come with each call, message and frame. */
#include "event.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"
#include "tap_conn.h"
#include "text.h"
#include "timefmt.h"

/* ---- Building -------------------------------------------------------- */

/* struct build is an event being put together.  cJSON leaves out what it has
 * no memory for: then the whole event is given up. */
struct build {
    const struct tap *tap;
    enum event_kind kind;
    cJSON *root;
    int failed;
};

static void
add_item(struct build *build, cJSON *object, const char *name, cJSON *item)
{
    if (item == NULL || !cJSON_AddItemToObject(object, name, item)) {
        cJSON_Delete(item);
        build->failed = 1;
    }
}

/* A cJSON number is a double: integers are added as they are to be printed. */
static void
add_uint(struct build *build, cJSON *object, const char *name, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    add_item(build, object, name, cJSON_CreateRaw(digits));
}

static void
add_null(struct build *build, cJSON *object, const char *name)
{
    add_item(build, object, name, cJSON_CreateNull());
}

static void
add_text(struct build *build, cJSON *object, const char *name,
         const char *text, size_t len)
{
    char *clean;

    if (text == NULL) {
        add_null(build, object, name);
        return;
    }
    clean = malloc(len * TEXT_GROWTH + 1);
    if (clean == NULL) {
        build->failed = 1;
        return;
    }
    text_utf8(clean, len * TEXT_GROWTH + 1, text, len);
    add_item(build, object, name, cJSON_CreateString(clean));
    free(clean);
}

static void
add_string(struct build *build, cJSON *object, const char *name,
           const char *text)
{
    add_text(build, object, name, text, text == NULL ? 0 : strlen(text));
}

/* Adds a string to an array. */
static void
add_element(struct build *build, cJSON *array, const char *text, size_t len)
{
    char *clean = malloc(len * TEXT_GROWTH + 1);
    cJSON *item = NULL;

    if (clean != NULL) {
        text_utf8(clean, len * TEXT_GROWTH + 1, text, len);
        item = cJSON_CreateString(clean);
        free(clean);
    }
    if (item == NULL || !cJSON_AddItemToArray(array, item)) {
        cJSON_Delete(item);
        build->failed = 1;
    }
}

/* Adds an object to fill; NULL when memory is out, which cJSON puts up with. */
static cJSON *
add_object(struct build *build, cJSON *object, const char *name)
{
    cJSON *item = cJSON_AddObjectToObject(object, name);

    if (item == NULL) {
        build->failed = 1;
    }
    return item;
}

/* Starts an event of |kind|; 0 when it is not wanted. */
static int
begin(struct build *build, const struct tap *tap, enum event_kind kind)
{
    char time[TIME_TEXT_LEN];

    if (!tap_wants(tap, kind)) {
        return 0;
    }
    build->tap = tap;
    build->kind = kind;
    build->failed = 0;
    build->root = cJSON_CreateObject();
    time_format((int64_t)tap->now_us + tap->shared->wall_offset_us, time);
    add_string(build, build->root, "event", event_kind_name(kind));
    add_string(build, build->root, "time", time);
    add_uint(build, build->root, "conn", tap->conn);
    return 1;
}

/* Writes the event, or counts it as dropped when memory was out. */
static void
end(struct build *build)
{
    struct lane *lane = build->tap->shared->lane;
    char *line = build->failed ? NULL : cJSON_PrintUnformatted(build->root);

    cJSON_Delete(build->root);
    if (lane_begin(lane, build->kind)) {
        if (line != NULL) {
            lane_append(lane, line, strlen(line));
        }
        lane_end(lane);
    }
    cJSON_free(line);
}

/* ---- Connections ----------------------------------------------------- */

void
event_connection_open(struct tap *tap)
{
    struct build build;

    if (!begin(&build, tap, EVENT_CONNECTION_OPEN)) {
        return;
    }
    add_string(&build, build.root, "client", tap->client);
    add_string(&build, build.root, "server", tap->server);
    end(&build);
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
add_version(struct build *build, cJSON *object, const char *name,
            uint16_t version)
{
    const char *text = tls_hello_version_name(version);
    char number[8];

    if (text == NULL) {
        snprintf(number, sizeof(number), "0x%04x", version);
        text = number;
    }
    add_string(build, object, name, version == 0 ? NULL : text);
}

static void
add_client_hello(struct build *build, cJSON *tls,
                 const struct tls_hello_facts *facts)
{
    struct tls_hello_span rest;
    struct tls_hello_span name;
    cJSON *list;

    add_version(build, tls, "version_offered",
                facts == NULL ? 0 : facts->version);
    if (facts == NULL || !facts->has_sni) {
        add_null(build, tls, "sni");
    } else {
        add_text(build, tls, "sni", (const char *)facts->sni.data,
                 facts->sni.len);
    }
    if (facts == NULL || !facts->has_alpn) {
        add_null(build, tls, "alpn_offered");
        return;
    }
    list = cJSON_AddArrayToObject(tls, "alpn_offered");
    rest = facts->alpn;
    while (tls_hello_alpn_next(&rest, &name)) {
        add_element(build, list, (const char *)name.data, name.len);
    }
}

static void
add_server_hello(struct build *build, cJSON *tls,
                 const struct tls_hello_facts *facts)
{
    struct tls_hello_span rest = {NULL, 0};
    struct tls_hello_span name = {NULL, 0};
    char suite[8];

    add_version(build, tls, "version", facts == NULL ? 0 : facts->version);
    if (facts != NULL) {
        snprintf(suite, sizeof(suite), "0x%04x", facts->cipher_suite);
        rest = facts->alpn;
    }
    add_string(build, tls, "cipher_suite", facts == NULL ? NULL : suite);
    if (facts == NULL || !facts->has_alpn ||
        !tls_hello_alpn_next(&rest, &name)) {
        add_null(build, tls, "alpn");
    } else {
        add_text(build, tls, "alpn", (const char *)name.data, name.len);
    }
}

static void
add_alert(struct build *build, cJSON *tls, const char *name,
          const struct tls_hello *hello)
{
    const char *text;
    char number[8];

    if (hello == NULL || !hello->has_alert) {
        add_null(build, tls, name);
        return;
    }
    text = tls_hello_alert_name(hello->alert_description);
    if (text == NULL) {
        snprintf(number, sizeof(number), "%u", hello->alert_description);
        text = number;
    }
    add_string(build, tls, name, text);
}

/* What the two sides said of TLS in the clear; null when neither speaks it. */
static void
add_tls(struct build *build)
{
    const struct tap *tap = build->tap;
    cJSON *tls;

    if (tap->tls[SIDE_CLIENT] == NULL && tap->tls[SIDE_SERVER] == NULL) {
        add_null(build, build->root, "tls");
        return;
    }
    tls = add_object(build, build->root, "tls");
    add_client_hello(build, tls, tls_facts(tap, SIDE_CLIENT));
    add_server_hello(build, tls, tls_facts(tap, SIDE_SERVER));
    add_alert(build, tls, "client_alert", tap->tls[SIDE_CLIENT]);
    add_alert(build, tls, "server_alert", tap->tls[SIDE_SERVER]);
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
add_frames(struct build *build, cJSON *object, const struct h2dec_books *books)
{
    cJSON *frames = add_object(build, object, "frames");

    for (unsigned type = 0; type < H2DEC_TYPES; type++) {
        cJSON *entry;

        if (books->frames[type].count == 0) {
            continue;
        }
        entry = add_object(build, frames, h2dec_type_name(type));
        add_uint(build, entry, "count", books->frames[type].count);
        add_uint(build, entry, "bytes", books->frames[type].bytes);
    }
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
add_direction(struct build *build, const char *name, enum side side)
{
    const struct tap *tap = build->tap;
    struct h2dec_books books = books_of(tap, side);
    cJSON *direction = add_object(build, build->root, name);

    add_uint(build, direction, "bytes", books.bytes);
    add_uint(build, direction, "call_bytes", books.stream_bytes);
    add_uint(build, direction, "connection_bytes", books.connection_bytes);
    add_uint(build, direction, "late_bytes", books.late_bytes);
    add_uint(build, direction, "undecoded_bytes", books.undecoded_bytes);
    if (tap->h2 != NULL) {
        add_frames(build, direction, &books);
    } else {
        add_null(build, direction, "frames");
    }
}

void
event_connection_close(struct tap *tap, const char *error)
{
    struct build build;

    if (!begin(&build, tap, EVENT_CONNECTION_CLOSE)) {
        return;
    }
    add_string(&build, build.root, "client", tap->client);
    add_string(&build, build.root, "server", tap->server);
    add_string(&build, build.root, "protocol", tap_protocol(tap));
    add_uint(&build, build.root, "duration_us", tap->now_us - tap->accepted_us);
    if (tap->connect_us == UINT64_MAX || tap->reason == CONN_CONNECT_FAILED) {
        add_null(&build, build.root, "connect_us");
    } else {
        add_uint(&build, build.root, "connect_us", tap->connect_us);
    }
    add_string(&build, build.root, "reason", reason_name(tap->reason));
    add_string(&build, build.root, "error", error);
    add_uint(&build, build.root, "calls", tap->calls);
    add_uint(&build, build.root, "notices", tap->notices);
    add_tls(&build);
    add_direction(&build, "from_client", SIDE_CLIENT);
    add_direction(&build, "from_server", SIDE_SERVER);
    end(&build);
}

/* ---- Notices and GOAWAY ---------------------------------------------- */

static void
add_field(struct build *build, const struct notice_field *field)
{
    switch (field->kind) {
    case NOTICE_NUMBER:
        add_uint(build, build->root, field->name, field->number);
        break;
    case NOTICE_BOOL:
        add_item(build, build->root, field->name,
                 cJSON_CreateBool(field->number != 0));
        break;
    case NOTICE_TEXT:
        add_text(build, build->root, field->name, field->text,
                 field->text_len);
        break;
    }
}

void
event_notice(struct tap *tap, const struct notice *notice)
{
    struct build build;

    if (!begin(&build, tap, EVENT_NOTICE)) {
        return;
    }
    add_string(&build, build.root, "severity",
               notice_severity_name(notice_code_severity(notice->code)));
    add_string(&build, build.root, "code", notice_code_name(notice->code));
    add_string(&build, build.root, "from",
               notice->has_from ? side_name(notice->from) : NULL);
    if (notice->stream != 0) {
        add_uint(&build, build.root, "stream", notice->stream);
    } else {
        add_null(&build, build.root, "stream");
    }
    add_string(&build, build.root, "detail", notice->detail);
    for (unsigned i = 0; i < notice->n_fields; i++) {
        add_field(&build, &notice->fields[i]);
    }
    end(&build);
}

void
event_goaway(struct tap *tap, const struct h2dec_goaway *goaway)
{
    const char *name = h2dec_code_name(goaway->code);
    char number[16];
    struct build build;

    if (!begin(&build, tap, EVENT_GOAWAY)) {
        return;
    }
    snprintf(number, sizeof(number), "%" PRIu32, goaway->code);
    add_string(&build, build.root, "from", side_name((enum side)goaway->side));
    add_uint(&build, build.root, "last_stream_id", goaway->last_stream_id);
    add_string(&build, build.root, "code", name != NULL ? name : number);
    add_text(&build, build.root, "debug",
             goaway->debug_total > 0 ? (const char *)goaway->debug : NULL,
             goaway->debug_len);
    add_uint(&build, build.root, "debug_bytes", goaway->debug_total);
    end(&build);
}
