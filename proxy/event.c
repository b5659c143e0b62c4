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

/* A cJSON number is a double: integers are added as they are to be printed. */
static void
add_uint(cJSON *object, const char *name, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    cJSON_AddRawToObject(object, name, digits);
}

static void
add_text(cJSON *object, const char *name, const char *text, size_t len)
{
    char *clean;

    if (text == NULL) {
        cJSON_AddNullToObject(object, name);
        return;
    }
    clean = malloc(len * TEXT_GROWTH + 1);
    if (clean == NULL) {
        return;
    }
    text_utf8(clean, len * TEXT_GROWTH + 1, text, len);
    cJSON_AddStringToObject(object, name, clean);
    free(clean);
}

static void
add_string(cJSON *object, const char *name, const char *text)
{
    add_text(object, name, text, text == NULL ? 0 : strlen(text));
}

/* Starts an event of |kind|, or returns NULL when it is not wanted or memory
 * is out. */
static cJSON *
begin(const struct tap *tap, enum event_kind kind)
{
    char time[TIME_TEXT_LEN];
    cJSON *object;

    if (!tap_wants(tap, kind)) {
        return NULL;
    }
    object = cJSON_CreateObject();
    time_format((int64_t)tap->now_us + tap->shared->wall_offset_us, time);
    add_string(object, "event", event_kind_name(kind));
    add_string(object, "time", time);
    add_uint(object, "conn", tap->conn);
    return object;
}

/* Writes |object| and frees it.  When memory is out cJSON leaves members out:
 * an event that lacks some of its |members| counts as dropped. */
static void
end(const struct tap *tap, enum event_kind kind, cJSON *object, int members)
{
    struct lane *lane = tap->shared->lane;
    char *line = NULL;

    if (cJSON_GetArraySize(object) == members) {
        line = cJSON_PrintUnformatted(object);
    }
    cJSON_Delete(object);
    if (lane_begin(lane, kind)) {
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
    cJSON *object = begin(tap, EVENT_CONNECTION_OPEN);

    if (object == NULL) {
        return;
    }
    add_string(object, "client", tap->client);
    add_string(object, "server", tap->server);
    end(tap, EVENT_CONNECTION_OPEN, object, 5);
}

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
add_frames(cJSON *object, const struct h2dec_books *books)
{
    cJSON *frames = cJSON_AddObjectToObject(object, "frames");

    for (unsigned type = 0; type < H2DEC_TYPES; type++) {
        cJSON *entry;

        if (books->frames[type].count == 0) {
            continue;
        }
        entry = cJSON_AddObjectToObject(frames, h2dec_type_name(type));
        add_uint(entry, "count", books->frames[type].count);
        add_uint(entry, "bytes", books->frames[type].bytes);
    }
}

static void
add_direction(cJSON *object, const char *name, const struct tap *tap,
              enum side side)
{
    static const struct h2dec_books none;
    const struct h2dec_books *books = &none;
    uint64_t opaque = tap->dir[side].opaque_bytes;
    cJSON *direction = cJSON_AddObjectToObject(object, name);

    if (tap->h2 != NULL) {
        books = h2dec_conn_books(tap->h2, (enum h2dec_side)side);
    }
    add_uint(direction, "bytes", books->bytes + opaque);
    add_uint(direction, "call_bytes", books->stream_bytes);
    add_uint(direction, "connection_bytes", books->connection_bytes);
    add_uint(direction, "late_bytes", books->late_bytes);
    add_uint(direction, "undecoded_bytes", books->undecoded_bytes + opaque);
    if (tap->h2 != NULL) {
        add_frames(direction, books);
    } else {
        cJSON_AddNullToObject(direction, "frames");
    }
}

void
event_connection_close(struct tap *tap, const char *error)
{
    cJSON *object = begin(tap, EVENT_CONNECTION_CLOSE);

    if (object == NULL) {
        return;
    }
    add_string(object, "client", tap->client);
    add_string(object, "server", tap->server);
    add_string(object, "protocol", tap_protocol(tap));
    add_uint(object, "duration_us", tap->now_us - tap->accepted_us);
    if (tap->connect_us == UINT64_MAX || tap->reason == CONN_CONNECT_FAILED) {
        cJSON_AddNullToObject(object, "connect_us");
    } else {
        add_uint(object, "connect_us", tap->connect_us);
    }
    add_string(object, "reason", reason_name(tap->reason));
    add_string(object, "error", error);
    add_uint(object, "calls", tap->calls);
    add_uint(object, "notices", tap->notices);
    add_direction(object, "from_client", tap, SIDE_CLIENT);
    add_direction(object, "from_server", tap, SIDE_SERVER);
    end(tap, EVENT_CONNECTION_CLOSE, object, 14);
}

/* ---- Notices and GOAWAY ---------------------------------------------- */

static void
add_field(cJSON *object, const struct notice_field *field)
{
    if (field->is_text) {
        add_text(object, field->name, field->text, field->text_len);
    } else {
        add_uint(object, field->name, field->number);
    }
}

void
event_notice(struct tap *tap, const struct notice *notice)
{
    cJSON *object = begin(tap, EVENT_NOTICE);

    if (object == NULL) {
        return;
    }
    add_string(object, "severity",
               notice_severity_name(notice_code_severity(notice->code)));
    add_string(object, "code", notice_code_name(notice->code));
    add_string(object, "from",
               notice->has_from ? side_name(notice->from) : NULL);
    if (notice->stream != 0) {
        add_uint(object, "stream", notice->stream);
    } else {
        cJSON_AddNullToObject(object, "stream");
    }
    add_string(object, "detail", notice->detail);
    for (unsigned i = 0; i < notice->n_fields; i++) {
        add_field(object, &notice->fields[i]);
    }
    end(tap, EVENT_NOTICE, object, 8 + (int)notice->n_fields);
}

void
event_goaway(struct tap *tap, const struct h2dec_goaway *goaway)
{
    const char *name = h2dec_code_name(goaway->code);
    char number[16];
    cJSON *object = begin(tap, EVENT_GOAWAY);

    if (object == NULL) {
        return;
    }
    snprintf(number, sizeof(number), "%" PRIu32, goaway->code);
    add_string(object, "from", side_name((enum side)goaway->side));
    add_uint(object, "last_stream_id", goaway->last_stream_id);
    add_string(object, "code", name != NULL ? name : number);
    add_text(object, "debug",
             goaway->debug_total > 0 ? (const char *)goaway->debug : NULL,
             goaway->debug_len);
    add_uint(object, "debug_bytes", goaway->debug_total);
    end(tap, EVENT_GOAWAY, object, 8);
}
