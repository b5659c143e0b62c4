/* SPDX-License-Identifier: MIT */
/*
 * echo_client_call owns one call: what it sends, what it checks in the answers
 * and how it is given up.  It submits to the session, never to a socket.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "echo_client.h"

#define N_ELEMENTS(array) (sizeof(array) / sizeof(array)[0])

static const struct options *
options_of(const struct call *call)
{
    return &call->conn->client->options;
}

void
call_free(struct call *call)
{
    LIST_REMOVE(call, link);
    if (call->pause != NULL)
        event_free(call->pause);
    if (call->deadline != NULL)
        event_free(call->deadline);
    echo_buf_clear(&call->body.queue);
    echo_buf_clear(&call->in);
    echo_buf_clear(&call->message);
    echo_buf_clear(&call->status_text);
    echo_buf_clear(&call->codec_name);
    echo_buf_clear(&call->request_sizes);
    echo_buf_clear(&call->response_sizes);
    free(call);
}

/* Ends the call from our side; it finishes when the reset has been sent. */
static void
call_give_up(struct call *call, int status, uint32_t error_code)
{
    if (call->given_up >= 0 || call->has_ended)
        return;
    call->given_up = status;
    call->body.ended = true;
    (void)nghttp2_submit_rst_stream(call->conn->h2.session, NGHTTP2_FLAG_NONE,
                                    call->stream_id, error_code);
}

/* The first fault is the one worth telling; the rest follows from it. */
static void
call_fault(struct call *call, const char *fault, int status)
{
    if (call->fault == NULL)
        call->fault = fault;
    call_give_up(call, status, NGHTTP2_CANCEL);
}

/* Writes the stamp of a message into the payload that all calls share: equal
 * payloads could be mixed up without anybody noticing. */
static struct echo_bytes
payload_of(const struct call *call, uint32_t message)
{
    struct client *client = call->conn->client;
    char stamp[STAMP_LEN + 1];
    uint32_t mix = (uint32_t)call->index * 0x9e3779b1u + message;
    size_t size = client->options.size;

    (void)snprintf(stamp, sizeof stamp, "%08" PRIx32, mix);
    if (size > 0)
        memcpy(client->payload, stamp, size < STAMP_LEN ? size : STAMP_LEN);
    return (struct echo_bytes){client->payload, size};
}

static struct echo_bytes
text_bytes(const char *text)
{
    return (struct echo_bytes){(const uint8_t *)text,
                               text == NULL ? 0 : strlen(text)};
}

static void
request_fill(const struct call *call, struct echo_request *request)
{
    const struct options *options = options_of(call);
    bool is_last = call->n_sent + 1 == call->n_requests;

    *request = (struct echo_request){
        .payload = payload_of(call, call->n_sent),
        .delay_ms = options->delay_ms,
        .response_encoding = text_bytes(options->response_encoding)};
    if (options->kind == ECHO_KIND_SERVER_STREAM)
        request->count = options->count;
    if (is_last) {
        request->status_code = options->status;
        request->status_message = text_bytes(options->message);
    }
}

static int
size_keep(const struct call *call, struct echo_buf *sizes, size_t len)
{
    uint32_t size = (uint32_t)len;

    if (!options_of(call)->is_json)
        return 0;
    return echo_buf_append(sizes, &size, sizeof size);
}

/* Adds the next request to the body. */
static int
call_send_one(struct call *call)
{
    struct client *client = call->conn->client;
    struct echo_buf *plain = &client->scratch;
    struct echo_request request;

    request_fill(call, &request);
    echo_buf_reset(plain);
    if (echo_request_encode(&request, plain) != 0 ||
        size_keep(call, &call->request_sizes, echo_buf_len(plain)) != 0 ||
        echo_grpc_message_put(&call->body.queue, client->options.codec,
                              plain) != 0)
        return -1;
    echo_buf_reset(plain);
    client->n_bytes += client->options.size;
    call->n_sent++;
    return 0;
}

static void
on_pause_over(evutil_socket_t fd, short what, void *arg)
{
    struct call *call = arg;

    (void)fd;
    (void)what;
    call->is_pausing = false;
    echo_h2_body_resume(&call->conn->h2, call->stream_id);
    echo_h2_wake(&call->conn->h2);
}

static void
timer_set(struct call *call, struct event **timer, uint32_t ms,
          event_callback_fn callback)
{
    struct timeval delay = {.tv_sec = (time_t)(ms / 1000),
                            .tv_usec = (suseconds_t)(ms % 1000 * 1000)};

    if (*timer == NULL)
        *timer = evtimer_new(call->conn->client->base, callback, call);
    if (*timer == NULL || evtimer_add(*timer, &delay) != 0)
        call_fault(call, "out of memory", ECHO_STATUS_INTERNAL);
}

static bool
call_may_send(const struct call *call)
{
    const struct options *options = options_of(call);
    bool is_waiting = options->kind == ECHO_KIND_BIDI_STREAM &&
                      !options->is_pipelined && call->n_received < call->n_sent;

    return call->n_sent < call->n_requests && !call->is_pausing && !is_waiting;
}

/* A bidi call that is to be cancelled stays open: a half-closed one would end
 * by itself. */
static bool
call_keeps_open(const struct call *call)
{
    const struct options *options = options_of(call);

    return options->is_cancelling && options->kind == ECHO_KIND_BIDI_STREAM;
}

/* nghttp2 wants more of the request. */
static void
on_body_low(struct echo_h2_body *body)
{
    struct call *call = (struct call *)body;
    uint32_t interval_ms = options_of(call)->interval_ms;

    if (call_may_send(call)) {
        if (call_send_one(call) != 0) {
            call_fault(call, "out of memory", ECHO_STATUS_INTERNAL);
            return;
        }
        if (interval_ms > 0 && call->n_sent < call->n_requests) {
            call->is_pausing = true;
            timer_set(call, &call->pause, interval_ms, on_pause_over);
        }
    }
    if (call->n_sent == call->n_requests && !call_keeps_open(call))
        body->ended = true;
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct call *call = arg;

    (void)fd;
    (void)what;
    call_give_up(call, ECHO_STATUS_DEADLINE_EXCEEDED, NGHTTP2_CANCEL);
    echo_h2_wake(&call->conn->h2);
}

/* Returns the stream, or a negative nghttp2 error. */
static int32_t
call_submit(struct call *call)
{
    const struct options *options = options_of(call);
    nghttp2_data_provider provider = echo_h2_body_provider(&call->body);
    bool has_label = options->label != NULL;
    char timeout[16];
    nghttp2_nv nv[11] = {
        echo_h2_nv(":method", "POST"),
        echo_h2_nv(":scheme", "http"),
        echo_h2_nv(":path", options->path),
        echo_h2_nv(":authority",
                   options->addr.is_unix ? "localhost" : options->target),
        echo_h2_nv("te", "trailers"),
        echo_h2_nv("content-type", "application/grpc"),
        echo_h2_nv("user-agent", "grpctap-echo-client"),
    };
    size_t n = 7;

    if (options->accept[0] != '\0')
        nv[n++] = echo_h2_nv("grpc-accept-encoding", options->accept);
    if (has_label || options->codec != ECHO_CODEC_IDENTITY)
        nv[n++] = echo_h2_nv("grpc-encoding",
                             has_label ? options->label
                                       : echo_codec_name(options->codec));
    if (options->deadline_ms > 0) {
        (void)snprintf(timeout, sizeof timeout, "%" PRIu32 "m",
                       options->deadline_ms);
        nv[n++] = echo_h2_nv("grpc-timeout", timeout);
    }
    return nghttp2_submit_request(call->conn->h2.session, NULL, nv, n,
                                  &provider, call);
}

static struct call *
call_new(struct conn *conn, uint64_t index)
{
    const struct options *options = &conn->client->options;
    struct call *call = calloc(1, sizeof *call);

    if (call == NULL)
        return NULL;
    call->body.on_low = on_body_low;
    call->conn = conn;
    call->index = index;
    call->given_up = -1;
    call->grpc_status = -1;
    call->n_requests = options->kind == ECHO_KIND_CLIENT_STREAM ||
                               options->kind == ECHO_KIND_BIDI_STREAM
                           ? options->count
                           : 1;
    LIST_INSERT_HEAD(&conn->calls, call, link);
    return call;
}

int
call_start(struct conn *conn, uint64_t index)
{
    struct call *call = call_new(conn, index);
    uint32_t deadline_ms = conn->client->options.deadline_ms;

    if (call == NULL)
        return -1;
    call->stream_id = call_submit(call);
    if (call->stream_id < 0) {
        call_free(call);
        return -1;
    }
    if (deadline_ms > 0)
        timer_set(call, &call->deadline, deadline_ms, on_deadline);
    echo_h2_wake(&conn->h2);
    return 0;
}

static bool
bytes_are(struct echo_bytes bytes, const char *text)
{
    return bytes.len == strlen(text) &&
           memcmp(bytes.data, text, bytes.len) == 0;
}

void
call_header(struct call *call, struct echo_bytes name, struct echo_bytes value)
{
    int rc = 0;

    if (bytes_are(name, ":status")) {
        call->http_status = echo_grpc_status_parse(value.data, value.len);
    } else if (bytes_are(name, "grpc-status")) {
        call->grpc_status = echo_grpc_status_parse(value.data, value.len);
    } else if (bytes_are(name, "grpc-message")) {
        echo_buf_clear(&call->status_text);
        rc = echo_grpc_text_decode(value.data, value.len, &call->status_text);
    } else if (bytes_are(name, "grpc-encoding")) {
        rc = echo_buf_append(&call->codec_name, value.data, value.len);
        if (echo_codec_find((const char *)value.data, value.len,
                            &call->codec) != 0)
            call_fault(call, "unknown grpc-encoding", ECHO_STATUS_INTERNAL);
    }
    if (rc != 0)
        call_fault(call, "out of memory", ECHO_STATUS_INTERNAL);
}

/* Compares a response with what its request asked for. */
static bool
response_is_right(const struct call *call, const struct echo_response *response)
{
    const struct options *options = options_of(call);
    uint64_t total = 0;
    uint32_t which = 0;

    if (options->kind == ECHO_KIND_BIDI_STREAM)
        which = call->n_received;
    if (options->kind == ECHO_KIND_CLIENT_STREAM) {
        total = (uint64_t)options->count * options->size;
        if (options->count == 0)
            return response->payload.len == 0 && response->total == 0;
        which = options->count - 1;
    }
    struct echo_bytes sent = payload_of(call, which);
    return response->total == total && response->payload.len == sent.len &&
           (sent.len == 0 ||
            memcmp(response->payload.data, sent.data, sent.len) == 0);
}

static void
call_handle_response(struct call *call)
{
    const struct options *options = options_of(call);
    size_t len = echo_buf_len(&call->message);
    struct echo_response response;

    if (size_keep(call, &call->response_sizes, len) != 0)
        call_fault(call, "out of memory", ECHO_STATUS_INTERNAL);
    if (echo_response_decode(&response, echo_buf_bytes(&call->message), len) !=
        0)
        call_fault(call, "not an EchoResponse", ECHO_STATUS_INTERNAL);
    else if (!response_is_right(call, &response))
        call_fault(call, "the response does not echo the request",
                   ECHO_STATUS_INTERNAL);
    report_response(call, len);
    call->conn->client->n_bytes += response.payload.len;
    call->n_received++;
    if (options->is_cancelling && call->n_received == options->cancel_after)
        call_give_up(call, ECHO_STATUS_CANCELLED, NGHTTP2_CANCEL);
    echo_h2_body_resume(&call->conn->h2, call->stream_id);
}

void
call_data(struct call *call, const uint8_t *data, size_t len)
{
    if (call->given_up >= 0)
        return;
    if (echo_buf_append(&call->in, data, len) != 0)
        call_fault(call, "out of memory", ECHO_STATUS_INTERNAL);
    while (call->given_up < 0) {
        struct echo_take take =
            echo_grpc_message_take(&call->in, call->codec, &call->message);
        if (take.status != ECHO_STATUS_OK)
            call_fault(call, take.why, (int)take.status);
        if (!take.done)
            return;
        call_handle_response(call);
    }
}

void
call_sent_data(struct call *call)
{
    const struct options *options = options_of(call);

    if (options->is_cancelling && options->cancel_after == 0 &&
        call->n_sent > 0 && echo_buf_len(&call->body.queue) == 0)
        call_give_up(call, ECHO_STATUS_CANCELLED, NGHTTP2_CANCEL);
}

void
call_end_stream(struct call *call)
{
    call->has_ended = true;
    if (echo_buf_len(&call->in) > 0 && call->fault == NULL)
        call->fault = "the response ends inside a message";
    /* The server has answered before we were done: stop sending. */
    if (!call->body.ended)
        (void)nghttp2_submit_rst_stream(call->conn->h2.session,
                                        NGHTTP2_FLAG_NONE, call->stream_id,
                                        NGHTTP2_NO_ERROR);
}
