/* SPDX-License-Identifier: MIT */
/* Owns what --what-if is shown of a call: messages of gRPC, bodies of plain
 * HTTP, both decompressed.  Does nothing without that option.  What is tried of
 * them is what_if_tap.c's. */
#include <string.h>

#include "call.h"
#include "tap_conn.h"

/* PACKED is how many times longer a compressed message is taken to be at
 * first: too little only costs a further allocation. */
#define PACKED 4

/* A body of unknown length begins with this much room. */
#define BODY_GUESS 4096

static struct what_if *
what_if_of(const struct flow *flow)
{
    return flow->call->tap->shared->config->what_if;
}

/* A query is most often another one each time: with it each request would be
 * an entry of its own. */
static size_t
without_query(const char *path, size_t len)
{
    const char *query = len > 0 ? memchr(path, '?', len) : NULL;

    return query != NULL ? (size_t)(query - path) : len;
}

/* Messages of one method count together, as in --summary; what is not to be
 * shown is not shown here either. */
static struct what_if_flow *
open_flow(struct flow *flow)
{
    struct call *call = flow->call;
    size_t len = 0;

    if (flow->what_if.entry == NULL) {
        const char *path = call_shown(call, &call->facts[FACT_PATH], &len);

        what_if_flow_open(what_if_of(flow), &flow->what_if, flow->side, path,
                          without_query(path, len));
    }
    return &flow->what_if;
}

/* ---- Messages -------------------------------------------------------- */

static void
on_span(const struct grpcframe_message *message, const uint8_t *data,
        size_t len, void *user)
{
    struct flow *flow = user;
    uint64_t expected = message->length;

    if (message->compressed) {
        expected = expected * PACKED > WHAT_IF_GUESS_MAX ? WHAT_IF_GUESS_MAX
                                                         : expected * PACKED;
    }
    what_if_flow_take(what_if_of(flow), open_flow(flow), expected, data, len);
}

void
call_sample_begin(struct flow *flow)
{
    if (what_if_of(flow) != NULL) {
        grpcframe_reader_set_span(&flow->reader, on_span);
    }
}

static enum grpcframe_codec
body_codec(const struct flow *flow)
{
    if (!flow->coded) {
        return GRPCFRAME_CODEC_NONE;
    }
    return flow->coding.n_stages == 1 ? flow->coding.stages[0].codec
                                      : GRPCFRAME_CODEC_UNKNOWN;
}

/* What |message| was compressed with, with what its body was taken together. */
static enum grpcframe_codec
message_codec(const struct flow *flow, const struct grpcframe_message *message)
{
    /* With no bytes it may be anything. */
    enum grpcframe_codec own =
        message->length > 0 ? message->codec : GRPCFRAME_CODEC_NONE;

    if (!flow->coded) {
        return own;
    }
    return own == GRPCFRAME_CODEC_NONE ? body_codec(flow)
                                       : GRPCFRAME_CODEC_UNKNOWN;
}

static int
is_hidden(const struct flow *flow, int by_message)
{
    return (flow->coded && flow->facts[FLOW_CONTENT_ENCODING].secret) ||
           (by_message && flow->facts[FLOW_GRPC_ENCODING].secret);
}

void
call_sample_message(struct flow *flow, const struct grpcframe_message *message)
{
    const struct what_if_message seen = {
        .wire_bytes = message->length,
        .is_wire_unknown = flow->coded,
        .is_hidden = is_hidden(flow, message->compressed),
        .codec = message_codec(flow, message),
        .is_decoded = message->result == GRPCFRAME_RESULT_OK &&
                      !message->partly_shown,
        .decoded_bytes = message->decoded_length,
    };

    if (what_if_of(flow) != NULL) {
        what_if_flow_end(what_if_of(flow), open_flow(flow), &seen);
    }
}

/* ---- Plain bodies ---------------------------------------------------- */

static int
on_output(const uint8_t *data, size_t len, void *user)
{
    struct flow *flow = user;
    struct what_if_flow *mine = open_flow(flow);

    mine->decoded_bytes += len;
    what_if_flow_take(what_if_of(flow), mine,
                      flow->has_length && !flow->coded ? flow->length
                                                       : BODY_GUESS,
                      data, len);
    return 0;
}

grpcframe_output_cb
call_sample_output(const struct flow *flow)
{
    return what_if_of(flow) != NULL ? on_output : NULL;
}

void
call_sample_body(struct flow *flow, const uint8_t *data, size_t len)
{
    if (what_if_of(flow) == NULL || flow->parsing) {
        return;
    }
    flow->what_if.wire_bytes += len;
    if (!flow->coded) {
        (void)on_output(data, len, flow);
    }
}

/* What answers a gRPC request and is none is not followed, nor are its
 * codings undone. */
static int
is_body_known(const struct flow *flow)
{
    return flow->coded ? flow->coding_ended
                       : !call_has_messages(flow->call) ||
                             !flow->facts[FLOW_CONTENT_ENCODING].known;
}

/* A body of no bytes is no message: most requests have none. */
void
call_sample_end(struct flow *flow)
{
    struct what_if_message seen = {.is_hidden = is_hidden(flow, 0)};

    if (what_if_of(flow) == NULL || flow->parsing ||
        flow->what_if.wire_bytes == 0) {
        return;
    }
    seen.wire_bytes = flow->what_if.wire_bytes;
    seen.codec = body_codec(flow);
    seen.is_decoded = is_body_known(flow);
    seen.decoded_bytes = flow->what_if.decoded_bytes;
    what_if_flow_end(what_if_of(flow), open_flow(flow), &seen);
    flow->what_if.wire_bytes = 0;
    flow->what_if.decoded_bytes = 0;
}

void
call_sample_clear(struct flow *flow)
{
    if (what_if_of(flow) != NULL) {
        what_if_flow_drop(what_if_of(flow), &flow->what_if);
    }
}
