/* SPDX-License-Identifier: MIT */
/* Sockets, pipes and clocks; what only Linux has stands here, with the plain
 * POSIX way beside it.  Policy, such as when to reset, is the callers'. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4, pipe2 */
#endif
#include "net.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* then SO_NOSIGPIPE, below */
#endif

#ifndef __linux__
/* prepare makes a fresh descriptor what Linux makes in one call. */
static int
prepare(int fd)
{
    int flags;

    if (fd < 0)
        return -1;
#ifdef SO_NOSIGPIPE
    int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#endif
    flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0
        || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}
#endif

int
net_socket(int family)
{
#ifdef __linux__
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#else
    return prepare(socket(family, SOCK_STREAM, 0));
#endif
}

int
net_accept(int fd, struct sockaddr_storage *peer, socklen_t *len)
{
    *len = sizeof(*peer);
#ifdef __linux__
    return accept4(fd, (struct sockaddr *)peer, len,
                   SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
    return prepare(accept(fd, (struct sockaddr *)peer, len));
#endif
}

int
net_pipe(int fds[2])
{
#ifdef __linux__
    return pipe2(fds, O_NONBLOCK | O_CLOEXEC);
#else
    if (pipe(fds) < 0)
        return -1;
    return prepare(fds[0]) < 0 || prepare(fds[1]) < 0 ? -1 : 0;
#endif
}

ssize_t
net_send(int fd, const void *data, size_t len)
{
    return send(fd, data, len, MSG_NOSIGNAL);
}

ssize_t
net_send_vector(int fd, struct iovec *pieces, size_t n)
{
    struct msghdr message;

    memset(&message, 0, sizeof(message));
    message.msg_iov = pieces;
    message.msg_iovlen = n;
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

ssize_t
net_try_write(int fd, const void *data, size_t len)
{
    struct pollfd room = { .fd = fd, .events = POLLOUT };
    ssize_t n = send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n >= 0 || errno != ENOTSOCK)
        return n;
    if (poll(&room, 1, 0) != 0)
        return write(fd, data, len);
    errno = EAGAIN;
    return -1;
}

int
net_own_output(int fd)
{
#ifdef __linux__
    int flags = fcntl(fd, F_GETFL);
    char path[32];
    struct stat st;

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st) < 0
        || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
#else
    (void)fd;
    return -1;
#endif
}

void
net_set_nodelay(int fd)
{
    int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void
net_reset_on_close(int fd)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

int
net_error(int fd)
{
    int error = 0;
    socklen_t len = sizeof(error);

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return errno;
    return error;
}

int
net_is_self(int fd)
{
    struct sockaddr_storage own, peer;
    socklen_t own_len = sizeof(own), peer_len = sizeof(peer);

    memset(&own, 0, sizeof(own));
    memset(&peer, 0, sizeof(peer));
    if (getsockname(fd, (struct sockaddr *)&own, &own_len) < 0
        || getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0)
        return 0;
    if (own.ss_family != AF_INET && own.ss_family != AF_INET6)
        return 0;
    return own_len == peer_len && memcmp(&own, &peer, own_len) == 0;
}

int
net_would_block(int error)
{
#if EAGAIN != EWOULDBLOCK
    if (error == EWOULDBLOCK)
        return 1;
#endif
    return error == EAGAIN || error == EINTR;
}

int
net_is_exhausted(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS
           || error == ENOMEM;
}

/* clock_us returns |id| in microseconds. */
static int64_t
clock_us(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

uint64_t
net_now_us(void)
{
    return (uint64_t)clock_us(CLOCK_MONOTONIC);
}

int64_t
net_wall_offset_us(void)
{
    return clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC);
}

/* On Linux a nice value is a thread's, on others the process's. */
void
net_give_way(void)
{
#ifdef __linux__
    (void)setpriority(PRIO_PROCESS, 0, 19);
#endif
}
