/* SPDX-License-Identifier: MIT */
/* Owns what a tap does with the reports of h2dec: streams become calls, faults
 * become notices, the rest becomes events. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "event.h"
#include "pace.h"
#include "tap_conn.h"

static int
on_frame(const struct h2dec_frame *frame, struct h2dec_stream *stream,
         void *user)
{
    (void)stream;
    event_frame(user, frame);
    pace_frame(user, frame);
    return 0;
}

static int
on_stream_open(struct h2dec_stream *stream, void *user)
{
    struct tap *tap = user;
    struct call *call = tap->upgraded;

    if (call != NULL) {
        /* The request came as HTTP/1.1. */
        tap->upgraded = NULL;
        call->protocol = CALL_H2;
        call->id = stream->id;
        stream->user = call;
        return 0;
    }
    call = call_new(tap, stream->id, CALL_H2, stream->opened_us);
    stream->user = call;
    if (call == NULL) {
        return -1;
    }
    /* The request of a promised stream is over before it begins. */
    call->ended[SIDE_CLIENT] = stream->promised;
    pace_streams(user);
    return 0;
}

static int
on_headers(const struct h2dec_headers *headers, struct h2dec_stream *stream,
           void *user)
{
    struct tap *tap = user;

    event_headers(tap, headers, NULL, tap->now_us);
    if (stream != NULL && stream->user != NULL) {
        call_headers(stream->user, headers, tap->now_us);
    }
    pace_streams(tap);
    return 0;
}

static int
on_data(const struct h2dec_frame *frame, struct h2dec_stream *stream,
        const uint8_t *data, size_t len, void *user)
{
    struct tap *tap = user;
    struct call *call = stream->user;

    if (call != NULL) {
        call_body_feed(&call->flow[frame->side], frame->offset, data, len,
                       tap->now_us);
    }
    return 0;
}

static int
on_end_stream(struct h2dec_stream *stream, enum h2dec_side side, void *user)
{
    struct tap *tap = user;

    if (stream->user != NULL) {
        call_end_side(stream->user, (enum side)side, tap->now_us);
    }
    return 0;
}

static void
add_ledger(struct h2dec_ledger *to, const struct h2dec_ledger *from)
{
    to->frames += from->frames;
    to->framing_bytes += from->framing_bytes;
    to->header_block_bytes += from->header_block_bytes;
    to->header_list_bytes += from->header_list_bytes;
    to->padding_bytes += from->padding_bytes;
    to->control_bytes += from->control_bytes;
    to->body_bytes += from->body_bytes;
}

static void
on_stream_end(struct h2dec_stream *stream, const struct h2dec_ending *ending,
              void *user)
{
    struct tap *tap = user;
    struct call *call = stream->user;

    pace_streams(tap);
    if (call == NULL) {
        return;
    }
    pace_call_end(call, stream);
    add_ledger(&call->ledger[SIDE_CLIENT], &stream->ledger[H2DEC_CLIENT]);
    add_ledger(&call->ledger[SIDE_SERVER], &stream->ledger[H2DEC_SERVER]);
    tap_end_call(tap, call, ending);
}

static int
on_settings(const struct h2dec_settings *settings, void *user)
{
    event_settings(user, settings);
    pace_streams(user);
    return 0;
}

static int
on_ping(const struct h2dec_ping *ping, void *user)
{
    pace_ping(user, ping);
    return 0;
}

static int
on_stall(const struct h2dec_stall *stall, struct h2dec_stream *stream,
         void *user)
{
    pace_stall(user, stall, stream);
    return 0;
}

static void
tell_goaway(struct tap *tap, const struct h2dec_goaway *goaway)
{
    char number[EVENT_CODE_MAX];
    const char *name = event_code(goaway->code, number);
    struct notice notice;

    if (goaway->code == 0) {
        return;
    }
    notice_init(&notice, NOTICE_GOAWAY_ERROR, (enum side)goaway->side, 0);
    notice_detail(&notice,
                  "this side ends the connection with %s; streams above "
                  "%" PRIu32 " are not acted on",
                  name, goaway->last_stream_id);
    notice_text(&notice, "error_code", name, strlen(name));
    notice_number(&notice, "last_stream_id", goaway->last_stream_id);
    notice_text(&notice, "debug",
                goaway->debug_total > 0 ? (const char *)goaway->debug : NULL,
                goaway->debug_len);
    tap_notice(tap, &notice);
}

static int
on_goaway(const struct h2dec_goaway *goaway, void *user)
{
    pace_goaway(user, (enum side)goaway->side);
    event_goaway(user, goaway);
    tell_goaway(user, goaway);
    return 0;
}

static enum notice_code
code_of(enum h2dec_fault_code fault)
{
    /* No default: the compiler names a fault that is forgotten here. */
    switch (fault) {
    case H2DEC_FAULT_HPACK:
        return NOTICE_HPACK_ERROR;
    case H2DEC_FAULT_FRAMING_LOST:
        return NOTICE_FRAMING_LOST;
    case H2DEC_FAULT_CONTINUATION:
        return NOTICE_CONTINUATION_ERROR;
    case H2DEC_FAULT_PADDING:
        return NOTICE_PADDING_ERROR;
    case H2DEC_FAULT_FRAME_SIZE:
        return NOTICE_FRAME_SIZE_ERROR;
    case H2DEC_FAULT_STREAM_ID:
        return NOTICE_STREAM_ID_ERROR;
    case H2DEC_FAULT_FLOW_CONTROL:
    case H2DEC_FAULT_WINDOW_EXCEEDED:
    case H2DEC_FAULT_WINDOW_OVERFLOW:
        return NOTICE_FLOW_CONTROL_ERROR;
    case H2DEC_FAULT_HEADER_LIST:
        return NOTICE_HEADER_LIST_OVER_LIMIT;
    case H2DEC_FAULT_SETTINGS:
        return NOTICE_SETTINGS_ERROR;
    case H2DEC_FAULT_FIRST_FRAME:
        return NOTICE_FIRST_FRAME_NOT_SETTINGS;
    case H2DEC_FAULT_AFTER_END:
        return NOTICE_DATA_AFTER_END;
    case H2DEC_FAULT_AFTER_GOAWAY:
        return NOTICE_STREAM_OPENED_AFTER_GOAWAY;
    case H2DEC_FAULT_TABLE_LIMIT:
        return NOTICE_TAP_LIMIT;
    }
    return NOTICE_TAP_FAILED;
}

/* The figures of a fault, as the end of its sentence. */
static void
figures_of(const struct h2dec_fault *fault, char *text, size_t cap)
{
    text[0] = '\0';
    switch (fault->code) {
    case H2DEC_FAULT_FRAME_SIZE:
        if (fault->limit != 0) {
            snprintf(text, cap, ", %" PRIu64 " bytes where %" PRIu64
                     " are allowed", fault->value, fault->limit);
        } else {
            snprintf(text, cap, ", %" PRIu64 " bytes", fault->value);
        }
        break;
    case H2DEC_FAULT_PADDING:
        snprintf(text, cap, ", %" PRIu64 " bytes of padding in a payload of "
                 "%" PRIu64, fault->value, fault->limit);
        break;
    case H2DEC_FAULT_SETTINGS:
    case H2DEC_FAULT_FLOW_CONTROL:
        snprintf(text, cap, ", value %" PRIu64, fault->value);
        break;
    case H2DEC_FAULT_WINDOW_EXCEEDED:
        snprintf(text, cap, ", %" PRIu64 " bytes where %" PRIu64 " are left",
                 fault->value, fault->limit);
        break;
    case H2DEC_FAULT_WINDOW_OVERFLOW:
        snprintf(text, cap, ", %" PRIu64, fault->value);
        break;
    case H2DEC_FAULT_AFTER_GOAWAY:
        snprintf(text, cap, ", %" PRIu64 " above the last stream %" PRIu64,
                 fault->value - fault->limit, fault->limit);
        break;
    case H2DEC_FAULT_HEADER_LIST:
    case H2DEC_FAULT_TABLE_LIMIT:
        snprintf(text, cap, ", %" PRIu64 " bytes against %" PRIu64,
                 fault->value, fault->limit);
        break;
    default:
        break;
    }
}

/* The same figures, as members of the event. */
static void
add_figures(struct notice *notice, const struct h2dec_fault *fault)
{
    switch (fault->code) {
    case H2DEC_FAULT_FRAME_SIZE:
        notice_number(notice, "length", fault->value);
        if (fault->limit != 0) {
            notice_number(notice, "limit", fault->limit);
        } else {
            notice_text(notice, "limit", NULL, 0);
        }
        break;
    case H2DEC_FAULT_PADDING:
        notice_number(notice, "padding", fault->value);
        notice_number(notice, "length", fault->limit);
        break;
    case H2DEC_FAULT_SETTINGS:
        notice_number(notice, "value", fault->value);
        break;
    case H2DEC_FAULT_FLOW_CONTROL:
        notice_number(notice, "value", fault->value);
        notice_text(notice, "limit", NULL, 0);
        break;
    case H2DEC_FAULT_AFTER_GOAWAY:
        notice_number(notice, "last_stream_id", fault->limit);
        notice_number(notice, "gap", fault->value - fault->limit);
        break;
    case H2DEC_FAULT_WINDOW_EXCEEDED:
    case H2DEC_FAULT_WINDOW_OVERFLOW:
    case H2DEC_FAULT_HEADER_LIST:
    case H2DEC_FAULT_TABLE_LIMIT:
        notice_number(notice, "value", fault->value);
        notice_number(notice, "limit", fault->limit);
        break;
    default:
        break;
    }
}

/* The last frame that could be framed; null where there was none. */
static void
add_last_good(struct notice *notice, const struct h2dec_fault *fault)
{
    const char *name = h2dec_type_name(fault->last_good.type);

    if (!fault->last_good_valid) {
        notice_text(notice, "last_good_type", NULL, 0);
        notice_text(notice, "last_good_offset", NULL, 0);
        notice_text(notice, "last_good_stream", NULL, 0);
        return;
    }
    notice_text(notice, "last_good_type", name, strlen(name));
    notice_number(notice, "last_good_offset", fault->last_good.offset);
    notice_number(notice, "last_good_stream", fault->last_good.stream_id);
}

static void
describe_lost(struct notice *notice, const struct h2dec_fault *fault)
{
    notice->stream = 0;
    notice_detail(notice, "%s at offset %" PRIu64 "; this direction is "
                  "undecoded from there", fault->reason, fault->offset);
    notice_number(notice, "offset", fault->offset);
    add_last_good(notice, fault);
}

static void
describe(struct notice *notice, const struct h2dec_fault *fault)
{
    const char *type = h2dec_type_name(fault->type);
    char figures[120];

    figures_of(fault, figures, sizeof(figures));
    notice_detail(notice, "%s: %s at offset %" PRIu64 " on stream %" PRIu32
                  "%s%s", fault->reason, type, fault->offset,
                  fault->stream_id, figures,
                  fault->code == H2DEC_FAULT_HPACK
                      ? "; header fields of this direction are unknown from "
                        "here"
                      : "");
    notice_number(notice, "offset", fault->offset);
    notice_text(notice, "frame_type", type, strlen(type));
    add_figures(notice, fault);
}

static int
on_fault(const struct h2dec_fault *fault, void *user)
{
    struct notice notice;

    notice_init(&notice, code_of(fault->code), (enum side)fault->side,
                fault->stream_id);
    notice.has_from = fault->code != H2DEC_FAULT_TABLE_LIMIT;
    if (fault->code == H2DEC_FAULT_FRAMING_LOST) {
        describe_lost(&notice, fault);
    } else {
        describe(&notice, fault);
    }
    tap_notice(user, &notice);
    return 0;
}

const struct h2dec_callbacks tap_h2_callbacks = {
    .frame = on_frame,
    .stream_open = on_stream_open,
    .headers = on_headers,
    .data = on_data,
    .end_stream = on_end_stream,
    .stream_end = on_stream_end,
    .settings = on_settings,
    .goaway = on_goaway,
    .ping = on_ping,
    .stall = on_stall,
    .fault = on_fault,
};
