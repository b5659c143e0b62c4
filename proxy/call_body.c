/* SPDX-License-Identifier: MIT */
/* Owns the body of a direction: DATA to messages, each message to its event,
 * and what is wrong with a message.  What a whole call adds up to is
 * call_end.c's. */
#include <inttypes.h>
#include <string.h>

#include "call.h"
#include "event.h"
#include "tap_conn.h"

/* Below a content-encoding a message may cost next to nothing: zeros are
 * messages without end.  Those of an honest body take a byte each and more. */
#define LAYERED_MESSAGES_FREE 1000

/* The receive limit that gRPC stacks have unless told otherwise. */
#define MESSAGE_LIMIT_USUAL 4194304u

static void
message_notice(struct notice *notice, const struct flow *flow,
               enum notice_code code, const struct grpcframe_message *message)
{
    notice_init(notice, code, flow->side, flow->call->id);
    notice_number(notice, "index", message->index);
}

/* ---- The flag -------------------------------------------------------- */

static void
tell_reserved(struct flow *flow, uint64_t index, uint8_t flag,
              uint32_t declared)
{
    const uint8_t prefix[GRPCFRAME_PREFIX_LEN] = {
        flag, (uint8_t)(declared >> 24), (uint8_t)(declared >> 16),
        (uint8_t)(declared >> 8), (uint8_t)declared};
    const char *magic;
    struct notice notice;

    if (flow->told_reserved || (flag & 0xfe) == 0) {
        return;
    }
    flow->told_reserved = 1;
    magic = grpcframe_magic(prefix, sizeof(prefix));
    /* An unprefixed protobuf message mostly begins with field 1, length
     * delimited. */
    if (magic == NULL && flag == 0x0a) {
        magic = "protobuf";
    }
    notice_init(&notice, NOTICE_RESERVED_FLAG, flow->side,
                flow->call->id);
    notice_detail(&notice,
                  "message %" PRIu64 " has the flag 0x%02x, of which only "
                  "%s defined, and declares %" PRIu32 " bytes%s%s",
                  index, flag,
                  call_rpc_is_web(flow->rpc) ? "bits 0 and 7 are"
                                             : "bit 0 is",
                  declared,
                  magic ? "; the bytes look like " : "", magic ? magic : "");
    notice_number(&notice, "index", index);
    notice_number(&notice, "flag", flag);
    notice_number(&notice, "declared", declared);
    notice_text(&notice, "looks_like", magic, magic ? strlen(magic) : 0);
    tap_notice(flow->call->tap, &notice);
}

/* A body that is no gRPC at all may declare gigabytes: its first flag is
 * worth saying before they have come. */
static void
check_prefix(struct flow *flow)
{
    struct grpcframe_rest rest;

    if (flow->told_reserved) {
        return;
    }
    rest = grpcframe_reader_rest(&flow->reader);
    if (rest.in_payload && !rest.in_trailers) {
        tell_reserved(flow, flow->reader.tally.messages, rest.flag,
                      rest.declared);
    }
}

static void
tell_no_encoding(struct flow *flow, const struct grpcframe_message *message)
{
    const char *magic = grpcframe_magic(message->head, message->head_len);
    struct notice notice;

    if (flow->told_encoding) {
        return;
    }
    flow->told_encoding = 1;
    message_notice(&notice, flow, NOTICE_COMPRESSED_FLAG_WITHOUT_ENCODING,
                   message);
    notice_detail(&notice,
                  "message %" PRIu64 " has the compressed flag, but this "
                  "side's grpc-encoding is %s%s%s",
                  message->index,
                  call_no_encoding(flow),
                  magic ? "; its bytes look like " : "", magic ? magic : "");
    notice_text(&notice, "magic", magic, magic ? strlen(magic) : 0);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_unavailable(struct flow *flow, const struct grpcframe_message *message)
{
    struct notice notice;

    if (message->result != GRPCFRAME_RESULT_UNAVAILABLE) {
        return;
    }
    if (flow->codec != GRPCFRAME_CODEC_UNKNOWN) {
        tell_no_encoding(flow, message);
        return;
    }
    if (flow->told_codec) {
        return;
    }
    flow->told_codec = 1;
    notice_init(&notice, NOTICE_CODEC_UNAVAILABLE, flow->side,
                flow->call->id);
    notice_detail(&notice, "the encoding is not one that grpctap can decode; "
                           "sizes on the wire are known, decoded ones are "
                           "not");
    call_add_value(&notice, "encoding", flow, FLOW_GRPC_ENCODING);
    tap_notice(flow->call->tap, &notice);
}

/* ---- Decoding -------------------------------------------------------- */

static void
tell_decode_error(struct flow *flow, const struct grpcframe_message *message)
{
    const char *reason = grpcframe_result_reason(message->result);
    const char *magic = grpcframe_magic(message->head, message->head_len);
    struct notice notice;

    message_notice(&notice, flow, NOTICE_DECODE_ERROR, message);
    notice_detail(&notice,
                  "message %" PRIu64 " of %" PRIu32 " bytes cannot be "
                  "decoded: %s, at offset %" PRIu64 "%s%s",
                  message->index, message->length, reason,
                  message->fault_offset,
                  magic ? "; its bytes look like " : "", magic ? magic : "");
    notice_text(&notice, "reason", reason, strlen(reason));
    notice_number(&notice, "offset", message->fault_offset);
    call_add_value(&notice, "encoding", flow, FLOW_GRPC_ENCODING);
    notice_text(&notice, "magic", magic, magic ? strlen(magic) : 0);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_decode_limit(struct flow *flow, const struct grpcframe_message *message)
{
    uint64_t limit = flow->call->tap->shared->config->max_decoded_bytes;
    struct notice notice;

    message_notice(&notice, flow, NOTICE_DECODE_LIMIT, message);
    notice_detail(&notice,
                  "decoding of message %" PRIu64 " (%" PRIu32 " bytes on the "
                  "wire) stopped after %" PRIu64 " bytes: %s",
                  message->index, message->length, message->decoded_length,
                  message->decoded_length == limit
                      ? "the limit"
                      : "too much for what was sent");
    notice_number(&notice, "limit", limit);
    notice_number(&notice, "decoded_at_least", message->decoded_length);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_decode_memory(struct flow *flow, const struct grpcframe_message *message)
{
    struct notice notice;

    message_notice(&notice, flow, NOTICE_TAP_LIMIT, message);
    notice.has_from = 0;
    notice_detail(&notice,
                  "message %" PRIu64 " was not decoded: %s", message->index,
                  grpcframe_result_reason(message->result));
    notice_number(&notice, "limit", GRPCFRAME_POOL_DEFAULT_BYTES);
    notice_number(&notice, "decoded_at_least", message->decoded_length);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_result(struct flow *flow, const struct grpcframe_message *message)
{
    switch (message->result) {
    case GRPCFRAME_RESULT_OK:
        break;
    case GRPCFRAME_RESULT_UNAVAILABLE:
        tell_unavailable(flow, message);
        break;
    case GRPCFRAME_RESULT_LIMIT:
        tell_decode_limit(flow, message);
        break;
    case GRPCFRAME_RESULT_MEMORY:
        tell_decode_memory(flow, message);
        break;
    case GRPCFRAME_RESULT_CORRUPT:
    case GRPCFRAME_RESULT_TRUNCATED:
    case GRPCFRAME_RESULT_CHECKSUM:
    case GRPCFRAME_RESULT_TRAILING:
        tell_decode_error(flow, message);
        break;
    }
}

static void
tell_empty(struct flow *flow, const struct grpcframe_message *message)
{
    struct notice notice;

    if (!message->compressed || message->length > 0) {
        return;
    }
    message_notice(&notice, flow, NOTICE_COMPRESSED_EMPTY, message);
    notice_detail(&notice,
                  "message %" PRIu64 " has the compressed flag and no "
                  "bytes: no codec writes that",
                  message->index);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_form(struct flow *flow, const struct grpcframe_message *message)
{
    struct notice notice;

    /* Both forms of snappy are in use; the message event tells which.  Bytes
     * that cannot be decoded are not raw deflate, only not zlib. */
    if (message->form != GRPCFRAME_FORM_RAW_DEFLATE ||
        message->result != GRPCFRAME_RESULT_OK || flow->told_form) {
        return;
    }
    flow->told_form = 1;
    message_notice(&notice, flow, NOTICE_ENCODING_FORM, message);
    notice_detail(&notice,
                  "message %" PRIu64 " is in the raw form (RFC 1951) where "
                  "the name stands for the zlib form (RFC 1950)",
                  message->index);
    call_add_value(&notice, "encoding", flow, FLOW_GRPC_ENCODING);
    notice_text(&notice, "form", "raw", 3);
    tap_notice(flow->call->tap, &notice);
}

/* ---- Negotiation and size -------------------------------------------- */

/* A response may use what the request accepts, and identity. */
static void
tell_not_accepted(struct flow *flow, const struct grpcframe_message *message)
{
    const struct flow *request = &flow->call->flow[SIDE_CLIENT];
    size_t accept_len;
    size_t name_len;
    const char *accept = call_text(
        flow->call, &request->facts[FLOW_GRPC_ACCEPT_ENCODING], &accept_len);
    const char *name =
        call_text(flow->call, &flow->facts[FLOW_GRPC_ENCODING], &name_len);
    struct notice notice;

    if (flow->side != SIDE_SERVER || !message->compressed || name == NULL ||
        flow->codec == GRPCFRAME_CODEC_IDENTITY || flow->told_accept ||
        !request->seen || request->partial ||
        request->facts[FLOW_GRPC_ACCEPT_ENCODING].cut ||
        (accept != NULL &&
         grpcframe_list_has(accept, accept_len, name, name_len))) {
        return;
    }
    flow->told_accept = 1;
    notice_init(&notice, NOTICE_ENCODING_NOT_ACCEPTED, SIDE_SERVER,
                flow->call->id);
    notice_detail(&notice, "the response is compressed with an encoding that "
                           "the request's grpc-accept-encoding %s",
                  accept == NULL ? "(absent: identity only) does not allow"
                                 : "does not list");
    call_add_value(&notice, "encoding", flow, FLOW_GRPC_ENCODING);
    call_add_value(&notice, "accept_encoding", request,
                   FLOW_GRPC_ACCEPT_ENCODING);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_over_limit(struct flow *flow, const struct grpcframe_message *message)
{
    int is_decoded = message->result == GRPCFRAME_RESULT_OK;
    int on_wire = message->length > MESSAGE_LIMIT_USUAL;
    struct notice notice;

    if (!on_wire &&
        !(is_decoded && message->decoded_length > MESSAGE_LIMIT_USUAL)) {
        return;
    }
    message_notice(&notice, flow, NOTICE_MESSAGE_OVER_4MIB, message);
    notice_detail(&notice,
                  "message %" PRIu64 " is longer than 4,194,304 bytes %s: "
                  "receivers refuse it unless their limit was raised",
                  message->index,
                  on_wire ? "on the wire" : "after decompression");
    notice_number(&notice, "length", message->length);
    if (is_decoded) {
        notice_number(&notice, "decoded_length", message->decoded_length);
    } else {
        notice_text(&notice, "decoded_length", NULL, 0);
    }
    tap_notice(flow->call->tap, &notice);
}

/* ---- Messages -------------------------------------------------------- */

static int
on_message(const struct grpcframe_message *message, void *user)
{
    struct flow *flow = user;
    struct call *call = flow->call;

    call->tap->shared->counters.messages++;
    if (flow->side == SIDE_SERVER) {
        if (call->first_message_us == CALL_NEVER) {
            call->first_message_us = flow->passed_us;
        }
        call->last_message_us = flow->passed_us;
    }
    if (message->compressed) {
        flow->decoded_done += message->decoded_length;
        call_budget_count(flow);
        call_budget_apply(flow);
    }
    tell_reserved(flow, message->index, message->flag, message->length);
    event_message(flow, message, flow->passed_us);
    tell_result(flow, message);
    tell_empty(flow, message);
    tell_form(flow, message);
    tell_not_accepted(flow, message);
    tell_over_limit(flow, message);
    call_sample_message(flow, message);
    return 0;
}

/* ---- The body -------------------------------------------------------- */

void
call_body_take(struct flow *flow, const uint8_t *data, size_t len)
{
    grpcframe_reader_feed(&flow->reader, data, len, flow->frame,
                          flow->passed_us);
    check_prefix(flow);
}

/* What is left once the content-encoding is undone. */
static void
take_body(struct flow *flow, const uint8_t *data, size_t len)
{
    if (flow->rpc == RPC_GRPC_WEB_TEXT) {
        call_web_feed(flow, data, len);
    } else {
        call_body_take(flow, data, len);
    }
}

/* Decoded bytes of a body that is compressed as a whole. */
static int
on_inflated(const uint8_t *data, size_t len, void *user)
{
    struct flow *flow = user;
    uint64_t most = LAYERED_MESSAGES_FREE + coding_consumed(&flow->coding);

    if (flow->reader.tally.messages > most) {
        return -1;
    }
    take_body(flow, data, len);
    return 0;
}

/* A body that is compressed as a whole is not message framing until that is
 * undone, which peers of gRPC do not do.  In gRPC-Web it is the way to
 * compress: browsers undo it. */
static void
tell_layered(struct flow *flow)
{
    const struct call *call = flow->call;
    struct notice notice;

    if (!flow->coded || flow->rpc != RPC_GRPC) {
        return;
    }
    notice_init(&notice, NOTICE_HTTP_LAYER_COMPRESSION, flow->side, call->id);
    notice_detail(&notice,
                  "a content-encoding on a gRPC content type: the body is "
                  "not message framing%s",
                  flow->coding.is_unknown
                      ? ", and grpctap cannot undo it"
                      : " until that is undone, as grpctap does");
    call_add_value(&notice, "content_encoding", flow, FLOW_CONTENT_ENCODING);
    tap_notice(call->tap, &notice);
}

void
call_body_begin(struct flow *flow)
{
    const struct tap_shared *shared = flow->call->tap->shared;

    if (flow->parsing) {
        return;
    }
    flow->parsing = 1;
    grpcframe_reader_init(&flow->reader, shared->pool, flow->codec,
                          shared->config->max_decoded_bytes, on_message,
                          flow);
    call_web_begin(flow);
    call_sample_begin(flow);
    call_coding_begin(flow, on_inflated);
    tell_layered(flow);
}

static void
keep_head(struct flow *flow, const uint8_t *data, size_t len)
{
    size_t room = CALL_HEAD_MAX - (size_t)flow->head_len;

    if (room == 0) {
        return;
    }
    if (len > room) {
        len = room;
    }
    memcpy(flow->head + flow->head_len, data, len);
    flow->head_len = (uint8_t)(flow->head_len + len);
}

void
call_body_feed(struct flow *flow, uint64_t part, const uint8_t *data,
               size_t len, uint64_t now_us)
{
    if (part != flow->last_part) {
        flow->last_part = part;
        flow->frame++;
        call_budget_apply(flow);
    }
    flow->passed_us = now_us;
    keep_head(flow, data, len);
    call_sample_body(flow, data, len);
    if (flow->coded) {
        coding_feed(&flow->coding, data, len);
    } else if (flow->parsing) {
        take_body(flow, data, len);
    }
    call_budget_pass(flow, len);
}

/* A body that is not followed as messages, or lies below a content-encoding,
 * never became a message on the wire: all of it is truncated_bytes. */
struct call_figures
call_figures(const struct flow *flow)
{
    const struct grpcframe_tally *tally = &flow->reader.tally;
    uint64_t body_bytes = flow->call->ledger[flow->side].body_bytes;
    int is_plain = flow->parsing && !flow->coded;
    int is_whole = is_plain || (flow->parsing && flow->coding_ended);
    struct call_figures figures = {.prefix_bytes = 0};

    if (is_plain) {
        struct grpcframe_rest rest = grpcframe_reader_rest(&flow->reader);

        figures.prefix_bytes = tally->prefix_bytes;
        figures.message_bytes = tally->message_bytes;
        figures.trailer_bytes = tally->trailer_bytes;
        figures.base64_bytes = call_web_base64_bytes(flow);
        /* A prefix is complete before its message is. */
        if (rest.in_payload && !rest.in_trailers) {
            figures.prefix_bytes += GRPCFRAME_PREFIX_LEN;
        }
    }
    figures.truncated_bytes =
        body_bytes - figures.prefix_bytes - figures.message_bytes -
        figures.trailer_bytes - figures.base64_bytes;
    figures.decoded_bytes = tally->decoded_bytes;
    figures.is_decoded_known =
        tally->undecoded_messages == 0 && (is_whole || body_bytes == 0);
    return figures;
}

void
call_body_clear(struct flow *flow)
{
    coding_clear(&flow->coding);
    call_sample_clear(flow);
    if (flow->parsing) {
        grpcframe_reader_clear(&flow->reader);
        flow->parsing = 0;
    }
}
