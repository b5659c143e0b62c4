/* SPDX-License-Identifier: MIT */
/* Owns the conclusions: what END_STREAM, a reset or the end of the connection
 * mean for a call, and which notices its totals are worth. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "event.h"
#include "summary.h"
#include "tap_conn.h"

#define CODE_NO_ERROR 0
#define CODE_REFUSED_STREAM 7
#define CODE_CANCEL 8

#define STATUS_OK 0
#define STATUS_UNIMPLEMENTED 12

/* A client's timer starts before its request reaches the tap, all the more so
 * on a busy machine, and stacks round the timeout they send by up to 1 %: a
 * reset this close below it is due to it. */
#define DEADLINE_SLACK_US 25000

static void
call_notice(struct notice *notice, const struct call *call,
            enum notice_code code, enum side from)
{
    notice_init(notice, code, from, call->id);
}

/* ---- One direction --------------------------------------------------- */

/* HTTP/1.x says itself that a body came to no end, and why. */
static int
is_told_cut(const struct flow *flow)
{
    return flow->call->protocol != CALL_H2 &&
           !flow->call->ended[flow->side];
}

static void
tell_truncated(struct flow *flow)
{
    struct grpcframe_rest rest;
    struct notice notice;

    if (!flow->parsing || flow->coded || !call_is_readable(flow) ||
        flow->base64.is_faulty || is_told_cut(flow)) {
        return;
    }
    rest = grpcframe_reader_rest(&flow->reader);
    if (rest.bytes == 0) {
        return;
    }
    flow->told_truncated = 1;
    call_notice(&notice, flow->call, NOTICE_TRUNCATED_MESSAGE, flow->side);
    notice_number(&notice, "index", flow->reader.tally.messages);
    if (rest.in_payload) {
        notice_detail(&notice,
                      "the stream ended inside %s: %" PRIu32
                      " bytes declared, %" PRIu32 " received",
                      rest.in_trailers ? "the trailers frame" : "a message",
                      rest.declared, rest.received);
        notice_number(&notice, "declared", rest.declared);
    } else {
        notice_detail(&notice,
                      "the stream ended inside a message prefix: %" PRIu64
                      " of 5 bytes received",
                      rest.bytes);
        notice_text(&notice, "declared", NULL, 0);
    }
    notice_number(&notice, "received", rest.received);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_unused(struct flow *flow)
{
    const struct grpcframe_tally *tally = &flow->reader.tally;
    struct notice notice;

    if (flow->codec <= GRPCFRAME_CODEC_IDENTITY || tally->messages == 0 ||
        tally->compressed_messages > 0) {
        return;
    }
    call_notice(&notice, flow->call, NOTICE_ENCODING_DECLARED_UNUSED,
                flow->side);
    notice_detail(&notice,
                  "an encoding is declared, but none of %" PRIu64
                  " messages is compressed",
                  tally->messages);
    call_add_value(&notice, "encoding", flow, FLOW_GRPC_ENCODING);
    notice_number(&notice, "messages", tally->messages);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_inflated(struct flow *flow)
{
    const struct grpcframe_tally *tally = &flow->reader.tally;
    struct notice notice;

    if (tally->grown_messages == 0) {
        return;
    }
    call_notice(&notice, flow->call, NOTICE_COMPRESSION_INFLATED, flow->side);
    notice_detail(&notice,
                  "%" PRIu64 " of %" PRIu64 " compressed messages are longer "
                  "than what they hold, by %" PRIu64 " bytes altogether",
                  tally->grown_messages, tally->compressed_messages,
                  tally->grown_bytes);
    notice_number(&notice, "messages", tally->grown_messages);
    notice_number(&notice, "wasted_bytes", tally->grown_bytes);
    call_add_value(&notice, "encoding", flow, FLOW_GRPC_ENCODING);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_flow(struct flow *flow)
{
    if (flow->parsing) {
        tell_unused(flow);
        tell_inflated(flow);
    }
}

/* ---- The status ------------------------------------------------------ */

/* Whether the request was compressed, or would have been: a server may turn
 * it away by its headers, before the message comes. */
static int
is_compressed_request(const struct call *call)
{
    const struct flow *request = &call->flow[SIDE_CLIENT];
    const struct grpcframe_tally *tally = &request->reader.tally;

    return request->parsing &&
           (tally->compressed_messages > 0 ||
            (tally->messages == 0 && !call->ended[SIDE_CLIENT] &&
             request->codec > GRPCFRAME_CODEC_IDENTITY));
}

static void
tell_rejected(struct call *call)
{
    const struct flow *request = &call->flow[SIDE_CLIENT];
    const struct flow *response = &call->flow[SIDE_SERVER];
    size_t accept_len;
    size_t name_len;
    const char *accept = call_text(
        call, &response->facts[FLOW_GRPC_ACCEPT_ENCODING], &accept_len);
    const char *name =
        call_text(call, &request->facts[FLOW_GRPC_ENCODING], &name_len);
    struct notice notice;

    if (call->grpc_status != STATUS_UNIMPLEMENTED || name == NULL ||
        !is_compressed_request(call) ||
        (accept != NULL &&
         grpcframe_list_has(accept, accept_len, name, name_len))) {
        return;
    }
    call_notice(&notice, call, NOTICE_REQUEST_ENCODING_REJECTED, SIDE_CLIENT);
    notice_detail(&notice,
                  "the compressed request was answered with status 12; %s",
                  accept != NULL
                      ? "the server does not list its encoding"
                      : "the server does not say what it accepts");
    call_add_value(&notice, "encoding", request, FLOW_GRPC_ENCODING);
    call_add_value(&notice, "accept_encoding", response,
                   FLOW_GRPC_ACCEPT_ENCODING);
    tap_notice(call->tap, &notice);
}

static void
tell_foreign(struct call *call)
{
    const struct flow *flow = &call->flow[SIDE_SERVER];
    int is_ok = call->http_status == 200;
    struct notice notice;
    size_t len;
    const char *type =
        call_shown(call, &flow->facts[FLOW_CONTENT_TYPE], &len);

    call_notice(&notice, call,
                is_ok ? NOTICE_CONTENT_TYPE_MISMATCH
                      : NOTICE_NON_GRPC_RESPONSE,
                SIDE_SERVER);
    notice_detail(&notice,
                  "a gRPC request was answered with HTTP status %d and %s%.*s",
                  call->http_status,
                  type == NULL ? "no content type" : "content type ",
                  len < 100 ? (int)len : 100, type == NULL ? "" : type);
    if (call->http_status >= 0) {
        notice_number(&notice, "http_status", (uint64_t)call->http_status);
    } else {
        notice_text(&notice, "http_status", NULL, 0);
    }
    notice_text(&notice, "content_type", type, len);
    notice_text(&notice, "first_bytes", (const char *)flow->head,
                flow->head_len);
    tap_notice(call->tap, &notice);
}

static void
tell_missing(struct call *call)
{
    struct notice notice;

    call_notice(&notice, call, NOTICE_MISSING_GRPC_STATUS, SIDE_SERVER);
    notice_detail(&notice, "the response ended without grpc-status, neither "
                           "in its headers nor in %s",
                  call_rpc_is_web(call->rpc) ? "a trailers frame"
                                             : "trailers");
    tap_notice(call->tap, &notice);
}

static void
tell_early(struct call *call)
{
    struct notice notice;

    call_notice(&notice, call, NOTICE_STATUS_IN_HEADERS_WITHOUT_END,
                SIDE_SERVER);
    notice_detail(&notice, "grpc-status stands in the response headers, but "
                           "the stream did not end with them");
    tap_notice(call->tap, &notice);
}

/* What a response that has ended says about the call. */
static void
tell_status(struct call *call)
{
    const struct flow *flow = &call->flow[SIDE_SERVER];

    if (!call_is_readable(flow) || !call->flow[SIDE_CLIENT].seen) {
        return;
    }
    if (!flow->parsing) {
        tell_foreign(call);
        return;
    }
    tell_rejected(call);
    if (!call->ended[SIDE_SERVER]) {
        return;
    }
    if (!call->early_status && !call->late_status) {
        if (!call_rpc_is_web(flow->rpc) || call_web_is_whole(flow)) {
            tell_missing(call);
        }
    } else if (call->early_status && !call->late_status &&
               !call->trailers_only) {
        tell_early(call);
    }
}

/* ---- Messages and time ----------------------------------------------- */

static void
tell_zero(struct call *call, enum side side)
{
    const struct flow *flow = &call->flow[side];
    struct notice notice;

    if (!flow->parsing || !call_is_readable(flow) || call->trailers_only ||
        !call_web_is_whole(flow) || !call->ended[side] ||
        flow->reader.tally.messages > 0 ||
        grpcframe_reader_rest(&flow->reader).bytes > 0) {
        return;
    }
    call_notice(&notice, call, NOTICE_ZERO_MESSAGES, side);
    notice_detail(&notice, "%s",
                  side == SIDE_CLIENT
                      ? "the request was ended without a message"
                      : "the status is OK, and there was no response message");
    tap_notice(call->tap, &notice);
}

static void
tell_zeros(struct call *call)
{
    tell_zero(call, SIDE_CLIENT);
    if (call->grpc_status == STATUS_OK) {
        tell_zero(call, SIDE_SERVER);
    }
}

static uint64_t
deadline_slack(uint64_t timeout_us)
{
    uint64_t slack = timeout_us / 100;

    if (slack < DEADLINE_SLACK_US) {
        slack = DEADLINE_SLACK_US;
    }
    return slack < timeout_us / 4 ? slack : timeout_us / 4;
}

static void
tell_deadline(struct call *call, const struct h2dec_ending *ending,
              uint64_t now_us)
{
    uint64_t elapsed = now_us - call->started_us;
    struct notice notice;

    if (ending->end != H2DEC_END_RESET || ending->side != H2DEC_CLIENT ||
        ending->code != CODE_CANCEL || call->timeout_us == CALL_NEVER ||
        call->ended[SIDE_SERVER] ||
        elapsed + deadline_slack(call->timeout_us) < call->timeout_us) {
        return;
    }
    call_notice(&notice, call, NOTICE_DEADLINE_EXCEEDED, SIDE_CLIENT);
    notice_detail(&notice,
                  "the client reset the call after %" PRIu64
                  " us, its grpc-timeout being %" PRIu64 " us",
                  elapsed, call->timeout_us);
    notice_number(&notice, "timeout_us", call->timeout_us);
    notice_number(&notice, "elapsed_us", elapsed);
    tap_notice(call->tap, &notice);
}

static void
tell_reset(struct call *call, const struct h2dec_ending *ending)
{
    struct notice notice;

    if (ending->end != H2DEC_END_RESET || ending->code != CODE_NO_ERROR ||
        call->ended[SIDE_SERVER] || call->grpc_status >= 0) {
        return;
    }
    call_notice(&notice, call, NOTICE_RESET_WITHOUT_STATUS,
                (enum side)ending->side);
    notice_detail(&notice, "the stream was reset with NO_ERROR before a "
                           "status had come");
    tap_notice(call->tap, &notice);
}

/* ---- The end --------------------------------------------------------- */

void
call_end_side(struct call *call, enum side side, uint64_t now_us)
{
    struct flow *flow = &call->flow[side];

    call->ended[side] = 1;
    if (side == SIDE_CLIENT) {
        call->request_end_us = now_us;
    }
    call_coding_end(flow);
    call_sample_end(flow);
    call_web_end(flow);
    if (call_has_messages(call)) {
        tell_truncated(flow);
    }
}

/* Whether the response is complete: what becomes of the rest of the request,
 * or of the connection, is a consequence then. */
static int
is_answered(const struct call *call)
{
    return call->ended[SIDE_SERVER] != 0;
}

static const char *
end_of_reset(const struct call *call, const struct h2dec_ending *ending)
{
    /* After a complete response a reset only says that the rest of the
     * request is not wanted (RFC 9113, section 8.1). */
    if (is_answered(call)) {
        return "complete";
    }
    if (ending->refused || (ending->side == H2DEC_SERVER &&
                            ending->code == CODE_REFUSED_STREAM)) {
        return "refused";
    }
    return ending->side == H2DEC_CLIENT ? "reset_by_client"
                                        : "reset_by_server";
}

/* A server may answer early and close (RFC 9112, section 9.6). */
static const char *
end_of_connection(const struct call *call)
{
    if (is_answered(call)) {
        return "complete";
    }
    return call->tap->reason == CONN_SHUTDOWN ? "shutdown"
                                              : "connection_closed";
}

static struct event_ending
ending_of(const struct call *call, const struct h2dec_ending *ending)
{
    struct event_ending result = {.end = "complete"};

    switch (ending->end) {
    case H2DEC_END_COMPLETE:
        break;
    case H2DEC_END_RESET:
        result.end = end_of_reset(call, ending);
        result.has_code = 1;
        result.code = ending->code;
        break;
    case H2DEC_END_REFUSED:
        result.end = "refused";
        break;
    case H2DEC_END_CONNECTION:
        result.end = end_of_connection(call);
        break;
    }
    return result;
}

static void
tell_cut(struct call *call)
{
    for (int side = 0; side < 2; side++) {
        if (!call->ended[side]) {
            tell_truncated(&call->flow[side]);
        }
    }
}

/* The messages of a coded body that has been cut short, as far as they have
 * come, are in a decoder; the cut itself is no fault of its coding. */
static void
flush_coding(struct call *call)
{
    for (int side = 0; side < 2; side++) {
        struct flow *flow = &call->flow[side];

        if (flow->coded && !call->ended[side]) {
            (void)coding_finish(&flow->coding);
        }
    }
}

static void
tell_call(struct call *call, const struct h2dec_ending *ending,
          uint64_t now_us)
{
    call_http_end(call);
    if (!call_has_messages(call)) {
        return;
    }
    flush_coding(call);
    if (ending->end == H2DEC_END_CONNECTION && !is_answered(call) &&
        call->tap->reason != CONN_SHUTDOWN) {
        tell_cut(call);
    }
    tell_flow(&call->flow[SIDE_CLIENT]);
    tell_flow(&call->flow[SIDE_SERVER]);
    call_web_tell(call);
    tell_status(call);
    tell_zeros(call);
    tell_deadline(call, ending, now_us);
    tell_reset(call, ending);
}

static void
summarize(const struct call *call, const struct event_ending *ending,
          uint64_t now_us)
{
    struct summary_call row = {0};
    size_t len;

    if (call->tap->shared->summary == NULL) {
        return;
    }
    row.path = call_shown(call, &call->facts[FACT_PATH], &len);
    row.path_len = (uint32_t)len;
    row.is_error = call->grpc_status > STATUS_OK ||
                   call->http_status >= 400 ||
                   strcmp(ending->end, "complete") != 0;
    row.duration_us = now_us - call->started_us;
    row.has_no_messages = !call_has_messages(call);
    for (int i = 0; i < 2; i++) {
        const struct flow *flow = &call->flow[i];
        const struct grpcframe_tally *tally = &flow->reader.tally;

        row.wire_bytes[i] = h2dec_ledger_sum(&call->ledger[i]);
        row.messages[i] = tally->messages;
        row.compressed_messages[i] = tally->compressed_messages;
        if (call_has_messages(call)) {
            struct call_figures figures = call_figures(flow);

            row.message_bytes[i] = figures.message_bytes;
            row.decoded_bytes[i] = figures.decoded_bytes;
            row.decoded_unknown[i] = !figures.is_decoded_known;
        }
    }
    summary_add(call->tap->shared->summary, &row);
}

void
call_end(struct call *call, const struct h2dec_ending *ending, uint64_t now_us)
{
    struct event_ending end = ending_of(call, ending);

    tell_call(call, ending, now_us);
    summarize(call, &end, now_us);
    event_call(call, &end, now_us);
}
