/* SPDX-License-Identifier: MIT */
/*
 * echo_h2 owns the socket, the session and the moving of bytes between the
 * two.  It knows no headers and no gRPC.
 */
#define _POSIX_C_SOURCE 200809L

#include "echo_h2.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes read at a time, and how many times before other sockets get a turn. */
#define READ_SIZE (64u << 10)
#define READ_TURNS 4

/* The session is asked for frames until this much waits for the socket.  More
 * would only move data out of flow control's reach. */
#define OUT_HIGH (128u << 10)
#define SEND_TURNS 8

/* The default windows of 64 KiB would stop a sender every few frames.  The
 * stream window bounds what one call can make us store unasked. */
#define STREAM_WINDOW (4 << 20)
#define CONNECTION_WINDOW (64 << 20)

/* How long a finished connection waits for the peer to close: a second. */
#define LINGER \
    {          \
        1, 0   \
    }

/* All h2_ functions return NULL, or why the connection has ended. */

/* Moves frames from the session to `out`. */
static const char *
h2_fill(struct echo_h2 *h2)
{
    while (echo_buf_len(&h2->out) < OUT_HIGH) {
        const uint8_t *data;
        ssize_t n = nghttp2_session_mem_send(h2->session, &data);

        if (n < 0)
            return nghttp2_strerror((int)n);
        if (n == 0)
            break;
        if (echo_buf_append(&h2->out, data, (size_t)n) != 0)
            return "out of memory";
    }
    return NULL;
}

/* Sends once; *is_full is set when the socket takes no more. */
static const char *
h2_send(struct echo_h2 *h2, bool *is_full)
{
    ssize_t n = send(h2->fd, echo_buf_bytes(&h2->out), echo_buf_len(&h2->out),
                     MSG_NOSIGNAL);

    if (n >= 0)
        echo_buf_consume(&h2->out, (size_t)n);
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
        *is_full = true;
    else if (errno != EINTR)
        return strerror(errno);
    return NULL;
}

/* A session that wants neither has exchanged its last frame: after GOAWAY. */
static bool
session_is_over(nghttp2_session *session)
{
    return !nghttp2_session_want_read(session) &&
           !nghttp2_session_want_write(session);
}

/* The peer has had its time to close. */
static void
on_lingered(evutil_socket_t fd, short what, void *arg)
{
    struct echo_h2 *h2 = arg;

    (void)fd;
    (void)what;
    h2->on_gone(h2, "finished");
}

/* Closing a socket that has unread bytes resets the connection, and the reset
 * can overtake our last frames.  So: say that we are done, and let the peer
 * close first, for as long as LINGER. */
static const char *
h2_finish(struct echo_h2 *h2)
{
    static const struct timeval linger = LINGER;

    if (shutdown(h2->fd, SHUT_WR) != 0)
        return strerror(errno);
    h2->linger = evtimer_new(event_get_base(h2->read_event), on_lingered, h2);
    if (h2->linger == NULL || evtimer_add(h2->linger, &linger) != 0)
        return "out of memory";
    return NULL;
}

static const char *
h2_flush(struct echo_h2 *h2)
{
    bool is_full = false;

    if (h2->linger != NULL)
        return NULL;
    for (int i = 0; i < SEND_TURNS && !is_full; i++) {
        const char *why = h2_fill(h2);
        if (why != NULL)
            return why;
        if (echo_buf_len(&h2->out) == 0)
            return session_is_over(h2->session) ? h2_finish(h2) : NULL;
        why = h2_send(h2, &is_full);
        if (why != NULL)
            return why;
    }
    /* Also after SEND_TURNS: a writable socket brings us back next round. */
    return event_add(h2->flush_event, NULL) == 0 ? NULL : "event_add failed";
}

static const char *
h2_read(struct echo_h2 *h2)
{
    uint8_t bytes[READ_SIZE];

    for (int i = 0; i < READ_TURNS; i++) {
        ssize_t n = recv(h2->fd, bytes, sizeof bytes, 0);

        if (n == 0)
            return "connection closed by peer";
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n < 0 && errno != EINTR)
            return strerror(errno);
        if (n < 0)
            continue;
        if (h2->linger != NULL)
            continue;
        ssize_t used = nghttp2_session_mem_recv(h2->session, bytes, (size_t)n);
        if (used < 0)
            return nghttp2_strerror((int)used);
        if ((size_t)n < sizeof bytes)
            break;
    }
    return NULL;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct echo_h2 *h2 = arg;
    const char *why = h2_read(h2);

    (void)fd;
    (void)what;
    if (why == NULL)
        why = h2_flush(h2);
    if (why != NULL)
        h2->on_gone(h2, why);
}

static void
on_flush(evutil_socket_t fd, short what, void *arg)
{
    struct echo_h2 *h2 = arg;
    const char *why = h2_flush(h2);

    (void)fd;
    (void)what;
    if (why != NULL)
        h2->on_gone(h2, why);
}

static int
h2_settings(nghttp2_session *session, uint32_t max_streams)
{
    nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
    };

    if (max_streams > 0) {
        entries[1].settings_id = NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS;
        entries[1].value = max_streams;
    }
    if (nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, entries, 2) != 0)
        return -1;
    return nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0,
                                                 CONNECTION_WINDOW);
}

int
echo_h2_init(struct echo_h2 *h2, struct event_base *base, int fd,
             nghttp2_session *session, uint32_t max_streams,
             void (*on_gone)(struct echo_h2 *h2, const char *why))
{
    int on = 1;

    *h2 = (struct echo_h2){.session = session, .fd = fd, .on_gone = on_gone};
    if (evutil_make_socket_nonblocking(fd) != 0 ||
        h2_settings(session, max_streams) != 0)
        return -1;
    /* Fails on a unix socket, which does not delay anyway. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    h2->read_event = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, h2);
    h2->flush_event = event_new(base, fd, EV_WRITE, on_flush, h2);
    if (h2->read_event == NULL || h2->flush_event == NULL)
        return -1;
    echo_h2_wake(h2);
    return event_add(h2->read_event, NULL);
}

void
echo_h2_clear(struct echo_h2 *h2)
{
    if (h2->read_event != NULL)
        event_free(h2->read_event);
    if (h2->flush_event != NULL)
        event_free(h2->flush_event);
    if (h2->linger != NULL)
        event_free(h2->linger);
    nghttp2_session_del(h2->session);
    echo_buf_clear(&h2->out);
    (void)close(h2->fd);
    *h2 = (struct echo_h2){.fd = -1};
}

void
echo_h2_wake(struct echo_h2 *h2)
{
    event_active(h2->flush_event, EV_WRITE, 0);
}

void
echo_h2_end(struct echo_h2 *h2)
{
    int32_t last = nghttp2_session_get_last_proc_stream_id(h2->session);

    (void)nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE, last,
                                NGHTTP2_NO_ERROR, NULL, 0);
    echo_h2_wake(h2);
}

void
echo_h2_flush_now(struct echo_h2 *h2)
{
    (void)h2_flush(h2);
}

nghttp2_nv
echo_h2_nv(const char *name, const char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)name,
                        .namelen = strlen(name),
                        .value = (uint8_t *)value,
                        .valuelen = strlen(value)};
}

nghttp2_nv
echo_h2_nv_buf(const char *name, const struct echo_buf *value)
{
    return (nghttp2_nv){.name = (uint8_t *)name,
                        .namelen = strlen(name),
                        .value = (uint8_t *)echo_buf_bytes(value),
                        .valuelen = echo_buf_len(value)};
}

static ssize_t
body_read(nghttp2_session *session, int32_t stream_id, uint8_t *to, size_t room,
          uint32_t *flags, nghttp2_data_source *source, void *user_data)
{
    struct echo_h2_body *body = source->ptr;

    (void)session;
    (void)stream_id;
    (void)user_data;
    if (echo_buf_len(&body->queue) < room && !body->ended &&
        body->on_low != NULL)
        body->on_low(body);
    size_t len = echo_buf_len(&body->queue);
    size_t n = len < room ? len : room;
    if (n == 0 && !body->ended)
        return NGHTTP2_ERR_DEFERRED;
    memcpy(to, echo_buf_bytes(&body->queue), n);
    if (n > 0)
        echo_buf_consume(&body->queue, n);
    if (n == len && body->ended) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (body->on_drained != NULL) {
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            body->on_drained(body);
        }
    }
    return (ssize_t)n;
}

nghttp2_data_provider
echo_h2_body_provider(struct echo_h2_body *body)
{
    return (nghttp2_data_provider){.source.ptr = body,
                                   .read_callback = body_read};
}

void
echo_h2_body_resume(struct echo_h2 *h2, int32_t stream_id)
{
    /* "Invalid argument" only says that the stream was not waiting. */
    (void)nghttp2_session_resume_data(h2->session, stream_id);
}
