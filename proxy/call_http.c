/* SPDX-License-Identifier: MIT */
/* Owns what HTTP itself says of a body: content codings, whether they were
 * acceptable and true, Vary, Content-Length.  How codings are undone is
 * coding.c's, what gRPC makes of the body call_body.c's. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "call.h"
#include "tap_conn.h"

#define STATUS_PARTIAL 206
#define STATUS_UNMODIFIED 304

static const char *
fact(const struct flow *flow, enum flow_fact which, size_t *len)
{
    return call_text(flow->call, &flow->facts[which], len);
}

int
call_is_readable(const struct flow *flow)
{
    return flow->seen && !flow->unknown && !flow->partial &&
           !tap_is_lost(flow->call->tap, flow->side);
}

/* ---- The coding of a body -------------------------------------------- */

void
call_coding_begin(struct flow *flow, grpcframe_output_cb output)
{
    const struct tap_shared *shared = flow->call->tap->shared;
    int is_cut = flow->facts[FLOW_CONTENT_ENCODING].cut;
    size_t len;
    const char *list = fact(flow, FLOW_CONTENT_ENCODING, &len);

    if ((list == NULL && !is_cut) || flow->coded) {
        return;
    }
    coding_open(&flow->coding, shared->pool, list, len,
                shared->config->max_decoded_bytes, output, flow);
    flow->coding.is_unknown |= is_cut != 0;
    flow->coded = flow->coding.n_stages > 0 || flow->coding.is_unknown;
}

/* Decoding stopped at one of our own limits: no fault of the peer. */
static void
tell_limit(struct flow *flow, enum grpcframe_result result)
{
    uint64_t limit = flow->call->tap->shared->config->max_decoded_bytes;
    int is_ceiling = result == GRPCFRAME_RESULT_LIMIT;
    struct notice notice;

    notice_init(&notice, is_ceiling ? NOTICE_DECODE_LIMIT : NOTICE_TAP_LIMIT,
                flow->side, flow->call->id);
    notice.has_from = is_ceiling != 0;
    notice_detail(&notice, "the content-encoding of the body was not undone "
                           "to its end: %s",
                  grpcframe_result_reason(result));
    notice_text(&notice, "index", NULL, 0);
    notice_number(&notice, "limit",
                  is_ceiling ? limit : GRPCFRAME_POOL_DEFAULT_BYTES);
    notice_number(&notice, "decoded_at_least", flow->coding.decoded_bytes);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_unavailable(struct flow *flow)
{
    struct notice notice;

    /* http_layer_compression has said it, or cut_values will. */
    if (flow->parsing || flow->facts[FLOW_CONTENT_ENCODING].cut) {
        return;
    }
    notice_init(&notice, NOTICE_CODEC_UNAVAILABLE, flow->side,
                flow->call->id);
    notice_detail(&notice, "the content-encoding is not one that grpctap can "
                           "undo; the size on the wire is known, the decoded "
                           "one is not");
    call_add_value(&notice, "encoding", flow, FLOW_CONTENT_ENCODING);
    tap_notice(flow->call->tap, &notice);
}

/* The coding that failed, unless the value it stands in is a secret. */
static const char *
shown_name(const struct flow *flow)
{
    return flow->facts[FLOW_CONTENT_ENCODING].secret
               ? TAP_REDACTED
               : coding_name(&flow->coding);
}

static void
tell_mismatch(struct flow *flow)
{
    const char *magic = coding_magic(&flow->coding);
    struct notice notice;

    notice_init(&notice, NOTICE_CONTENT_ENCODING_MISMATCH, flow->side,
                flow->call->id);
    notice_detail(&notice,
                  "content-encoding says %s, but %s is not%s%s",
                  shown_name(flow),
                  flow->coding.failed == 0 ? "the body"
                                           : "what the other codings hold",
                  magic ? "; its bytes look like " : "", magic ? magic : "");
    call_add_value(&notice, "content_encoding", flow, FLOW_CONTENT_ENCODING);
    notice_text(&notice, "magic", magic, magic ? strlen(magic) : 0);
    notice_bool(&notice, "double_compressed", 0);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_decode_error(struct flow *flow, enum grpcframe_result result)
{
    const char *magic = coding_magic(&flow->coding);
    const char *reason = grpcframe_result_reason(result);
    struct notice notice;

    notice_init(&notice, NOTICE_DECODE_ERROR, flow->side, flow->call->id);
    notice_detail(&notice,
                  "the content-encoding %s of the body cannot be undone: %s, "
                  "at offset %" PRIu64 "%s%s",
                  shown_name(flow), reason,
                  coding_offset(&flow->coding),
                  magic ? "; its bytes look like " : "", magic ? magic : "");
    notice_text(&notice, "index", NULL, 0);
    notice_text(&notice, "reason", reason, strlen(reason));
    notice_number(&notice, "offset", coding_offset(&flow->coding));
    call_add_value(&notice, "encoding", flow, FLOW_CONTENT_ENCODING);
    notice_text(&notice, "magic", magic, magic ? strlen(magic) : 0);
    tap_notice(flow->call->tap, &notice);
}

static void
tell_fault(struct flow *flow, enum grpcframe_result result)
{
    /* A part is a range of coded bytes, which mean nothing by themselves
     * (RFC 9110, section 14.2). */
    if (flow->side == SIDE_SERVER &&
        flow->call->http_status == STATUS_PARTIAL) {
        return;
    }
    if (!flow->parsing && coding_is_other(&flow->coding)) {
        tell_mismatch(flow);
    } else {
        tell_decode_error(flow, result);
    }
}

static void
tell_result(struct flow *flow, enum grpcframe_result result)
{
    switch (result) {
    case GRPCFRAME_RESULT_OK:
        flow->coding_ended = 1;
        break;
    case GRPCFRAME_RESULT_UNAVAILABLE:
        tell_unavailable(flow);
        break;
    case GRPCFRAME_RESULT_LIMIT:
    case GRPCFRAME_RESULT_MEMORY:
        tell_limit(flow, result);
        break;
    case GRPCFRAME_RESULT_CORRUPT:
    case GRPCFRAME_RESULT_TRUNCATED:
    case GRPCFRAME_RESULT_CHECKSUM:
    case GRPCFRAME_RESULT_TRAILING:
        tell_fault(flow, result);
        break;
    }
}

void
call_coding_end(struct flow *flow)
{
    /* No body, no coding: HEAD, 304 and trailers-only keep the field. */
    if (flow->coded && flow->head_len > 0) {
        tell_result(flow, coding_finish(&flow->coding));
    } else if (flow->coded) {
        flow->coding_ended = 1;
    }
}

/* ---- What a coded body is worth -------------------------------------- */

/* The media type of a file that is compressed in itself. */
static int
is_archive(const struct flow *flow)
{
    static const char *const words[] = {"zip", "zstd", "octet-stream", "tar",
                                        "tgz", "compress", "archive"};
    size_t len;
    const char *type = fact(flow, FLOW_CONTENT_TYPE, &len);

    for (size_t i = 0; type != NULL && i < sizeof(words) / sizeof(words[0]);
         i++) {
        size_t n = strlen(words[i]);

        for (size_t at = 0; at + n <= len; at++) {
            if (strncasecmp(type + at, words[i], n) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* Returns 1 when it is told. */
static int
tell_double(struct flow *flow)
{
    const char *magic =
        grpcframe_magic(flow->coding.head, flow->coding.head_len);
    struct notice notice;

    if (!flow->coding.is_double || is_archive(flow)) {
        return 0;
    }
    notice_init(&notice, NOTICE_CONTENT_ENCODING_MISMATCH, flow->side,
                flow->call->id);
    notice_detail(&notice,
                  "below its content-encoding the body is compressed once "
                  "more: it was compressed twice and labelled once%s%s",
                  magic ? "; its bytes look like " : "", magic ? magic : "");
    call_add_value(&notice, "content_encoding", flow, FLOW_CONTENT_ENCODING);
    notice_text(&notice, "magic", magic, magic ? strlen(magic) : 0);
    notice_bool(&notice, "double_compressed", 1);
    tap_notice(flow->call->tap, &notice);
    return 1;
}

static void
tell_inflated(struct flow *flow, uint64_t body_bytes)
{
    uint64_t decoded = flow->coding.decoded_bytes;
    struct notice notice;

    if (body_bytes <= decoded) {
        return;
    }
    notice_init(&notice, NOTICE_BODY_INFLATED, flow->side, flow->call->id);
    notice_detail(&notice,
                  "the coded body has %" PRIu64 " bytes, %" PRIu64 " more "
                  "than what it holds",
                  body_bytes, body_bytes - decoded);
    call_add_value(&notice, "content_encoding", flow, FLOW_CONTENT_ENCODING);
    notice_number(&notice, "body_bytes", body_bytes);
    notice_number(&notice, "decoded_bytes", decoded);
    notice_number(&notice, "wasted_bytes", body_bytes - decoded);
    tap_notice(flow->call->tap, &notice);
}

/* ---- Negotiation ----------------------------------------------------- */

/* Whether the request allows what the response has.  Codings beyond the first
 * few are not looked at: a long list would be costly, and cannot be undone. */
static int
is_accepted(const struct call *call)
{
    size_t accept_len;
    size_t list_len;
    size_t len;
    const char *accept = fact(&call->flow[SIDE_CLIENT], FLOW_ACCEPT_ENCODING,
                              &accept_len);
    const char *list = fact(&call->flow[SIDE_SERVER], FLOW_CONTENT_ENCODING,
                            &list_len);

    for (unsigned n = 0; n <= CODING_MAX && list != NULL; n++) {
        const char *name = coding_next(&list, &list_len, &len);

        if (name == NULL) {
            break;
        }
        if (!coding_accepts(accept, accept_len, name, len)) {
            return 0;
        }
    }
    /* A failure has to be told somehow; a success that has a body need not be
     * one (RFC 9110, section 12.5.3). */
    return call->flow[SIDE_SERVER].coded ||
           call->ledger[SIDE_SERVER].body_bytes == 0 ||
           call->http_status < 200 || call->http_status > 299 ||
           coding_accepts(accept, accept_len, "identity", 8);
}

static void
tell_not_accepted(struct call *call)
{
    const struct flow *response = &call->flow[SIDE_SERVER];
    struct notice notice;

    notice_init(&notice, NOTICE_CONTENT_ENCODING_NOT_ACCEPTED, SIDE_SERVER,
                call->id);
    notice_detail(&notice, "the response %s, which the request's "
                           "accept-encoding does not allow",
                  response->coded ? "has a content-encoding"
                                  : "has no content-encoding");
    call_add_value(&notice, "content_encoding", response,
                   FLOW_CONTENT_ENCODING);
    call_add_value(&notice, "accept_encoding", &call->flow[SIDE_CLIENT],
                   FLOW_ACCEPT_ENCODING);
    tap_notice(call->tap, &notice);
}

static int
vary_covers(const struct flow *flow)
{
    size_t len;
    const char *vary = fact(flow, FLOW_VARY, &len);

    return vary != NULL &&
           (grpcframe_list_has(vary, len, "accept-encoding", 15) ||
            grpcframe_list_has(vary, len, "*", 1));
}

static void
tell_vary(struct call *call)
{
    const struct flow *flow = &call->flow[SIDE_SERVER];
    struct notice notice;

    if (!flow->coded || flow->facts[FLOW_VARY].cut || vary_covers(flow) ||
        !call->flow[SIDE_CLIENT].facts[FLOW_ACCEPT_ENCODING].known) {
        return;
    }
    notice_init(&notice, NOTICE_VARY_MISSING, SIDE_SERVER, call->id);
    notice_detail(&notice, "the content-encoding was negotiated, but the "
                           "response has no Vary: Accept-Encoding; a cache "
                           "may give it to a client that cannot undo it");
    call_add_value(&notice, "content_encoding", flow, FLOW_CONTENT_ENCODING);
    tap_notice(call->tap, &notice);
}

/* What was asked for, against what came.  What was too long to keep may have
 * been what matters: then nothing is said. */
static void
tell_negotiation(struct call *call)
{
    const struct flow *request = &call->flow[SIDE_CLIENT];
    const struct flow *response = &call->flow[SIDE_SERVER];

    if (!call_is_readable(request) || !call_is_readable(response) ||
        request->facts[FLOW_ACCEPT_ENCODING].cut ||
        response->facts[FLOW_CONTENT_ENCODING].cut) {
        return;
    }
    if (!is_accepted(call)) {
        tell_not_accepted(call);
    } else {
        tell_vary(call);
    }
}

/* ---- Length ---------------------------------------------------------- */

static int
method_is(const struct call *call, const char *name)
{
    size_t len;
    const char *method = call_text(call, &call->facts[FACT_METHOD], &len);

    return method != NULL && len == strlen(name) &&
           memcmp(method, name, len) == 0;
}

/* Whether the length that |side| declared is that of its body (RFC 9110,
 * section 8.6).  A response to HEAD and a 304 tell that of another one, and a
 * tunnel has none. */
static int
is_length_of_body(const struct call *call, enum side side)
{
    uint64_t body = call->ledger[side].body_bytes;

    if (method_is(call, "CONNECT")) {
        return call->http_status >= 300;
    }
    if (side == SIDE_CLIENT || body > 0) {
        return 1;
    }
    /* Where the request is unknown, it may have been HEAD. */
    return call->facts[FACT_METHOD].known && !method_is(call, "HEAD") &&
           call->http_status >= 200 && call->http_status != STATUS_UNMODIFIED;
}

static void
tell_length(struct call *call, enum side side)
{
    const struct flow *flow = &call->flow[side];
    uint64_t body = call->ledger[side].body_bytes;
    uint64_t length = flow->length;
    struct notice notice;

    /* Of two lengths at least one is wrong. */
    if (flow->has_other_length && length == body) {
        length = flow->other_length;
    }
    /* A message that was cut short has said it already. */
    if (!flow->has_length || !call->ended[side] || body == length ||
        flow->told_truncated ||
        !call_is_readable(flow) || !is_length_of_body(call, side)) {
        return;
    }
    notice_init(&notice, NOTICE_CONTENT_LENGTH_MISMATCH, side, call->id);
    notice_detail(&notice,
                  "content-length is %" PRIu64 "%s, the body has %" PRIu64
                  " bytes",
                  length,
                  flow->has_other_length ? " and something else" : "", body);
    notice_number(&notice, "content_length", length);
    notice_number(&notice, "body_bytes", body);
    tap_notice(call->tap, &notice);
}

/* ---- The end --------------------------------------------------------- */

static void
tell_worth(struct call *call, enum side side)
{
    struct flow *flow = &call->flow[side];

    if (call_is_readable(flow) && flow->coded && flow->coding_ended &&
        flow->head_len > 0 && !tell_double(flow)) {
        tell_inflated(flow, call->ledger[side].body_bytes);
    }
}

void
call_http_end(struct call *call)
{
    for (int side = 0; side < 2; side++) {
        tell_length(call, (enum side)side);
        /* On gRPC content types a content-encoding is wrong by itself:
         * http_layer_compression. */
        if (call->rpc != RPC_GRPC) {
            tell_worth(call, (enum side)side);
        }
    }
    if (call->rpc != RPC_GRPC) {
        tell_negotiation(call);
    }
}
