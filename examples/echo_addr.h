/* SPDX-License-Identifier: MIT */
/*
 * echo_addr: addresses as both programs take them on the command line, and
 * sockets made from them.  It does not read or write those sockets.
 */
#ifndef ECHO_ADDR_H
#define ECHO_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

struct echo_addr {
    bool is_unix;   /* `path` counts, else `host` and `port` */
    char host[256]; /* name or number, without brackets */
    char port[6];   /* decimal, 0 to 65535 */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* socket file */
};

/* echo_addr_parse reads PORT, HOST:PORT, [V6]:PORT or unix:PATH; -1 when the
 * text is none of these.  A bare port means 127.0.0.1. */
int echo_addr_parse(const char *text, struct echo_addr *addr);

/*
 * echo_addr_bind returns a bound stream socket that does not listen yet, or -1
 * after saying why on standard error.  A left-over socket file that nobody
 * serves is replaced.
 */
int echo_addr_bind(const struct echo_addr *addr);

/* echo_addr_connect returns a connected socket, or -1 as above. */
int echo_addr_connect(const struct echo_addr *addr);

/* echo_addr_port returns the TCP port a socket is bound to, 0 when unknown. */
unsigned echo_addr_port(int fd);

#endif
