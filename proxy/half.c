/* SPDX-License-Identifier: MIT */
/* The socket work of one side of a relay.  When to read, write, shut or
 * reset is decided in relay.c. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "half.h"

#include <errno.h>
#include <event2/buffer.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"

/* SEND_PIECES bounds the pieces of one send from a backlog. */
#define SEND_PIECES 16

void
half_init(struct half *half, struct relay *relay, enum side side,
          struct event_base *base, const struct half_calls *calls)
{
    memset(half, 0, sizeof(*half));
    half->relay = relay;
    half->side = side;
    half->base = base;
    half->calls = calls;
    half->fd = -1;
}

void
half_open(struct half *half, int fd)
{
    half->fd = fd;
    net_set_nodelay(fd);
    event_assign(&half->read, half->base, fd, EV_READ | EV_PERSIST,
                 half->calls->readable, half);
}

void
half_close(struct half *half)
{
    if (half->fd < 0)
        return;
    (void)half_watch(half, 0);
    if (half->has_to_reset || half_backlog(half) > 0)
        net_reset_on_close(half->fd);
    close(half->fd);
    half->fd = -1;
    if (half->backlog != NULL)
        evbuffer_free(half->backlog);
    half->backlog = NULL;
}

/* half_set_write adds the event of |what|, HALF_WRITE or HALF_RESET.  Returns
 * 0 or -1. */
static int
half_set_write(struct half *half, unsigned what)
{
    if (what == HALF_WRITE)
        event_assign(&half->write, half->base, half->fd,
                     EV_WRITE | EV_PERSIST, half->calls->writable, half);
    else
        event_assign(&half->write, half->base, half->fd,
                     EV_WRITE | EV_ET | EV_PERSIST, half->calls->edge, half);
    return event_add(&half->write, NULL);
}

int
half_watch(struct half *half, unsigned want)
{
    unsigned drop = half->watched & ~want, add = want & ~half->watched;

    /* Edge and level events of one socket do not mix: first take off. */
    if (drop & HALF_READ)
        event_del(&half->read);
    if (drop & (HALF_WRITE | HALF_RESET))
        event_del(&half->write);
    half->watched &= want;
    if (add & HALF_READ) {
        if (event_add(&half->read, NULL) < 0)
            return -1;
        half->watched |= HALF_READ;
    }
    if (add & (HALF_WRITE | HALF_RESET)) {
        if (half_set_write(half, add & ~HALF_READ) < 0)
            return -1;
        half->watched |= add & ~HALF_READ;
    }
    return 0;
}

size_t
half_backlog(const struct half *half)
{
    return half->backlog != NULL ? evbuffer_get_length(half->backlog) : 0;
}

int
half_send(struct half *half, const uint8_t *data, size_t len)
{
    ssize_t sent = 0;

    if (half->backlog == NULL) {
        sent = net_send(half->fd, data, len);
        if (sent < 0 && !net_would_block(errno))
            return -1;
        if (sent < 0)
            sent = 0;
        if ((size_t)sent == len)
            return 0;
        half->backlog = evbuffer_new();
    }
    if (half->backlog == NULL
        || evbuffer_add(half->backlog, data + sent, len - (size_t)sent) < 0) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

int
half_drain(struct half *half)
{
    struct iovec pieces[SEND_PIECES];
    ssize_t sent;
    int n;

    n = evbuffer_peek(half->backlog, -1, NULL, pieces, SEND_PIECES);
    if (n > SEND_PIECES)
        n = SEND_PIECES;
    sent = net_send_vector(half->fd, pieces, (size_t)n);
    if (sent < 0)
        return net_would_block(errno) ? 0 : -1;
    evbuffer_drain(half->backlog, (size_t)sent);
    if (evbuffer_get_length(half->backlog) == 0) {
        evbuffer_free(half->backlog);
        half->backlog = NULL;
    }
    return 0;
}

int
half_shut(struct half *half)
{
    if (half->is_shut)
        return 0;
    half->is_shut = 1;
    return shutdown(half->fd, SHUT_WR);
}
