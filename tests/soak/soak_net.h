/* SPDX-License-Identifier: MIT */
/* The sockets of the soak test: addresses as grpctap writes them. */
#ifndef SOAK_NET_H
#define SOAK_NET_H

#include <stddef.h>
#include <sys/socket.h>

/* struct soak_addr is a socket address. */
struct soak_addr {
    /* sa is the address, len its length. */
    struct sockaddr_storage sa;
    socklen_t len;
};

/* soak_listen listens on |text| and writes the address bound to the file
 * |announce|.  Returns the socket, or -1 and in |*wrong| why. */
int soak_listen(const char *text, const char *announce, const char **wrong);

/* soak_find_tap reads |text| as an address; @FILE waits up to |patience_ms|
 * for a file that holds it.  Returns 0 or -1. */
int soak_find_tap(struct soak_addr *addr, const char *text, int patience_ms);

/* soak_connect returns a connected socket, or -1 with errno. */
int soak_connect(const struct soak_addr *addr);

/* soak_receive receives |len| bytes.  Returns 0, or -1 with errno. */
int soak_receive(int fd, void *to, size_t len);

/* soak_nonblock makes |fd| non-blocking. */
void soak_nonblock(int fd);

/* soak_reset makes closing |fd| a reset. */
void soak_reset(int fd);

#endif
