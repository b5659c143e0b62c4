/* SPDX-License-Identifier: MIT */
/* Owns the members of the events that come with each call, message and frame,
 * written straight into the lane; event.c has the rare ones. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "event.h"
#include "event_line.h"
#include "event_pace.h"
#include "tap_conn.h"

/* MESSAGE_PATH_MAX bounds `path` in message events; methods have some 50. */
#define MESSAGE_PATH_MAX 512

/* ---- Values that may be unknown -------------------------------------- */

static inline void
put_value(struct json *json, const char *key, const struct call *call,
          const struct call_value *value)
{
    size_t len;
    const char *text = call_shown(call, value, &len);

    json_text(json, key, text, len);
}

static inline void
put_since(struct json *json, const char *key, const struct call *call,
          uint64_t when_us)
{
    if (when_us == CALL_NEVER) {
        json_null(json, key);
    } else {
        json_uint(json, key, when_us - call->started_us);
    }
}

static inline void
put_known(struct json *json, const char *key, int value)
{
    if (value < 0) {
        json_null(json, key);
    } else {
        json_uint(json, key, (uint64_t)value);
    }
}

/* ---- A direction of a call ------------------------------------------- */

static const char *
compression_of(const struct flow *flow)
{
    const struct grpcframe_tally *tally = &flow->reader.tally;

    if (tally->compressed_messages > 0) {
        return tally->compressed_messages == tally->messages ? "full"
                                                             : "mixed";
    }
    return flow->codec > GRPCFRAME_CODEC_IDENTITY ? "unused" : "none";
}

/* Members that only calls with messages have: null elsewhere. */
static void
put_messages(struct json *json, const struct flow *flow)
{
    const struct grpcframe_tally *tally = &flow->reader.tally;
    struct call_figures figures = call_figures(flow);

    json_literal(json, "compression", compression_of(flow));
    json_uint(json, "messages", tally->messages);
    json_uint(json, "compressed_messages", tally->compressed_messages);
    json_uint(json, "prefix_bytes", figures.prefix_bytes);
    json_uint(json, "message_bytes", figures.message_bytes);
    if (figures.is_decoded_known) {
        json_uint(json, "decoded_bytes", figures.decoded_bytes);
    } else {
        json_null(json, "decoded_bytes");
    }
    json_uint(json, "truncated_bytes", figures.truncated_bytes);
    json_uint(json, "trailer_bytes", figures.trailer_bytes);
    json_uint(json, "base64_bytes", figures.base64_bytes);
}

static void
put_no_messages(struct json *json, const struct flow *flow,
                uint64_t body_bytes)
{
    static const char *const keys[] = {
        "compression",  "messages",      "compressed_messages",
        "prefix_bytes", "message_bytes", "truncated_bytes",
        "trailer_bytes", "base64_bytes"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_null(json, keys[i]);
    }
    if (!flow->seen || flow->unknown ||
        (flow->coded && !flow->coding_ended)) {
        json_null(json, "decoded_bytes");
    } else {
        json_uint(json, "decoded_bytes",
                  flow->coded ? flow->coding.decoded_bytes : body_bytes);
    }
}

static void
put_flow(struct json *json, const char *key, const struct flow *flow)
{
    const struct call *call = flow->call;
    const struct h2dec_ledger *ledger = &call->ledger[flow->side];

    json_open(json, key);
    put_value(json, "content_type", call, &flow->facts[FLOW_CONTENT_TYPE]);
    put_value(json, "grpc_encoding", call, &flow->facts[FLOW_GRPC_ENCODING]);
    put_value(json, "grpc_accept_encoding", call,
              &flow->facts[FLOW_GRPC_ACCEPT_ENCODING]);
    put_value(json, "content_encoding", call,
              &flow->facts[FLOW_CONTENT_ENCODING]);
    put_value(json, "accept_encoding", call,
              &flow->facts[FLOW_ACCEPT_ENCODING]);
    json_uint(json, "frames", ledger->frames);
    json_uint(json, "wire_bytes", h2dec_ledger_sum(ledger));
    json_uint(json, "framing_bytes", ledger->framing_bytes);
    json_uint(json, "header_block_bytes", ledger->header_block_bytes);
    json_uint(json, "header_list_bytes", ledger->header_list_bytes);
    json_uint(json, "padding_bytes", ledger->padding_bytes);
    json_uint(json, "control_bytes", ledger->control_bytes);
    json_uint(json, "body_bytes", ledger->body_bytes);
    if (call_has_messages(call)) {
        put_messages(json, flow);
    } else {
        put_no_messages(json, flow, ledger->body_bytes);
    }
    event_pace_call(json, call, flow->side);
    json_close(json);
}

/* ---- call ------------------------------------------------------------ */

/* The kind as observed: what a method could do is not on the wire. */
static const char *
kind_of(const struct call *call)
{
    uint64_t requests = call->flow[SIDE_CLIENT].reader.tally.messages;
    uint64_t responses = call->flow[SIDE_SERVER].reader.tally.messages;

    if (!call_has_messages(call) || requests + responses == 0) {
        return NULL;
    }
    if (requests > 1) {
        return responses > 1 ? "bidi_streaming" : "client_streaming";
    }
    return responses > 1 ? "server_streaming" : "unary";
}

static void
put_request_facts(struct json *json, const struct call *call)
{
    static const struct {
        const char *key;
        enum call_fact fact;
    } facts[] = {
        {"method", FACT_METHOD},       {"scheme", FACT_SCHEME},
        {"authority", FACT_AUTHORITY}, {"path", FACT_PATH},
        {"user_agent", FACT_USER_AGENT}, {"grpc_timeout", FACT_TIMEOUT},
    };

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        put_value(json, facts[i].key, call, &call->facts[facts[i].fact]);
    }
    put_value(json, "content_type", call,
              &call->flow[SIDE_CLIENT].facts[FLOW_CONTENT_TYPE]);
}

static void
put_status(struct json *json, const struct call *call)
{
    put_known(json, "http_status", call->http_status);
    put_known(json, "grpc_status", call->grpc_status);
    json_string(json, "grpc_status_name",
                call->grpc_status < 0
                    ? NULL
                    : grpcframe_status_name(call->grpc_status));
    put_value(json, "grpc_message", call, &call->facts[FACT_MESSAGE]);
    if (call_has_messages(call) && call->flow[SIDE_SERVER].seen) {
        json_bool(json, "trailers_only", call->trailers_only);
    } else {
        json_null(json, "trailers_only");
    }
    json_string(json, "kind", kind_of(call));
}

static void
put_timing(struct json *json, const struct call *call, uint64_t now_us)
{
    json_literal(json, "started",
                 event_line_time(call->tap, call->started_us));
    json_uint(json, "duration_us", now_us - call->started_us);
    json_open(json, "timing");
    put_since(json, "request_end_us", call, call->request_end_us);
    put_since(json, "response_headers_us", call, call->response_headers_us);
    put_since(json, "first_message_us", call, call->first_message_us);
    put_since(json, "last_message_us", call, call->last_message_us);
    json_close(json);
}

void
event_call(struct call *call, const struct event_ending *ending,
           uint64_t now_us)
{
    static const char *const protocols[] = {"h2", "http/1.1", "http/1.0"};
    char number[EVENT_CODE_MAX];
    struct json json;

    if (!event_line_begin(&json, call->tap, EVENT_CALL, now_us)) {
        return;
    }
    json_uint(&json, "stream", call->id);
    json_literal(&json, "protocol", protocols[call->protocol]);
    json_string(&json, "rpc", call_rpc_name(call->rpc));
    put_request_facts(&json, call);
    put_status(&json, call);
    json_literal(&json, "end", ending->end);
    if (ending->has_code) {
        json_literal(&json, "reset_code", event_code(ending->code, number));
    } else {
        json_null(&json, "reset_code");
    }
    put_timing(&json, call, now_us);
    json_uint(&json, "cut_values", call->cut_values);
    put_flow(&json, "request", &call->flow[SIDE_CLIENT]);
    put_flow(&json, "response", &call->flow[SIDE_SERVER]);
    event_line_end(&json);
}

/* ---- message --------------------------------------------------------- */

static const char *
form_name(enum grpcframe_form form)
{
    switch (form) {
    case GRPCFRAME_FORM_REGULAR:
        break;
    case GRPCFRAME_FORM_RAW_DEFLATE:
        return "raw";
    case GRPCFRAME_FORM_SNAPPY_BLOCK:
        return "block";
    }
    return NULL;
}

static void
put_encoding(struct json *json, const struct flow *flow,
             const struct grpcframe_message *message)
{
    const struct call_value *name = &flow->facts[FLOW_GRPC_ENCODING];

    if (message->compressed && flow->codec != GRPCFRAME_CODEC_IDENTITY) {
        put_value(json, "encoding", flow->call, name);
    } else {
        json_null(json, "encoding");
    }
    json_string(json, "encoding_form",
                message->result == GRPCFRAME_RESULT_OK
                    ? form_name(message->form)
                    : NULL);
}

/* A path comes with each message, however small: a long one is cut here, and
 * whole in the call event. */
static void
put_path(struct json *json, const struct call *call)
{
    size_t len;
    const char *text = call_shown(call, &call->facts[FACT_PATH], &len);

    json_text(json, "path", text, len < MESSAGE_PATH_MAX ? len
                                                         : MESSAGE_PATH_MAX);
}

void
event_message(struct flow *flow, const struct grpcframe_message *message,
              uint64_t now_us)
{
    const struct call *call = flow->call;
    struct json json;

    if (!event_line_begin(&json, call->tap, EVENT_MESSAGE, now_us)) {
        return;
    }
    json_uint(&json, "stream", call->id);
    put_path(&json, call);
    json_literal(&json, "from", side_name(flow->side));
    json_uint(&json, "index", message->index);
    json_uint(&json, "flag", message->flag);
    json_bool(&json, "compressed", message->compressed);
    put_encoding(&json, flow, message);
    json_uint(&json, "length", message->length);
    if (message->result == GRPCFRAME_RESULT_OK) {
        json_uint(&json, "decoded_length", message->decoded_length);
    } else {
        json_null(&json, "decoded_length");
    }
    json_uint(&json, "frames", message->frames);
    put_since(&json, "at_us", call, now_us);
    put_since(&json, "first_byte_at_us", call, message->first_byte_us);
    event_line_end(&json);
}

/* ---- headers --------------------------------------------------------- */

static const char *
block_name(enum h2dec_block block)
{
    static const char *const names[] = {
        "request", "response", "informational", "trailers", "push_promise",
    };

    return names[block];
}

static int
is_secret(const struct tap *tap, const struct h2dec_field *field)
{
    if (field->name_len == 5 && memcmp(field->name, ":path", 5) == 0) {
        return tap_is_target_secret(tap, field->value, field->value_len);
    }
    return tap_is_secret(tap, field->name, field->name_len);
}

static void
put_fields(struct json *json, const struct tap *tap,
           const struct h2dec_headers *headers)
{
    json_array_open(json, "headers");
    for (size_t i = 0; i < headers->n_fields; i++) {
        const struct h2dec_field *field = &headers->fields[i];

        json_array_open(json, NULL);
        json_text(json, NULL, field->name, field->name_len);
        if (is_secret(tap, field)) {
            json_literal(json, NULL, TAP_REDACTED);
        } else {
            json_text(json, NULL, field->value, field->value_len);
        }
        json_array_close(json);
    }
    json_array_close(json);
}

void
event_headers(struct tap *tap, const struct h2dec_headers *headers,
              const char *start_line, uint64_t now_us)
{
    struct json json;

    if (!event_line_begin(&json, tap, EVENT_HEADERS, now_us)) {
        return;
    }
    json_uint(&json, "stream", headers->stream_id);
    json_literal(&json, "from", side_name((enum side)headers->side));
    json_literal(&json, "block", block_name(headers->block));
    json_bool(&json, "informational",
              headers->block == H2DEC_BLOCK_INFORMATIONAL);
    json_bool(&json, "trailers", headers->block == H2DEC_BLOCK_TRAILERS);
    json_bool(&json, "end_stream", headers->end_stream);
    json_string(&json, "start_line", start_line);
    json_uint(&json, "header_block_bytes", headers->block_bytes);
    if (headers->known) {
        json_uint(&json, "header_list_bytes", headers->list_bytes);
        put_fields(&json, tap, headers);
    } else {
        json_null(&json, "header_list_bytes");
        json_null(&json, "headers");
    }
    json_uint(&json, "omitted", headers->n_omitted);
    event_line_end(&json);
}

/* ---- frame and settings ---------------------------------------------- */

static void
put_flag_names(struct json *json, const struct h2dec_frame *frame)
{
    static const struct {
        uint8_t flag;
        const char *name;
        /* types has a bit for each type that defines the flag. */
        unsigned types;
    } flags[] = {
        {0x01, "END_STREAM", 1u << H2DEC_DATA | 1u << H2DEC_HEADERS},
        {0x01, "ACK", 1u << H2DEC_SETTINGS | 1u << H2DEC_PING},
        {0x04, "END_HEADERS",
         1u << H2DEC_HEADERS | 1u << H2DEC_PUSH_PROMISE |
             1u << H2DEC_CONTINUATION},
        {0x08, "PADDED",
         1u << H2DEC_DATA | 1u << H2DEC_HEADERS | 1u << H2DEC_PUSH_PROMISE},
        {0x20, "PRIORITY", 1u << H2DEC_HEADERS},
    };

    json_array_open(json, "flag_names");
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if ((frame->flags & flags[i].flag) &&
            frame->type < H2DEC_UNKNOWN_TYPE &&
            (flags[i].types >> frame->type & 1u)) {
            json_literal(json, NULL, flags[i].name);
        }
    }
    json_array_close(json);
}

void
event_frame(struct tap *tap, const struct h2dec_frame *frame)
{
    struct json json;

    if (!event_line_begin(&json, tap, EVENT_FRAME, tap->now_us)) {
        return;
    }
    json_literal(&json, "from", side_name((enum side)frame->side));
    json_literal(&json, "type", h2dec_type_name(frame->type));
    json_uint(&json, "type_id", frame->type);
    json_uint(&json, "flags", frame->flags);
    put_flag_names(&json, frame);
    json_uint(&json, "stream", frame->stream_id);
    json_uint(&json, "length", frame->length);
    json_uint(&json, "offset", frame->offset);
    event_line_end(&json);
}

/* Of a parameter that comes twice the last one counts (RFC 9113, section
 * 6.5); 1 when |at| is not the last. */
static int
is_repeated(const struct h2dec_settings *settings, size_t at)
{
    for (size_t i = at + 1; i < settings->n_entries; i++) {
        if (settings->entries[i].id == settings->entries[at].id) {
            return 1;
        }
    }
    return 0;
}

static void
put_setting(struct json *json, const struct h2dec_setting *setting)
{
    const char *name = h2dec_setting_name(setting->id);
    char number[8];

    if (name == NULL) {
        snprintf(number, sizeof(number), "%u", setting->id);
        name = number;
    }
    json_uint(json, name, setting->value);
}

static void
put_settings(struct json *json, const struct h2dec_settings *settings)
{
    uint64_t repeated = 0;

    json_open(json, "settings");
    for (size_t i = 0; i < settings->n_entries; i++) {
        if (is_repeated(settings, i)) {
            repeated++;
        } else {
            put_setting(json, &settings->entries[i]);
        }
    }
    json_close(json);
    json_uint(json, "repeated", repeated);
    json_uint(json, "omitted", settings->n_omitted);
}

void
event_settings(struct tap *tap, const struct h2dec_settings *settings)
{
    struct json json;

    if (!event_line_begin(&json, tap, EVENT_SETTINGS, tap->now_us)) {
        return;
    }
    json_literal(&json, "from", side_name((enum side)settings->side));
    json_bool(&json, "ack", settings->ack);
    put_settings(&json, settings);
    event_line_end(&json);
}
