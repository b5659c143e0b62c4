/* SPDX-License-Identifier: MIT */
/* Owns the reading of header fields into a call: which are kept, and what they
 * say.  What is wrong with values of any name is call_metadata.c's, what a body
 * is worth call_body.c's. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "call.h"
#include "tap_conn.h"

/* enum field_id is a header field that a call cares about. */
enum field_id {
    FIELD_OTHER,
    FIELD_METHOD,
    FIELD_SCHEME,
    FIELD_AUTHORITY,
    FIELD_PATH,
    FIELD_STATUS,
    FIELD_USER_AGENT,
    FIELD_TE,
    FIELD_CONTENT_TYPE,
    FIELD_CONTENT_LENGTH,
    FIELD_CONTENT_ENCODING,
    FIELD_ACCEPT_ENCODING,
    FIELD_VARY,
    FIELD_GRPC_ENCODING,
    FIELD_GRPC_ACCEPT_ENCODING,
    FIELD_GRPC_TIMEOUT,
    FIELD_GRPC_STATUS,
    FIELD_GRPC_MESSAGE,
    FIELD_CONNECT_VERSION,
    FIELD_COUNT
};

/* NAME_MAX_LEN is the length of the longest name, SAME_LEN how many at most
 * have one length. */
#define NAME_MAX_LEN 24
#define SAME_LEN 3

static const char names[FIELD_COUNT][NAME_MAX_LEN + 1] = {
    [FIELD_METHOD] = ":method",
    [FIELD_SCHEME] = ":scheme",
    [FIELD_AUTHORITY] = ":authority",
    [FIELD_PATH] = ":path",
    [FIELD_STATUS] = ":status",
    [FIELD_USER_AGENT] = "user-agent",
    [FIELD_TE] = "te",
    [FIELD_CONTENT_TYPE] = "content-type",
    [FIELD_CONTENT_ENCODING] = "content-encoding",
    [FIELD_ACCEPT_ENCODING] = "accept-encoding",
    [FIELD_CONTENT_LENGTH] = "content-length",
    [FIELD_VARY] = "vary",
    [FIELD_GRPC_ENCODING] = "grpc-encoding",
    [FIELD_GRPC_ACCEPT_ENCODING] = "grpc-accept-encoding",
    [FIELD_GRPC_TIMEOUT] = "grpc-timeout",
    [FIELD_GRPC_STATUS] = "grpc-status",
    [FIELD_GRPC_MESSAGE] = "grpc-message",
    [FIELD_CONNECT_VERSION] = "connect-protocol-version",
};

/* Every field of every block is looked up: by the length of its name, few are
 * left to compare with. */
static enum field_id
field_id(const struct h2dec_field *field)
{
    static const uint8_t by_len[NAME_MAX_LEN + 1][SAME_LEN] = {
        [2] = {FIELD_TE},
        [4] = {FIELD_VARY},
        [5] = {FIELD_PATH},
        [7] = {FIELD_METHOD, FIELD_SCHEME, FIELD_STATUS},
        [10] = {FIELD_AUTHORITY, FIELD_USER_AGENT},
        [11] = {FIELD_GRPC_STATUS},
        [12] = {FIELD_CONTENT_TYPE, FIELD_GRPC_TIMEOUT, FIELD_GRPC_MESSAGE},
        [13] = {FIELD_GRPC_ENCODING},
        [14] = {FIELD_CONTENT_LENGTH},
        [15] = {FIELD_ACCEPT_ENCODING},
        [16] = {FIELD_CONTENT_ENCODING},
        [20] = {FIELD_GRPC_ACCEPT_ENCODING},
        [24] = {FIELD_CONNECT_VERSION},
    };

    if (field->name_len > NAME_MAX_LEN) {
        return FIELD_OTHER;
    }
    for (unsigned i = 0; i < SAME_LEN; i++) {
        uint8_t id = by_len[field->name_len][i];

        if (memcmp(names[id], field->name, field->name_len) == 0) {
            return (enum field_id)id;
        }
    }
    return FIELD_OTHER;
}

/* ---- Keeping values -------------------------------------------------- */

static void
keep(struct call *call, struct call_value *value,
     const struct h2dec_field *field)
{
    value->secret = tap_is_secret(call->tap, field->name,
                                  field->name_len) != 0;
    call_set(call, value, field->value, field->value_len);
    if (!value->known) {
        /* No room: that a fact is absent says nothing about the wire. */
        call->flow[SIDE_CLIENT].partial = 1;
        call->flow[SIDE_SERVER].partial = 1;
    }
}

static void
keep_list(struct call *call, struct call_value *value,
          const struct h2dec_field *field)
{
    value->secret = tap_is_secret(call->tap, field->name,
                                  field->name_len) != 0;
    call_join(call, value, field->value, field->value_len);
}

/* The value of |field| as it may be shown, as `value` of |notice|. */
static void
add_shown(struct notice *notice, const struct call *call,
          const struct h2dec_field *field)
{
    if (tap_is_secret(call->tap, field->name, field->name_len)) {
        notice_text(notice, "value", TAP_REDACTED,
                    sizeof(TAP_REDACTED) - 1);
    } else {
        notice_text(notice, "value", field->value, field->value_len);
    }
}

static void
keep_timeout(struct call *call, const struct h2dec_field *field)
{
    struct notice notice;

    keep(call, &call->facts[FACT_TIMEOUT], field);
    if (grpcframe_timeout_parse(field->value, field->value_len,
                                &call->timeout_us) == 0) {
        return;
    }
    call->timeout_us = CALL_NEVER;
    notice_init(&notice, NOTICE_TIMEOUT_INVALID, SIDE_CLIENT,
                call->id);
    notice_detail(&notice, "grpc-timeout is not 1 to 8 digits and one of "
                           "H M S m u n");
    add_shown(&notice, call, field);
    tap_notice(call->tap, &notice);
}

/* Three digits (RFC 9110, section 15); -1 for anything else. */
static int
parse_http_status(const struct h2dec_field *field)
{
    int status = 0;

    if (field->value_len != 3) {
        return -1;
    }
    for (int i = 0; i < 3; i++) {
        if (field->value[i] < '0' || field->value[i] > '9') {
            return -1;
        }
        status = status * 10 + (field->value[i] - '0');
    }
    return status;
}

/* A number of bytes (RFC 9110, section 8.6); 0 for anything else, which says
 * nothing. */
static int
parse_length(const char *text, size_t len, uint64_t *length)
{
    *length = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';

        if (digit > 9 || *length > (UINT64_MAX - 9) / 10) {
            return 0;
        }
        *length = *length * 10 + digit;
    }
    return len > 0;
}

/* There should be one length, but it may come several times, on lines of its
 * own or in a list; of those that differ the first two are kept. */
static void
keep_length(struct flow *flow, const struct h2dec_field *field)
{
    const char *list = field->value;
    size_t rest = field->value_len;
    size_t len;

    for (;;) {
        const char *text = coding_next(&list, &rest, &len);
        uint64_t length;

        if (text == NULL) {
            return;
        }
        if (!parse_length(text, len, &length)) {
            continue;
        }
        if (!flow->has_length) {
            flow->has_length = 1;
            flow->length = length;
        } else if (length != flow->length && !flow->has_other_length) {
            flow->has_other_length = 1;
            flow->other_length = length;
        }
    }
}

/* Facts of a direction that either block may carry; 1 when it was one. */
static int
keep_flow_fact(struct flow *flow, enum field_id id,
               const struct h2dec_field *field)
{
    struct call_value *facts = flow->facts;

    switch (id) {
    case FIELD_CONTENT_TYPE:
        keep(flow->call, &facts[FLOW_CONTENT_TYPE], field);
        return 1;
    case FIELD_GRPC_ENCODING:
        flow->codec = grpcframe_codec_parse(field->value, field->value_len);
        keep(flow->call, &facts[FLOW_GRPC_ENCODING], field);
        return 1;
    case FIELD_GRPC_ACCEPT_ENCODING:
        keep_list(flow->call, &facts[FLOW_GRPC_ACCEPT_ENCODING], field);
        return 1;
    case FIELD_CONTENT_ENCODING:
        keep_list(flow->call, &facts[FLOW_CONTENT_ENCODING], field);
        return 1;
    case FIELD_ACCEPT_ENCODING:
        keep_list(flow->call, &facts[FLOW_ACCEPT_ENCODING], field);
        return 1;
    case FIELD_VARY:
        keep_list(flow->call, &facts[FLOW_VARY], field);
        return 1;
    case FIELD_CONTENT_LENGTH:
        keep_length(flow, field);
        return 1;
    default:
        return 0;
    }
}

static void
keep_request_field(struct call *call, const struct h2dec_field *field)
{
    enum field_id id = field_id(field);

    if (keep_flow_fact(&call->flow[SIDE_CLIENT], id, field)) {
        return;
    }
    switch (id) {
    case FIELD_METHOD:
        keep(call, &call->facts[FACT_METHOD], field);
        break;
    case FIELD_SCHEME:
        keep(call, &call->facts[FACT_SCHEME], field);
        break;
    case FIELD_AUTHORITY:
        keep(call, &call->facts[FACT_AUTHORITY], field);
        break;
    case FIELD_PATH:
        keep(call, &call->facts[FACT_PATH], field);
        call->facts[FACT_PATH].secret =
            tap_is_target_secret(call->tap, field->value,
                                 field->value_len) != 0;
        break;
    case FIELD_USER_AGENT:
        keep(call, &call->facts[FACT_USER_AGENT], field);
        break;
    case FIELD_TE:
        if (grpcframe_list_has(field->value, field->value_len, "trailers",
                               8)) {
            call->te_seen = 1;
        }
        break;
    case FIELD_GRPC_TIMEOUT:
        keep_timeout(call, field);
        break;
    case FIELD_CONNECT_VERSION:
        call->connect_seen = 1;
        break;
    default:
        break;
    }
}

/* ---- grpc-status and grpc-message ------------------------------------ */

static int
parse_status(struct call *call, const struct h2dec_field *field)
{
    struct notice notice;
    int status;

    if (grpcframe_status_parse(field->value, field->value_len, &status) ==
        0) {
        return status;
    }
    if (call->told_status) {
        return -1;
    }
    call->told_status = 1;
    notice_init(&notice, NOTICE_STATUS_INVALID, SIDE_SERVER,
                call->id);
    notice_detail(&notice, "grpc-status is not an integer from 0 to %d",
                  GRPCFRAME_STATUS_MAX);
    add_shown(&notice, call, field);
    tap_notice(call->tap, &notice);
    return -1;
}

static void
keep_message(struct call *call, const struct h2dec_field *field)
{
    struct call_value *value = &call->facts[FACT_MESSAGE];
    char decoded[CALL_VALUE_MAX];
    size_t len = field->value_len;
    int malformed = 0;

    value->secret = tap_is_secret(call->tap, field->name,
                                  field->name_len) != 0;
    if (len > sizeof(decoded)) {
        len = sizeof(decoded);
        value->cut = 1;
        call->cut_values++;
    }
    decoded[0] = '\0'; /* the message is empty mostly */
    len = grpcframe_percent_decode(decoded, field->value, len, &malformed);
    call_set(call, value, decoded, len);
    if (malformed && !value->cut) {
        call_metadata_tell(&call->flow[SIDE_SERVER], field,
                           "has a malformed percent-encoding, kept as it is");
    }
}

static void
keep_early_status(struct call *call, const struct h2dec_field *field)
{
    call->early_status = 1;
    call->early_value = parse_status(call, field);
    call->grpc_status = call->early_value;
}

static void
keep_response_field(struct call *call, const struct h2dec_field *field)
{
    enum field_id id = field_id(field);

    if (keep_flow_fact(&call->flow[SIDE_SERVER], id, field)) {
        return;
    }
    if (id == FIELD_STATUS) {
        call->http_status = parse_http_status(field);
    } else if (id == FIELD_GRPC_STATUS) {
        keep_early_status(call, field);
    } else if (id == FIELD_GRPC_MESSAGE) {
        keep_message(call, field);
    }
}

static void
tell_conflict(struct call *call, int late)
{
    struct notice notice;

    notice_init(&notice, NOTICE_STATUS_CONFLICT, SIDE_SERVER,
                call->id);
    notice_detail(&notice, "grpc-status is %d in the headers and %d in the "
                           "trailers; the trailers count",
                  call->early_value, late);
    notice_number(&notice, "headers", (uint64_t)call->early_value);
    notice_number(&notice, "trailers", (uint64_t)late);
    tap_notice(call->tap, &notice);
}

static void
keep_late_status(struct call *call, const struct h2dec_field *field)
{
    int status = parse_status(call, field);

    call->late_status = 1;
    if (call->early_status && call->early_value >= 0 && status >= 0 &&
        status != call->early_value) {
        tell_conflict(call, status);
    }
    call->grpc_status = status;
}

static void
keep_trailer(struct call *call, const struct h2dec_field *field)
{
    enum field_id id = field_id(field);

    if (id == FIELD_GRPC_STATUS) {
        keep_late_status(call, field);
    } else if (id == FIELD_GRPC_MESSAGE) {
        keep_message(call, field);
    }
}

/* ---- What a block says ----------------------------------------------- */

/* In the trailers of a text body the base64 of -bin values is left out, the
 * body being base64 itself (PROTOCOL-WEB.md). */
void
call_trailer(struct call *call, const struct h2dec_field *field)
{
    struct flow *flow = &call->flow[SIDE_SERVER];

    keep_trailer(call, field);
    call_metadata_check_field(flow, field, flow->rpc == RPC_GRPC_WEB_TEXT);
}

static void
tell_te_missing(struct call *call)
{
    struct notice notice;

    if (call->te_seen || call->flow[SIDE_CLIENT].partial) {
        return;
    }
    notice_init(&notice, NOTICE_TE_MISSING, SIDE_CLIENT, call->id);
    notice_detail(&notice, "the gRPC request has no te: trailers; proxies on "
                           "the way may drop the trailers");
    tap_notice(call->tap, &notice);
}

static void
request_done(struct call *call, const struct h2dec_headers *headers)
{
    struct flow *flow = &call->flow[SIDE_CLIENT];

    flow->seen = 1;
    flow->rpc = call_rpc_of(flow);
    call->rpc = flow->rpc;
    if (!call_has_messages(call)) {
        call_coding_begin(flow, call_sample_output(flow));
        return;
    }
    call_metadata_check(flow, headers);
    if (call->rpc == RPC_GRPC) {
        tell_te_missing(call);
    }
    call_body_begin(flow);
}

static void
response_done(struct call *call, const struct h2dec_headers *headers,
              uint64_t now_us)
{
    struct flow *flow = &call->flow[SIDE_SERVER];

    flow->seen = 1;
    flow->rpc = call_rpc_of(flow);
    call->response_headers_us = now_us;
    /* A response tells what the call is when its request cannot. */
    if (!call->flow[SIDE_CLIENT].seen) {
        call->rpc = flow->rpc;
    }
    if (!call_has_messages(call)) {
        call_coding_begin(flow, call_sample_output(flow));
        return;
    }
    call->trailers_only = headers->end_stream;
    if (!call_rpc_answers(call->rpc, flow->rpc)) {
        return;
    }
    call_metadata_check(flow, headers);
    call_body_begin(flow);
}

static void
tell_informational(struct call *call, const struct h2dec_headers *headers)
{
    struct notice notice;
    int status = -1;

    for (size_t i = 0; i < headers->n_fields && status < 0; i++) {
        if (field_id(&headers->fields[i]) == FIELD_STATUS) {
            status = parse_http_status(&headers->fields[i]);
        }
    }
    if (status < 0) {
        return;
    }
    notice_init(&notice, NOTICE_INFORMATIONAL, SIDE_SERVER, call->id);
    notice_detail(&notice, "a response with status %d before the final one",
                  status);
    notice_number(&notice, "http_status", (uint64_t)status);
    tap_notice(call->tap, &notice);
}

static void
each_field(struct call *call, const struct h2dec_headers *headers,
           void (*keep_field)(struct call *, const struct h2dec_field *))
{
    for (size_t i = 0; i < headers->n_fields; i++) {
        keep_field(call, &headers->fields[i]);
    }
}

/* A response of gRPC-Web has its trailers in the body, and they count. */
static void
trailers_done(struct call *call, const struct h2dec_headers *headers)
{
    struct flow *flow = &call->flow[SIDE_SERVER];
    int is_web = call_rpc_is_web(flow->rpc);

    if (headers->side != H2DEC_SERVER || (is_web && call->late_status)) {
        return;
    }
    each_field(call, headers, keep_trailer);
    call->status_in_http = is_web && call->late_status;
    if (flow->parsing) {
        call_metadata_check(flow, headers);
    }
}

void
call_headers(struct call *call, const struct h2dec_headers *headers,
             uint64_t now_us)
{
    if (!headers->known) {
        call->flow[headers->side].unknown = 1;
        return;
    }
    if (headers->n_omitted > 0) {
        call->flow[headers->side].partial = 1;
    }
    switch (headers->block) {
    case H2DEC_BLOCK_REQUEST:
    case H2DEC_BLOCK_PROMISE:
        each_field(call, headers, keep_request_field);
        request_done(call, headers);
        break;
    case H2DEC_BLOCK_RESPONSE:
        each_field(call, headers, keep_response_field);
        response_done(call, headers, now_us);
        break;
    case H2DEC_BLOCK_INFORMATIONAL:
        tell_informational(call, headers);
        break;
    case H2DEC_BLOCK_TRAILERS:
        trailers_done(call, headers);
        break;
    }
}
