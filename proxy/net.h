/* SPDX-License-Identifier: MIT */
/* Sockets and pipes the way the relay wants them: non-blocking, closed on
 * exec, never raising SIGPIPE.  net.c is the one file that knows what only
 * Linux has; it knows nothing of connections. */
#ifndef NET_H
#define NET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* net_socket returns a new stream socket of |family|, or -1 with errno. */
int net_socket(int family);

/* net_accept takes a connection off |fd| and writes its peer's address;
 * |*len| is set to the length of it.  Returns the socket, or -1 with errno. */
int net_accept(int fd, struct sockaddr_storage *peer, socklen_t *len);

/* net_pipe makes a pipe, both ends non-blocking.  Returns 0, or -1 with
 * errno. */
int net_pipe(int fds[2]);

/* net_send sends what |fd| takes of |len| bytes.  Returns the number of bytes
 * or -1 with errno. */
ssize_t net_send(int fd, const void *data, size_t len);

/* net_send_vector is net_send for |n| pieces. */
ssize_t net_send_vector(int fd, struct iovec *pieces, size_t n);

/* net_try_write writes what |fd|, whatever it is, takes of |len| bytes now.
 * Returns the number of bytes or -1 with errno.  Only a pipe or a terminal that
 * is in blocking mode may hold it up still, when somebody else fills it at the
 * same time: see net_own_output. */
ssize_t net_try_write(int fd, const void *data, size_t len);

/* net_own_output opens the pipe or terminal behind |fd| once more, without
 * blocking: the mode of |fd| itself is shared with other programs.  Returns the
 * descriptor, or -1 where that is not possible, or not needed: a file never
 * blocks, and has its offset in |fd|. */
int net_own_output(int fd);

/* net_set_nodelay sends small writes at once; no-op where it has no meaning
 * (Unix sockets). */
void net_set_nodelay(int fd);

/* net_reset_on_close makes close(|fd|) send a reset instead of a FIN.  A Unix
 * socket knows no reset: there its peer sees a plain end. */
void net_reset_on_close(int fd);

/* net_error returns and clears the pending error of |fd|; 0: none. */
int net_error(int fd);

/* net_is_self returns 1 when |fd| is connected to itself, as a connect to an
 * unused local port of the ephemeral range may end. */
int net_is_self(int fd);

/* net_would_block returns 1 when |error| only means: not now. */
int net_would_block(int error);

/* net_is_exhausted returns 1 when |error| says that descriptors or kernel
 * memory ran out, which waiting may cure. */
int net_is_exhausted(int error);

/* net_now_us returns the monotonic clock in microseconds. */
uint64_t net_now_us(void);

/* net_wall_offset_us returns what to add to net_now_us for UTC since 1970. */
int64_t net_wall_offset_us(void);

/* net_give_way lets all others run before the calling thread, where only that
 * thread can be told. */
void net_give_way(void);

#endif
