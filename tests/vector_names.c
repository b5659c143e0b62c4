/* SPDX-License-Identifier: MIT */
/*
 * Owns the list of names that every event of a kind carries.  What values
 * they have is not checked here.
 */
#include "vector_names.h"

#include <string.h>

/* struct kind_names are the names of one kind, up to a NULL. */
struct kind_names {
    /* kind is the value of `event`. */
    const char *kind;
    /* names are what it must have. */
    const char *const *names;
};

static const char *const open_names[] = {"client", "server", NULL};

static const char *const close_names[] = {
    "client", "server", "protocol",    "duration_us", "connect_us", "reason",
    "error",  "calls",  "from_client", "from_server", NULL};

static const char *const call_names[] = {"stream",
                                         "protocol",
                                         "rpc",
                                         "method",
                                         "scheme",
                                         "authority",
                                         "path",
                                         "content_type",
                                         "user_agent",
                                         "grpc_timeout",
                                         "http_status",
                                         "grpc_status",
                                         "grpc_status_name",
                                         "grpc_message",
                                         "trailers_only",
                                         "kind",
                                         "end",
                                         "reset_code",
                                         "started",
                                         "duration_us",
                                         "timing",
                                         "request",
                                         "response",
                                         NULL};

static const char *const message_names[] = {
    "stream",   "path",   "from",
    "index",    "flag",   "compressed",
    "encoding", "length", "decoded_length",
    "frames",   "at_us",  "first_byte_at_us",
    NULL};

static const char *const notice_names[] = {"severity", "code",   "from",
                                           "stream",   "detail", NULL};

static const char *const goaway_names[] = {"from", "last_stream_id", "code",
                                           "debug", NULL};

static const char *const frame_names[] = {"from",   "type",   "flags", "stream",
                                          "length", "offset", NULL};

static const struct kind_names kinds[] = {
    {"connection_open", open_names},
    {"connection_close", close_names},
    {"call", call_names},
    {"message", message_names},
    {"notice", notice_names},
    {"goaway", goaway_names},
    {"frame", frame_names},
    {"headers", NULL},
    {"settings", NULL},
    {NULL, NULL},
};

static const char *const direction_names[] = {
    "content_type",      "grpc_encoding",       "grpc_accept_encoding",
    "content_encoding",  "accept_encoding",     "compression",
    "messages",          "compressed_messages", "frames",
    "wire_bytes",        "framing_bytes",       "header_block_bytes",
    "header_list_bytes", "padding_bytes",       "control_bytes",
    "body_bytes",        "prefix_bytes",        "message_bytes",
    "decoded_bytes",     "truncated_bytes",     "trailer_bytes",
    "base64_bytes",      "first_data_us",       "stalls",
    "stalled_us",        NULL};

static const char *const side_names[] = {
    "bytes",      "call_bytes",      "connection_bytes",
    "late_bytes", "undecoded_bytes", "pace", NULL};

static const char *const timing_names[] = {
    "request_end_us", "response_headers_us", "first_message_us",
    "last_message_us", NULL};

static void
names_check(const cJSON *object, const char *const *names, const char *where,
            struct vector_buf *problem)
{
    for (; names != NULL && *names != NULL; names++) {
        if (cJSON_GetObjectItemCaseSensitive(object, *names) == NULL) {
            vector_format(problem, "%s has no %s; ", where, *names);
        }
    }
}

static void
nested_check(const cJSON *event, const char *name, const char *const *names,
             struct vector_buf *problem)
{
    names_check(cJSON_GetObjectItemCaseSensitive(event, name), names, name,
                problem);
}

/* time_is_valid: RFC 3339, UTC, microseconds. */
static int
time_is_valid(const char *time)
{
    static const char form[] = "0000-00-00T00:00:00.000000Z";

    for (size_t i = 0; i < sizeof(form); i++) {
        int is_digit = time[i] >= '0' && time[i] <= '9';

        if (form[i] == '0' ? !is_digit : form[i] != time[i]) {
            return 0;
        }
    }
    return 1;
}

void
vector_names_check(const cJSON *event, struct vector_buf *problem)
{
    const char *name = vector_lines_event(event);
    const struct kind_names *kind = kinds;

    while (kind->kind != NULL && strcmp(kind->kind, name) != 0) {
        kind++;
    }
    if (kind->kind == NULL) {
        vector_format(problem, "an unknown event; ");
        return;
    }
    names_check(event, kind->names, name, problem);
    if (!time_is_valid(vector_lines_string(event, "time"))) {
        vector_format(problem, "time is not RFC 3339; ");
    }
    if (strcmp(name, "call") == 0) {
        if (!time_is_valid(vector_lines_string(event, "started"))) {
            vector_format(problem, "started is not RFC 3339; ");
        }
        nested_check(event, "request", direction_names, problem);
        nested_check(event, "response", direction_names, problem);
        nested_check(event, "timing", timing_names, problem);
    } else if (strcmp(name, "connection_close") == 0) {
        nested_check(event, "from_client", side_names, problem);
        nested_check(event, "from_server", side_names, problem);
    }
}
