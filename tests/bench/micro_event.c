/* SPDX-License-Identifier: MIT */
/*
 * Measures the writer of events: a call event and a message event, as a real
 * unary gRPC call gives them, again and again into a lane that keeps nothing;
 * and the same call through a whole tap, without and with its events.
 */
#include <stdlib.h>
#include <string.h>

#include "../../h2dec/conn.h"
#include "../../proxy/call.h"
#include "../../proxy/event.h"
#include "../../proxy/lane.h"
#include "../../proxy/observer.h"
#include "../../proxy/tap.h"
#include "../../proxy/tap_conn.h"
#include "micro.h"

#define CALLS 64
#define EVENTS 256
#define WALL_US 1704164645000000

/* struct rig is a tap of its own, with a connection. */
struct rig {
    struct tap_config config;
    struct lane lane;
    struct tap_shared *shared;
    struct tap *tap;
    uint64_t now_us;
};

static const uint8_t settings[9] = {0, 0, 0, H2DEC_SETTINGS};
static const uint8_t ack[9] = {0, 0, 0, H2DEC_SETTINGS, 1};

/* ---- Bytes of calls --------------------------------------------------- */

static void
add_frame(struct micro_buf *buf, unsigned type, unsigned flags,
          uint32_t stream, const void *payload, size_t len)
{
    uint8_t header[9] = {0, (uint8_t)(len >> 8), (uint8_t)len, (uint8_t)type,
                         (uint8_t)flags, (uint8_t)(stream >> 24),
                         (uint8_t)(stream >> 16), (uint8_t)(stream >> 8),
                         (uint8_t)stream};

    micro_buf_add(buf, header, sizeof(header));
    micro_buf_add(buf, payload, len);
}

/* A literal that enters no table; |index| is a static name or 0. */
static void
add_field(struct micro_buf *buf, unsigned index, const char *name,
          const char *value)
{
    uint8_t byte = (uint8_t)(index < 15 ? index : 15);

    micro_buf_add(buf, &byte, 1);
    if (index >= 15) {
        byte = (uint8_t)(index - 15);
        micro_buf_add(buf, &byte, 1);
    }
    if (index == 0) {
        byte = (uint8_t)strlen(name);
        micro_buf_add(buf, &byte, 1);
        micro_buf_add(buf, name, strlen(name));
    }
    byte = (uint8_t)strlen(value);
    micro_buf_add(buf, &byte, 1);
    micro_buf_add(buf, value, strlen(value));
}

static void
add_message(struct micro_buf *buf, unsigned flags, uint32_t stream)
{
    uint8_t body[105] = {0, 0, 0, 0, 100};

    add_frame(buf, H2DEC_DATA, flags, stream, body, sizeof(body));
}

static void
add_request(struct micro_buf *buf, uint32_t stream)
{
    struct micro_buf block = {NULL, 0, 0};

    micro_buf_add(&block, "\x83\x86", 2); /* :method POST, :scheme http */
    add_field(&block, 4, NULL, "/grpctap.bench.v1.Bench/Unary");
    add_field(&block, 1, NULL, "127.0.0.1:50051");
    add_field(&block, 31, NULL, "application/grpc");
    add_field(&block, 58, NULL, "grpc-go/1.84.0");
    add_field(&block, 0, "te", "trailers");
    add_field(&block, 0, "grpc-accept-encoding", "gzip");
    add_frame(buf, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS, stream, block.data,
              block.len);
    free(block.data);
    add_message(buf, H2DEC_FLAG_END_STREAM, stream);
}

static void
add_response(struct micro_buf *buf, uint32_t stream)
{
    struct micro_buf block = {NULL, 0, 0};

    micro_buf_add(&block, "\x88", 1); /* :status 200 */
    add_field(&block, 31, NULL, "application/grpc");
    add_frame(buf, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS, stream, block.data,
              block.len);
    free(block.data);
    add_message(buf, 0, stream);
}

static void
add_trailers(struct micro_buf *buf, uint32_t stream)
{
    struct micro_buf block = {NULL, 0, 0};

    add_field(&block, 0, "grpc-status", "0");
    add_field(&block, 0, "grpc-message", "");
    add_frame(buf, H2DEC_HEADERS,
              H2DEC_FLAG_END_HEADERS | H2DEC_FLAG_END_STREAM, stream,
              block.data, block.len);
    free(block.data);
}

/* ---- The tap ---------------------------------------------------------- */

static void
feed(struct rig *rig, enum side from, const void *data, size_t len)
{
    rig->now_us += 10;
    tap_observer.bytes(rig->tap, from, data, len, rig->now_us);
}

/* The lane is a worker's whose lines have just been taken. */
static void
drain(struct rig *rig)
{
    rig->lane.len = 0;
    rig->lane.line = 0;
}

static void
rig_start(struct rig *rig, unsigned events)
{
    memset(rig, 0, sizeof(*rig));
    rig->config.events = events;
    rig->now_us = 1000000;
    lane_init(&rig->lane, NULL);
    rig->shared = tap_shared_new(&rig->config, &rig->lane, NULL, WALL_US);
    micro_check(rig->shared != NULL, "no memory");
    rig->tap = tap_new(rig->shared, 7, "127.0.0.1:40000", rig->now_us);
    micro_check(rig->tap != NULL, "no memory");
    tap_observer.opened(rig->tap, "127.0.0.1:50051", 250, rig->now_us);
    feed(rig, SIDE_CLIENT, h2dec_preface, H2DEC_PREFACE_LEN);
    feed(rig, SIDE_CLIENT, settings, sizeof(settings));
    feed(rig, SIDE_SERVER, settings, sizeof(settings));
    feed(rig, SIDE_SERVER, ack, sizeof(ack));
    feed(rig, SIDE_CLIENT, ack, sizeof(ack));
}

/* ---- Calls through the tap -------------------------------------------- */

/* struct template is what one side sends of CALLS calls, and where the numbers
 * of their streams are. */
struct template {
    struct micro_buf bytes;
    size_t ids[4 * CALLS];
    size_t n_ids;
};
static struct template requests;
static struct template responses;

/* Notes the frames that have been added from |at| on. */
static void
template_note(struct template *template, size_t at)
{
    while (at < template->bytes.len) {
        const uint8_t *frame = template->bytes.data + at;

        template->ids[template->n_ids++] = at + 5;
        at += 9 + ((size_t)frame[1] << 8 | frame[2]);
    }
}

static void
template_fill(void)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        size_t at = requests.bytes.len;

        add_request(&requests.bytes, 2 * i + 1);
        template_note(&requests, at);
        at = responses.bytes.len;
        add_response(&responses.bytes, 2 * i + 1);
        add_trailers(&responses.bytes, 2 * i + 1);
        template_note(&responses, at);
    }
}

/* The streams of the next turn. */
static void
template_advance(struct template *template)
{
    for (size_t i = 0; i < template->n_ids; i++) {
        uint8_t *at = template->bytes.data + template->ids[i];
        uint32_t id = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
                      (uint32_t)at[2] << 8 | at[3];

        id += 2 * CALLS;
        at[0] = (uint8_t)(id >> 24);
        at[1] = (uint8_t)(id >> 16);
        at[2] = (uint8_t)(id >> 8);
        at[3] = (uint8_t)id;
    }
}

/* The connection's windows would not last: they are opened as endpoints do. */
static void
feed_updates(struct rig *rig)
{
    static const uint8_t update[] = {0, 0, 4, H2DEC_WINDOW_UPDATE, 0, 0, 0, 0,
                                     0, 0, 0, (105 * CALLS) >> 8,
                                     (105 * CALLS) & 0xff};

    feed(rig, SIDE_CLIENT, update, sizeof(update));
    feed(rig, SIDE_SERVER, update, sizeof(update));
}

/* The streams of a connection only go up, so one rig serves to the end. */
static uint64_t
run_tap(struct rig *rig)
{
    uint64_t calls = rig->shared->counters.calls;
    uint64_t messages = rig->shared->counters.messages;

    feed(rig, SIDE_CLIENT, requests.bytes.data, requests.bytes.len);
    feed(rig, SIDE_SERVER, responses.bytes.data, responses.bytes.len);
    feed_updates(rig);
    drain(rig);
    template_advance(&requests);
    template_advance(&responses);
    micro_check(rig->shared->counters.calls - calls == CALLS &&
                    rig->shared->counters.messages - messages == 2 * CALLS &&
                    rig->shared->counters.notices == 0,
                "not the calls that were sent");
    return CALLS;
}

static struct rig rigs[3];

static uint64_t
run_tap_none(void)
{
    return run_tap(&rigs[0]);
}

static uint64_t
run_tap_call(void)
{
    return run_tap(&rigs[1]);
}

static uint64_t
run_tap_default(void)
{
    return run_tap(&rigs[2]);
}

/* ---- The writer alone ------------------------------------------------- */

/* A connection whose one call waits for its trailers: it can be written as
 * often as one likes, and so can the message that its request had. */
static struct rig writer;
static struct call *held;
static struct grpcframe_message message;

static void
hold_call(void)
{
    struct micro_buf buf = {NULL, 0, 0};
    struct h2dec_stream *stream;

    rig_start(&writer, EVENT_DEFAULT_MASK);
    add_request(&buf, 1);
    feed(&writer, SIDE_CLIENT, buf.data, buf.len);
    buf.len = 0;
    add_response(&buf, 1);
    feed(&writer, SIDE_SERVER, buf.data, buf.len);
    free(buf.data);
    stream = h2dec_stream_find(&writer.tap->h2->streams, 1);
    micro_check(stream != NULL && stream->user != NULL, "no call is open");
    held = stream->user;
    for (int side = 0; side < 2; side++) {
        held->ledger[side].frames = 2;
        held->ledger[side].framing_bytes = 18;
        held->ledger[side].header_block_bytes = 88;
        held->ledger[side].header_list_bytes = 172;
        held->ledger[side].body_bytes = 105;
    }
    held->grpc_status = 0;
    message = held->flow[SIDE_CLIENT].reader.message;
    message.length = 100;
    message.decoded_length = 100;
    drain(&writer);
}

static uint64_t
run_event_call(void)
{
    static const struct event_ending ending = {"complete", 0, 0};

    for (int i = 0; i < EVENTS; i++)
        event_call(held, &ending, writer.now_us += 10);
    micro_check(writer.lane.len > EVENTS * 1000, "no lines of that size");
    drain(&writer);
    return EVENTS;
}

static uint64_t
run_event_message(void)
{
    for (int i = 0; i < EVENTS; i++)
        event_message(&held->flow[SIDE_CLIENT], &message,
                      writer.now_us += 10);
    micro_check(writer.lane.len > EVENTS * 200, "no lines of that size");
    drain(&writer);
    return EVENTS;
}

int
main(int argc, char **argv)
{
    struct micro_options options = micro_options_parse(argc, argv);
    struct micro_bench benches[] = {
        {"event_call", "event", run_event_call, 0, {0}},
        {"event_message", "event", run_event_message, 0, {0}},
        {"tap_none", "call", run_tap_none, 0, {0}},
        {"tap_call", "call", run_tap_call, 0, {0}},
        {"tap_default", "call", run_tap_default, 0, {0}},
    };

    template_fill();
    rig_start(&rigs[0], 0);
    rig_start(&rigs[1], 1u << EVENT_CALL);
    rig_start(&rigs[2], EVENT_DEFAULT_MASK);
    hold_call();
    return micro_run(&options, benches, sizeof(benches) / sizeof(benches[0]));
}
