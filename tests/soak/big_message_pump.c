/* SPDX-License-Identifier: MIT */
/*
 * big_pump moves bytes between an nghttp2 session and a socket, both ways at
 * once.  What the frames are about is its owner's affair.
 */
#define _POSIX_C_SOURCE 200809L

#include "big_message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* PATIENCE_MS is how long nothing may move before that is a failure: the
 * client's first pass over a message moves nothing, and takes its time. */
#define PATIENCE_MS 300000

/* Takes what fits; nghttp2 offers the rest again. */
static ssize_t
on_send(nghttp2_session *session, const uint8_t *data, size_t len, int flags,
        void *user_data)
{
    struct big_pump *pump = *(struct big_pump **)user_data;
    size_t room = sizeof pump->out - pump->out_len;

    (void)session;
    (void)flags;
    if (room == 0)
        return NGHTTP2_ERR_WOULDBLOCK;
    if (len > room)
        len = room;
    memcpy(pump->out + pump->out_len, data, len);
    pump->out_len += len;
    return (ssize_t)len;
}

int
big_pump_init(struct big_pump *pump, int fd,
              nghttp2_session_callbacks *callbacks, bool is_server, void *user)
{
    pump->fd = fd;
    pump->session = NULL;
    pump->out_at = 0;
    pump->out_len = 0;
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    nghttp2_session_callbacks_set_send_callback(callbacks, on_send);
    return is_server
               ? nghttp2_session_server_new(&pump->session, callbacks, user)
               : nghttp2_session_client_new(&pump->session, callbacks, user);
}

int
big_pump_settings(struct big_pump *pump)
{
    const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, NGHTTP2_MAX_WINDOW_SIZE}};

    if (nghttp2_submit_settings(pump->session, NGHTTP2_FLAG_NONE, entries, 2) !=
        0)
        return -1;
    return nghttp2_session_set_local_window_size(
        pump->session, NGHTTP2_FLAG_NONE, 0, NGHTTP2_MAX_WINDOW_SIZE);
}

/* Sends what waits.  Returns NULL or what went wrong. */
static const char *
pump_send(struct big_pump *pump)
{
    while (pump->out_at < pump->out_len) {
        ssize_t n = send(pump->fd, pump->out + pump->out_at,
                         pump->out_len - pump->out_at, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? NULL : strerror(errno);
        pump->out_at += (size_t)n;
    }
    pump->out_at = 0;
    pump->out_len = 0;
    return NULL;
}

/* Receives once.  Returns NULL or what went wrong; sets *has_ended. */
static const char *
pump_receive(struct big_pump *pump, bool *has_ended)
{
    static uint8_t in[BIG_OUT];
    ssize_t n = recv(pump->fd, in, sizeof in, 0);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? NULL : strerror(errno);
    *has_ended = n == 0;
    ssize_t result = nghttp2_session_mem_recv(pump->session, in, (size_t)n);
    return result < 0 ? nghttp2_strerror((int)result) : NULL;
}

/* Frames and sends, until the socket or the session has enough. */
static const char *
pump_push(struct big_pump *pump)
{
    const char *wrong = NULL;

    do {
        int result =
            pump->out_len == 0 ? nghttp2_session_send(pump->session) : 0;

        if (result != 0)
            return nghttp2_strerror(result);
        if (pump->out_len == 0)
            return NULL;
        wrong = pump_send(pump);
    } while (wrong == NULL && pump->out_len == 0);
    return wrong;
}

static bool
pump_is_over(const struct big_pump *pump)
{
    return pump->out_len == 0 && !nghttp2_session_want_read(pump->session) &&
           !nghttp2_session_want_write(pump->session);
}

const char *
big_pump_run(struct big_pump *pump)
{
    bool has_ended = false;

    for (;;) {
        const char *wrong = pump_push(pump);
        struct pollfd entry = {.fd = pump->fd, .events = POLLIN};

        if (wrong != NULL || has_ended || pump_is_over(pump))
            return wrong;
        if (pump->out_len > 0)
            entry.events |= POLLOUT;
        if (poll(&entry, 1, PATIENCE_MS) == 0)
            return "nothing moves";
        if (entry.revents & (POLLIN | POLLERR | POLLHUP))
            wrong = pump_receive(pump, &has_ended);
        if (wrong != NULL)
            return wrong;
    }
}

void
big_pump_clear(struct big_pump *pump)
{
    nghttp2_session_del(pump->session);
    close(pump->fd);
}

nghttp2_nv
big_pump_nv(const char *name, const char *value)
{
    /* nghttp2 copies both, and does not write to either. */
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                        strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}
