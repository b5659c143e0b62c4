/* SPDX-License-Identifier: MIT */
/*
 * echo_server_call owns the life of one call: request headers, messages, the
 * answer and its status.  It submits to the session and never touches a socket.
 */
#include "echo_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Responses waiting for the client's window before the call stops reading. */
#define BACKLOG_HIGH (256u << 10)

/* A status message becomes one header field; nghttp2 refuses to send header
 * blocks over 64 KiB, and percent-encoding may triple it. */
#define STATUS_TEXT_MAX 8192u

#define N_ELEMENTS(array) (sizeof(array) / sizeof(array)[0])

static void on_body_low(struct echo_h2_body *body);
static void on_body_drained(struct echo_h2_body *body);

struct call *
call_new(struct conn *conn, int32_t stream_id)
{
    struct call *call = calloc(1, sizeof *call);

    if (call == NULL)
        return NULL;
    call->body.on_low = on_body_low;
    call->body.on_drained = on_body_drained;
    call->conn = conn;
    call->stream_id = stream_id;
    call->is_known_encoding = true;
    LIST_INSERT_HEAD(&conn->calls, call, link);
    return call;
}

void
call_free(struct call *call)
{
    LIST_REMOVE(call, link);
    if (call->timer != NULL)
        event_free(call->timer);
    echo_buf_clear(&call->body.queue);
    echo_buf_clear(&call->in);
    echo_buf_clear(&call->message);
    echo_buf_clear(&call->status_text);
    free(call);
}

/* Out of memory, or a session that takes no more: the client gets a reset. */
static void
call_abort(struct call *call)
{
    call->has_ended = true;
    (void)nghttp2_submit_rst_stream(call->conn->h2.session, NGHTTP2_FLAG_NONE,
                                    call->stream_id, NGHTTP2_INTERNAL_ERROR);
}

/* The HTTP way to refuse what is not a gRPC request at all. */
static void
call_refuse(struct call *call, const char *http_status)
{
    nghttp2_nv nv[] = {echo_h2_nv(":status", http_status)};

    call->has_ended = true;
    if (nghttp2_submit_response(call->conn->h2.session, call->stream_id, nv,
                                N_ELEMENTS(nv), NULL) != 0)
        call_abort(call);
}

static void
call_submit_trailers_only(struct call *call, const char *status)
{
    nghttp2_nv nv[] = {echo_h2_nv(":status", "200"),
                       echo_h2_nv("content-type", "application/grpc"),
                       echo_h2_nv("grpc-accept-encoding", ECHO_CODEC_ALL),
                       echo_h2_nv("grpc-status", status),
                       echo_h2_nv_buf("grpc-message", &call->status_text)};
    size_t n = N_ELEMENTS(nv);

    if (echo_buf_len(&call->status_text) == 0)
        n--;
    /* No data provider: the header block ends the stream. */
    if (nghttp2_submit_response(call->conn->h2.session, call->stream_id, nv, n,
                                NULL) != 0)
        call_abort(call);
}

static void
call_submit_trailers(struct call *call, const char *status)
{
    nghttp2_nv nv[] = {echo_h2_nv("grpc-status", status),
                       echo_h2_nv_buf("grpc-message", &call->status_text)};
    size_t n = N_ELEMENTS(nv);

    if (echo_buf_len(&call->status_text) == 0)
        n--;
    if (nghttp2_submit_trailer(call->conn->h2.session, call->stream_id, nv,
                               n) != 0)
        call_abort(call);
}

/* Ends the call with a status.  Responses already queued still go out first. */
static void
call_end(struct call *call, uint32_t status, const uint8_t *text,
         size_t text_len)
{
    char number[16];

    call->has_ended = true;
    call->status = status;
    echo_buf_clear(&call->in);
    if (text_len > STATUS_TEXT_MAX)
        text_len = STATUS_TEXT_MAX;
    if (echo_grpc_text_encode(text, text_len, &call->status_text) != 0) {
        call_abort(call);
        return;
    }
    if (call->has_headers) {
        call->body.ended = true; /* on_body_drained sends the trailers */
        return;
    }
    (void)snprintf(number, sizeof number, "%" PRIu32, status);
    call_submit_trailers_only(call, number);
}

static void
call_fail(struct call *call, enum echo_status status, const char *text)
{
    call_end(call, (uint32_t)status, (const uint8_t *)text, strlen(text));
}

static void
on_body_drained(struct echo_h2_body *body)
{
    struct call *call = (struct call *)body;
    char number[16];

    (void)snprintf(number, sizeof number, "%" PRIu32, call->status);
    call_submit_trailers(call, number);
}

static bool
bytes_are(struct echo_bytes bytes, const char *text)
{
    return bytes.len == strlen(text) &&
           memcmp(bytes.data, text, bytes.len) == 0;
}

/* application/grpc, also with a +format or with parameters; not grpc-web. */
static bool
is_grpc_type(struct echo_bytes value)
{
    static const char type[] = "application/grpc";
    size_t len = sizeof type - 1;

    return value.len >= len && memcmp(value.data, type, len) == 0 &&
           (value.len == len || value.data[len] == '+' ||
            value.data[len] == ';');
}

void
call_header(struct call *call, struct echo_bytes name, struct echo_bytes value)
{
    const char *text = (const char *)value.data;

    if (bytes_are(name, ":method"))
        call->is_post = bytes_are(value, "POST");
    else if (bytes_are(name, ":path"))
        call->is_known_path = echo_kind_find(text, value.len, &call->kind) == 0;
    else if (bytes_are(name, "content-type"))
        call->is_grpc = is_grpc_type(value);
    else if (bytes_are(name, "grpc-encoding"))
        call->is_known_encoding =
            echo_codec_find(text, value.len, &call->codec) == 0;
    else if (bytes_are(name, "grpc-accept-encoding"))
        call->accepted_codecs |= echo_grpc_codecs_parse(value.data, value.len);
}

void
call_start(struct call *call)
{
    if (!call->is_post)
        call_refuse(call, "405");
    else if (!call->is_grpc)
        call_refuse(call, "415");
    else if (!call->is_known_path)
        call_fail(call, ECHO_STATUS_UNIMPLEMENTED, "unknown method");
    else if (!call->is_known_encoding)
        call_fail(call, ECHO_STATUS_UNIMPLEMENTED,
                  "grpc-encoding is not supported");
}

/*
 * Which codec the responses get.  One asked for in the request is obeyed even
 * if grpc-accept-encoding does not list it: that is how a test provokes it.
 * --encoding is only used with clients that accept it.  Returns -1 when the
 * request asks for a codec that does not exist.
 */
static int
call_choose_codec(struct call *call)
{
    const struct server *server = call->conn->server;
    struct echo_bytes asked = call->request.response_encoding;

    call->response_codec = call->codec;
    if (asked.len > 0)
        return echo_codec_find((const char *)asked.data, asked.len,
                               &call->response_codec);
    if (server->has_codec) {
        bool is_accepted = (call->accepted_codecs & 1u << server->codec) != 0;
        call->response_codec =
            is_accepted ? server->codec : ECHO_CODEC_IDENTITY;
    }
    return 0;
}

static int
call_submit_headers(struct call *call)
{
    nghttp2_data_provider provider = echo_h2_body_provider(&call->body);
    nghttp2_nv nv[] = {
        echo_h2_nv(":status", "200"),
        echo_h2_nv("content-type", "application/grpc"),
        echo_h2_nv("grpc-accept-encoding", ECHO_CODEC_ALL),
        echo_h2_nv("grpc-encoding", echo_codec_name(call->response_codec))};
    size_t n = N_ELEMENTS(nv);

    if (call->response_codec == ECHO_CODEC_IDENTITY)
        n--;
    call->has_headers = true;
    return nghttp2_submit_response(call->conn->h2.session, call->stream_id, nv,
                                   n, &provider);
}

/* Queues one response with the payload of the current request.  The headers
 * wait for the first one, so that a call that fails is trailers-only. */
static void
call_respond(struct call *call)
{
    struct echo_buf *plain = &call->conn->server->scratch;
    struct echo_response response = {.payload = call->request.payload,
                                     .total = call->total};

    if (!call->has_headers) {
        if (call_choose_codec(call) != 0) {
            call_fail(call, ECHO_STATUS_INVALID_ARGUMENT,
                      "unknown response_encoding");
            return;
        }
        if (call_submit_headers(call) != 0) {
            call_abort(call);
            return;
        }
    }
    echo_buf_reset(plain);
    if (echo_response_encode(&response, plain) != 0 ||
        echo_grpc_message_put(&call->body.queue, call->response_codec, plain) !=
            0)
        call_abort(call);
    echo_buf_reset(plain);
}

/* The delay is over: answer the current request. */
static void
call_answer(struct call *call)
{
    const struct echo_request *request = &call->request;

    if (request->status_code != 0) {
        call_end(call, request->status_code, request->status_message.data,
                 request->status_message.len);
        return;
    }
    if (call->kind == ECHO_KIND_SERVER_STREAM) {
        call->is_streaming = true; /* call_stream makes the responses */
        call->n_remaining = request->count;
        return;
    }
    call_respond(call);
    if (call->kind != ECHO_KIND_BIDI_STREAM && !call->has_ended)
        call_fail(call, ECHO_STATUS_OK, "");
}

static void
on_delay_over(evutil_socket_t fd, short what, void *arg)
{
    struct call *call = arg;
    struct echo_h2 *h2 = &call->conn->h2;

    (void)fd;
    (void)what;
    call->is_waiting = false;
    call_answer(call);
    call_advance(call);
    echo_h2_wake(h2);
}

static void
call_answer_after_delay(struct call *call)
{
    uint32_t ms = call->request.delay_ms;
    struct timeval delay = {.tv_sec = (time_t)(ms / 1000),
                            .tv_usec = (suseconds_t)(ms % 1000 * 1000)};

    if (ms == 0) {
        call_answer(call);
        return;
    }
    if (call->timer == NULL)
        call->timer =
            evtimer_new(call->conn->server->base, on_delay_over, call);
    if (call->timer == NULL || evtimer_add(call->timer, &delay) != 0)
        call_abort(call);
    else
        call->is_waiting = true;
}

/* A request message has been taken and decoded. */
static void
call_handle_request(struct call *call)
{
    call->n_requests++;
    switch (call->kind) {
    case ECHO_KIND_CLIENT_STREAM:
        call->total += call->request.payload.len;
        if (call->request.status_code != 0)
            call_answer_after_delay(call);
        break;
    case ECHO_KIND_BIDI_STREAM:
        call_answer_after_delay(call);
        break;
    case ECHO_KIND_UNARY:
    case ECHO_KIND_SERVER_STREAM:
    case ECHO_KIND_COUNT:
        if (call->n_requests > 1)
            call_fail(call, ECHO_STATUS_UNIMPLEMENTED, "more than one request");
        break;
    }
}

/* The client has sent everything and all of it has been handled. */
static void
call_handle_end(struct call *call)
{
    if (echo_buf_len(&call->in) > 0)
        call_fail(call, ECHO_STATUS_INTERNAL, "request ends inside a message");
    else if (call->kind == ECHO_KIND_BIDI_STREAM)
        call_fail(call, ECHO_STATUS_OK, "");
    else if (call->kind != ECHO_KIND_CLIENT_STREAM && call->n_requests == 0)
        call_fail(call, ECHO_STATUS_UNIMPLEMENTED, "no request message");
    else
        call_answer_after_delay(call);
}

/* Takes one message, or sees the end of them; false when there is neither. */
static bool
call_take(struct call *call)
{
    struct echo_take take =
        echo_grpc_message_take(&call->in, call->codec, &call->message);

    if (take.status != ECHO_STATUS_OK) {
        call_fail(call, take.status, take.why);
        return true;
    }
    if (!take.done) {
        if (call->is_half_closed)
            call_handle_end(call);
        return call->is_half_closed;
    }
    if (echo_request_decode(&call->request, echo_buf_bytes(&call->message),
                            echo_buf_len(&call->message)) != 0)
        call_fail(call, ECHO_STATUS_INTERNAL, "not an EchoRequest");
    else
        call_handle_request(call);
    return true;
}

static void
call_stream(struct call *call)
{
    if (call->n_remaining == 0) {
        call_fail(call, ECHO_STATUS_OK, "");
        return;
    }
    call->n_remaining--;
    call_respond(call);
}

/* Neither takes requests nor makes responses at the moment. */
static bool
call_is_held(const struct call *call)
{
    return call->is_waiting || echo_buf_len(&call->body.queue) >= BACKLOG_HIGH;
}

void
call_data(struct call *call, const uint8_t *data, size_t len)
{
    call->held += len;
    if (!call->has_ended && echo_buf_append(&call->in, data, len) != 0)
        call_abort(call);
}

void
call_advance(struct call *call)
{
    nghttp2_session *session = call->conn->h2.session;
    bool is_moving = true;

    while (is_moving && !call->has_ended && !call_is_held(call)) {
        if (call->is_streaming)
            call_stream(call);
        else
            is_moving = call_take(call);
    }
    /* An ended call drops what still comes, so it needs no window for it; but
     * a client without window could not even end its side. */
    if (call->held > 0 && (call->has_ended || !call_is_held(call))) {
        (void)nghttp2_session_consume_stream(session, call->stream_id,
                                             call->held);
        call->held = 0;
    }
    echo_h2_body_resume(&call->conn->h2, call->stream_id);
}

/* The client has read: go on with requests or responses that were held. */
static void
on_body_low(struct echo_h2_body *body)
{
    call_advance((struct call *)body);
}
