/* SPDX-License-Identifier: MIT */
/*
 * echo_client: a gRPC client for examples/echo.proto on nghttp2 and libevent.
 * This file owns the connections and the number of calls in flight; one call
 * is in echo_client_call.c, the output in echo_client_report.c.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "echo_client.h"

static struct call *
call_of(nghttp2_session *session, int32_t stream_id)
{
    return nghttp2_session_get_stream_user_data(session, stream_id);
}

static int
on_header(nghttp2_session *session, const nghttp2_frame *frame,
          const uint8_t *name, size_t name_len, const uint8_t *value,
          size_t value_len, uint8_t flags, void *user_data)
{
    struct call *call = call_of(session, frame->hd.stream_id);

    (void)flags;
    (void)user_data;
    if (call != NULL)
        call_header(call, (struct echo_bytes){name, name_len},
                    (struct echo_bytes){value, value_len});
    return 0;
}

static int
on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t stream_id,
              const uint8_t *data, size_t len, void *user_data)
{
    struct call *call = call_of(session, stream_id);

    (void)flags;
    (void)user_data;
    if (call != NULL)
        call_data(call, data, len);
    return 0;
}

static int
on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame,
              void *user_data)
{
    struct conn *conn = user_data;
    struct call *call = call_of(session, frame->hd.stream_id);

    if (frame->hd.type == NGHTTP2_GOAWAY)
        conn->is_usable = false;
    if (call != NULL &&
        (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
        call_end_stream(call);
    return 0;
}

static int
on_frame_send(nghttp2_session *session, const nghttp2_frame *frame,
              void *user_data)
{
    struct call *call = call_of(session, frame->hd.stream_id);

    (void)user_data;
    if (call != NULL && frame->hd.type == NGHTTP2_DATA)
        call_sent_data(call);
    return 0;
}

/* What the call ended with, whoever ended it. */
static int
call_status(const struct call *call, uint32_t error_code)
{
    if (call->given_up >= 0)
        return call->given_up;
    if (call->grpc_status >= 0)
        return call->grpc_status;
    if (error_code != NGHTTP2_NO_ERROR)
        return (int)echo_grpc_status_from_reset(error_code);
    return (int)echo_grpc_status_from_http(call->http_status);
}

static int
on_stream_close(nghttp2_session *session, int32_t stream_id,
                uint32_t error_code, void *user_data)
{
    struct call *call = call_of(session, stream_id);

    (void)user_data;
    if (call != NULL)
        client_call_finished(call, call_status(call, error_code));
    return 0;
}

static int
session_new(nghttp2_session **session, struct conn *conn)
{
    nghttp2_session_callbacks *callbacks = NULL;

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return -1;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                         on_frame_recv);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks,
                                                         on_frame_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                           on_stream_close);
    int rc = nghttp2_session_client_new(session, callbacks, conn);
    nghttp2_session_callbacks_del(callbacks);
    return rc;
}

/* Starts one call on the next connection that takes it. */
static int
client_start_call(struct client *client)
{
    uint32_t n = client->options.n_connections;

    for (uint32_t i = 0; i < n; i++) {
        struct conn *conn = &client->conns[client->next_conn];

        client->next_conn = (client->next_conn + 1) % n;
        if (!conn->is_usable)
            continue;
        if (call_start(conn, client->n_started) == 0) {
            client->n_started++;
            return 0;
        }
        conn->is_usable = false;
    }
    return -1;
}

/* Keeps the wanted number of calls in flight; when there is nothing left to do
 * or nobody left to do it with, ends the connections. */
static void
client_refill(struct client *client)
{
    const struct options *options = &client->options;
    bool is_stuck = false;

    while (client->n_started < options->n_calls && !is_stuck &&
           client->n_started - client->n_finished < options->n_in_flight)
        is_stuck = client_start_call(client) != 0;
    if (client->n_finished < client->n_started ||
        (client->n_started < options->n_calls && !is_stuck))
        return;
    for (uint32_t i = 0; i < options->n_connections; i++)
        if (client->conns[i].is_open)
            echo_h2_end(&client->conns[i].h2);
}

/* The number of responses a call that ends with OK has. */
static uint32_t
responses_expected(const struct options *options)
{
    return options->kind == ECHO_KIND_SERVER_STREAM ||
                   options->kind == ECHO_KIND_BIDI_STREAM
               ? options->count
               : 1;
}

/* NULL when the call ended as asked, else what was different. */
static const char *
call_complaint(const struct call *call, int status)
{
    const struct options *options = &call->conn->client->options;
    const char *message = options->message == NULL ? "" : options->message;
    const struct echo_buf *text = &call->status_text;

    if (call->fault != NULL)
        return call->fault;
    if (status != options->expect)
        return "unexpected status";
    if (status == ECHO_STATUS_OK &&
        call->n_received != responses_expected(options))
        return "wrong number of responses";
    if (options->status != 0 && call->grpc_status == (int)options->status &&
        (echo_buf_len(text) != strlen(message) ||
         memcmp(echo_buf_bytes(text), message, strlen(message)) != 0))
        return "the status message is not the one asked for";
    return NULL;
}

static double
seconds_now(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void
client_call_finished(struct call *call, int status)
{
    struct client *client = call->conn->client;
    const char *complaint = call_complaint(call, status);

    report_call(call, status);
    client->n_finished++;
    client->finished_at = seconds_now();
    if (complaint != NULL) {
        client->n_failed++;
        report_failure(call, status, complaint);
    }
    call_free(call);
    client_refill(client);
}

static void
conn_close(struct conn *conn)
{
    conn->is_open = false;
    conn->is_usable = false;
    echo_h2_clear(&conn->h2);
}

static void
on_gone(struct echo_h2 *h2, const char *why)
{
    struct conn *conn = (struct conn *)h2;

    conn->is_usable = false;
    while (!LIST_EMPTY(&conn->calls)) {
        struct call *call = LIST_FIRST(&conn->calls);
        echo_buf_clear(&call->status_text);
        (void)echo_buf_append(&call->status_text, why, strlen(why));
        client_call_finished(call, ECHO_STATUS_UNAVAILABLE);
    }
    conn_close(conn);
}

static int
conn_open(struct client *client, struct conn *conn)
{
    nghttp2_session *session = NULL;
    int fd = echo_addr_connect(&client->options.addr);

    if (fd < 0)
        return -1;
    conn->client = client;
    LIST_INIT(&conn->calls);
    if (session_new(&session, conn) != 0) {
        (void)close(fd);
        return -1;
    }
    conn->is_open = true;
    conn->is_usable = true;
    return echo_h2_init(&conn->h2, client->base, fd, session, 0, on_gone);
}

/* The payload all messages share; each call puts its stamp in front. */
static int
payload_make(struct client *client)
{
    static const char json[] =
        "{\"id\":1234,\"name\":\"echo\",\"tags\":[\"red\",\"green\"],"
        "\"ratio\":0.25,\"active\":true},";
    size_t size = client->options.size;
    uint64_t random = 0x9e3779b97f4a7c15u;

    client->payload = calloc(1, size + 1);
    if (client->payload == NULL || client->options.text == PAYLOAD_ZEROS)
        return client->payload == NULL ? -1 : 0;
    for (size_t i = 0; i < size; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        client->payload[i] = client->options.text == PAYLOAD_RANDOM
                                 ? (uint8_t)(random >> 32)
                                 : (uint8_t)json[i % (sizeof json - 1)];
    }
    return 0;
}

static int
client_open(struct client *client)
{
    uint32_t n = client->options.n_connections;

    client->base = event_base_new();
    client->conns = calloc(n, sizeof *client->conns);
    if (client->base == NULL || client->conns == NULL ||
        payload_make(client) != 0) {
        fputs("echo_client: out of memory\n", stderr);
        return -1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (conn_open(client, &client->conns[i]) != 0)
            return -1;
    client_refill(client);
    return 0;
}

static void
client_close(struct client *client)
{
    uint32_t n = client->conns == NULL ? 0 : client->options.n_connections;

    for (uint32_t i = 0; i < n; i++)
        if (client->conns[i].is_open)
            conn_close(&client->conns[i]);
    free(client->conns);
    if (client->base != NULL)
        event_base_free(client->base);
    free(client->payload);
    echo_buf_clear(&client->scratch);
}

/* Runs every call and tells whether all ended as asked. */
static bool
client_run(struct client *client)
{
    double start = seconds_now();

    client->finished_at = start;
    if (event_base_dispatch(client->base) < 0)
        return false;
    report_summary(client, client->finished_at - start);
    if (client->n_finished < client->options.n_calls)
        fputs("echo_client: the server takes no more calls\n", stderr);
    return client->n_failed == 0 &&
           client->n_finished == client->options.n_calls;
}

int
main(int argc, char **argv)
{
    struct client client = {0};
    int rc = options_parse(&client.options, argc, argv);

    if (rc >= 0)
        return rc;
    bool is_ok = client_open(&client) == 0 && client_run(&client);
    client_close(&client);
    return is_ok && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
