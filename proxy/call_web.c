/* SPDX-License-Identifier: MIT */
/* Owns what only gRPC-Web has: the base64 of its text form, and trailers that
 * come in the body.  Messages are call_body.c's, as for gRPC, and what a status
 * means is call_end.c's. */
#include <inttypes.h>
#include <string.h>

#include "call.h"
#include "tap_conn.h"

static void
web_notice(struct notice *notice, const struct flow *flow,
           enum notice_code code)
{
    notice_init(notice, code, flow->side, flow->call->id);
}

/* ---- Base64 ---------------------------------------------------------- */

/* Once a direction: behind a fault nothing is decoded any more. */
static void
tell_base64(struct flow *flow, const char *reason)
{
    uint64_t offset = flow->base64.taken + flow->base64.pending;
    struct notice notice;

    if (flow->told_base64) {
        return;
    }
    flow->told_base64 = 1;
    web_notice(&notice, flow, NOTICE_BASE64_ERROR);
    notice_detail(&notice,
                  "the body is not base64: %s at offset %" PRIu64
                  "; it is not decoded from there",
                  reason, offset);
    notice_text(&notice, "reason", reason, strlen(reason));
    notice_number(&notice, "offset", offset);
    tap_notice(flow->call->tap, &notice);
}

static int
on_decoded(const uint8_t *data, size_t len, void *user)
{
    struct flow *flow = user;

    call_body_take(flow, data, len);
    return 0;
}

void
call_web_feed(struct flow *flow, const uint8_t *data, size_t len)
{
    if (grpcframe_base64_feed(&flow->base64, data, len, on_decoded, flow) ==
        GRPCFRAME_ERR_INVALID) {
        tell_base64(flow, "a character that cannot stand there");
    }
}

void
call_web_end(struct flow *flow)
{
    if (flow->parsing && call_is_readable(flow) && call_web_is_whole(flow) &&
        grpcframe_base64_finish(&flow->base64) == GRPCFRAME_ERR_INVALID) {
        tell_base64(flow, "the end inside a group of 4");
    }
    /* A response without a body has its status in the headers, whatever frame
     * ended the stream. */
    if (flow->side == SIDE_SERVER && call_rpc_is_web(flow->rpc) &&
        flow->head_len == 0 && flow->call->early_status) {
        flow->call->trailers_only = 1;
    }
}

uint64_t
call_web_base64_bytes(const struct flow *flow)
{
    return flow->base64.taken - flow->base64.decoded;
}

int
call_web_is_whole(const struct flow *flow)
{
    int is_undone = !flow->coded || flow->coding_ended;

    return is_undone && !flow->base64.is_faulty && !flow->is_torn &&
           !grpcframe_reader_rest(&flow->reader).in_trailers;
}

/* ---- Trailers -------------------------------------------------------- */

static void
tell_frame(struct flow *flow, const char *reason, uint64_t bytes)
{
    struct notice notice;

    if (flow->told_trailers) {
        return;
    }
    flow->told_trailers = 1;
    web_notice(&notice, flow, NOTICE_TRAILERS_FRAME_ERROR);
    notice_detail(&notice, "the trailers of gRPC-Web: %s (%" PRIu64 " bytes)",
                  reason, bytes);
    notice_text(&notice, "reason", reason, strlen(reason));
    notice_number(&notice, "bytes", bytes);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_unknown_codec(struct flow *flow)
{
    struct notice notice;

    if (flow->told_codec) {
        return;
    }
    flow->told_codec = 1;
    web_notice(&notice, flow, NOTICE_CODEC_UNAVAILABLE);
    notice_detail(&notice, "the trailers frame has an encoding that grpctap "
                           "cannot decode");
    call_add_value(&notice, "encoding", flow, FLOW_GRPC_ENCODING);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_no_encoding(struct flow *flow, const char *magic)
{
    struct notice notice;

    if (flow->told_encoding) {
        return;
    }
    flow->told_encoding = 1;
    web_notice(&notice, flow, NOTICE_COMPRESSED_FLAG_WITHOUT_ENCODING);
    notice_detail(&notice, "the trailers frame has the compressed flag, but "
                           "this side's grpc-encoding is %s",
                  call_no_encoding(flow));
    notice_text(&notice, "index", NULL, 0);
    notice_text(&notice, "magic", magic, magic ? strlen(magic) : 0);
    tap_notice(flow->call->tap, &notice);
}

/* One of our own limits: nothing that a peer did wrong. */
static void
tell_limit(struct flow *flow, enum notice_code code, uint64_t limit,
           uint64_t length)
{
    struct notice notice;

    web_notice(&notice, flow, code);
    notice.has_from = code == NOTICE_DECODE_LIMIT;
    notice_detail(&notice, "the trailers frame was not read to its end");
    notice_text(&notice, "index", NULL, 0);
    notice_number(&notice, "limit", limit);
    notice_number(&notice, "decoded_at_least", length);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_fault(struct flow *flow, const struct grpcframe_message *frame,
           const char *magic)
{
    const char *reason = grpcframe_result_reason(frame->result);
    struct notice notice;

    web_notice(&notice, flow, NOTICE_DECODE_ERROR);
    notice_detail(&notice, "the trailers frame of %" PRIu32 " bytes cannot be "
                           "decoded: %s",
                  frame->length, reason);
    notice_text(&notice, "index", NULL, 0);
    notice_text(&notice, "reason", reason, strlen(reason));
    notice_number(&notice, "offset", frame->fault_offset);
    call_add_value(&notice, "encoding", flow, FLOW_GRPC_ENCODING);
    notice_text(&notice, "magic", magic, magic ? strlen(magic) : 0);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_result(struct flow *flow, const struct grpcframe_trailers *trailers)
{
    const struct grpcframe_message *frame = trailers->frame;
    const char *magic = grpcframe_magic(frame->head, frame->head_len);

    switch (frame->result) {
    case GRPCFRAME_RESULT_OK:
        if (trailers->omitted > 0) {
            tell_limit(flow, NOTICE_TAP_LIMIT, GRPCFRAME_TRAILERS_MAX,
                       frame->decoded_length);
        }
        break;
    case GRPCFRAME_RESULT_UNAVAILABLE:
        if (flow->codec == GRPCFRAME_CODEC_UNKNOWN) {
            tell_unknown_codec(flow);
        } else {
            tell_no_encoding(flow, magic);
        }
        break;
    case GRPCFRAME_RESULT_LIMIT:
        tell_limit(flow, NOTICE_DECODE_LIMIT,
                   flow->call->tap->shared->config->max_decoded_bytes,
                   frame->decoded_length);
        break;
    case GRPCFRAME_RESULT_MEMORY:
        tell_limit(flow, NOTICE_TAP_LIMIT, GRPCFRAME_POOL_DEFAULT_BYTES,
                   frame->decoded_length);
        break;
    case GRPCFRAME_RESULT_CORRUPT:
    case GRPCFRAME_RESULT_TRUNCATED:
    case GRPCFRAME_RESULT_CHECKSUM:
    case GRPCFRAME_RESULT_TRAILING:
        tell_fault(flow, frame, magic);
        break;
    }
}

/* ---- Lines ----------------------------------------------------------- */

static void
read_lines(struct flow *flow, char *text, size_t len, uint64_t frame_len)
{
    struct grpcframe_trailer line;
    int result = grpcframe_trailer_next(&text, &len, &line);

    while (result != 0) {
        if (result == 1) {
            struct h2dec_field field = {
                .name = line.name,
                .name_len = (uint32_t)line.name_len,
                .value = line.value,
                .value_len = (uint32_t)line.value_len,
            };

            call_trailer(flow->call, &field);
        } else if (flow->rpc != RPC_GRPC_WEB_TEXT) {
            /* A text body may have bytes in -bin values that look like the
             * end of a line. */
            tell_frame(flow, "a line is no name: value", frame_len);
        }
        result = grpcframe_trailer_next(&text, &len, &line);
    }
}

static int
on_trailers(const struct grpcframe_trailers *trailers, void *user)
{
    struct flow *flow = user;
    uint64_t len = trailers->frame->length;

    if (trailers->frame->compressed) {
        flow->decoded_done += trailers->frame->decoded_length;
        call_budget_count(flow);
        call_budget_apply(flow);
    }
    tell_result(flow, trailers);
    if (flow->side == SIDE_CLIENT) {
        tell_frame(flow, "a request has none", len);
        return 0;
    }
    flow->is_torn = trailers->frame->result != GRPCFRAME_RESULT_OK ||
                    trailers->omitted > 0;
    read_lines(flow, trailers->text, trailers->text_len, len);
    return 0;
}

void
call_web_begin(struct flow *flow)
{
    if (call_rpc_is_web(flow->rpc)) {
        grpcframe_reader_set_web(&flow->reader, on_trailers);
    }
}

/* ---- The end --------------------------------------------------------- */

void
call_web_tell(struct call *call)
{
    for (int side = 0; side < 2; side++) {
        struct flow *flow = &call->flow[side];
        uint64_t surplus = flow->reader.tally.surplus_bytes;

        if (surplus > 0) {
            tell_frame(flow, "bytes follow the frame", surplus);
        }
    }
    if (call->status_in_http) {
        tell_frame(&call->flow[SIDE_SERVER],
                   "the status stands in HTTP trailers, which browsers do not "
                   "show, and not in the body",
                   0);
    }
}
