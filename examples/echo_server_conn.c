/* SPDX-License-Identifier: MIT */
/*
 * echo_server_conn owns one connection: its nghttp2 callbacks and its list of
 * calls.  What a call means is decided in echo_server_call.c.
 */
#include "echo_server.h"

#include <stdlib.h>
#include <unistd.h>

/* Enough for any load test here, and a bound on what one client can open. */
#define MAX_STREAMS 1000u

/* Clients that cancel thousands of calls are what this server is for; nghttp2
 * would by default say GOAWAY after about a thousand resets. */
#define RESET_BURST 1000000u
#define RESET_RATE 100000u

static struct call *
call_of(nghttp2_session *session, int32_t stream_id)
{
    return nghttp2_session_get_stream_user_data(session, stream_id);
}

static int
on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame,
                 void *user_data)
{
    if (frame->hd.type != NGHTTP2_HEADERS ||
        frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    struct call *call = call_new(user_data, frame->hd.stream_id);
    if (call == NULL)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id,
                                                call);
}

static int
on_header(nghttp2_session *session, const nghttp2_frame *frame,
          const uint8_t *name, size_t name_len, const uint8_t *value,
          size_t value_len, uint8_t flags, void *user_data)
{
    struct call *call = call_of(session, frame->hd.stream_id);

    (void)flags;
    (void)user_data;
    if (call != NULL && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
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
    /* The connection's window is given back at once, so that a call which is
     * held back does not hold back the others. */
    if (nghttp2_session_consume_connection(session, len) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (call != NULL)
        call_data(call, data, len);
    return 0;
}

static int
on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame,
              void *user_data)
{
    struct call *call = call_of(session, frame->hd.stream_id);

    (void)user_data;
    if (call == NULL ||
        (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
        return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
        call->is_half_closed = true;
    if (frame->hd.type == NGHTTP2_HEADERS &&
        frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        call_start(call);
    call_advance(call);
    return 0;
}

/* A call that was answered before the client had finished: NO_ERROR tells it
 * that the rest is not needed (RFC 9113, section 8.1). */
static int
on_frame_send(nghttp2_session *session, const nghttp2_frame *frame,
              void *user_data)
{
    struct call *call = call_of(session, frame->hd.stream_id);

    (void)user_data;
    if (call == NULL || frame->hd.type != NGHTTP2_HEADERS ||
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0 ||
        call->is_half_closed)
        return 0;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE,
                                     frame->hd.stream_id, NGHTTP2_NO_ERROR);
}

static int
on_stream_close(nghttp2_session *session, int32_t stream_id,
                uint32_t error_code, void *user_data)
{
    struct call *call = call_of(session, stream_id);

    (void)error_code;
    (void)user_data;
    if (call != NULL)
        call_free(call);
    return 0;
}

static int
session_new(nghttp2_session **session, struct conn *conn)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    int rc = -1;

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return -1;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks,
                                                            on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                         on_frame_recv);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks,
                                                         on_frame_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                           on_stream_close);
    if (nghttp2_option_new(&option) == 0) {
        /* Window is given back when a call has room for more, not before. */
        nghttp2_option_set_no_auto_window_update(option, 1);
        nghttp2_option_set_no_closed_streams(option, 1);
        nghttp2_option_set_stream_reset_rate_limit(option, RESET_BURST,
                                                   RESET_RATE);
        rc = nghttp2_session_server_new2(session, callbacks, conn, option);
        nghttp2_option_del(option);
    }
    nghttp2_session_callbacks_del(callbacks);
    return rc;
}

static void
on_gone(struct echo_h2 *h2, const char *why)
{
    (void)why;
    conn_close((struct conn *)h2);
}

void
conn_open(struct server *server, int fd)
{
    struct conn *conn = calloc(1, sizeof *conn);
    nghttp2_session *session = NULL;

    if (conn == NULL || session_new(&session, conn) != 0) {
        free(conn);
        (void)close(fd);
        return;
    }
    conn->server = server;
    LIST_INIT(&conn->calls);
    LIST_INSERT_HEAD(&server->conns, conn, link);
    if (echo_h2_init(&conn->h2, server->base, fd, session, MAX_STREAMS,
                     on_gone) != 0)
        conn_close(conn);
}

void
conn_close(struct conn *conn)
{
    while (!LIST_EMPTY(&conn->calls))
        call_free(LIST_FIRST(&conn->calls));
    LIST_REMOVE(conn, link);
    echo_h2_clear(&conn->h2);
    free(conn);
}
