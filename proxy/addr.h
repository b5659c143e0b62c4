/* SPDX-License-Identifier: MIT */
/* Addresses as written on the command line, and as printed in events. */
#ifndef ADDR_H
#define ADDR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* enum addr_kind: how an address was written. */
enum addr_kind {
    ADDR_INET,  /* host (a name or a literal address) and port */
    ADDR_UNIX   /* unix:PATH */
};

/* ADDR_HOST_MAX is the longest host name of DNS, with its NUL. */
#define ADDR_HOST_MAX 254

/* ADDR_TEXT_MAX holds any address as text: unix:PATH or [v6%scope]:port. */
#define ADDR_TEXT_MAX 320

/* struct addr is an address that may still have to be resolved. */
struct addr {
    enum addr_kind kind;
    /* host without brackets; 127.0.0.1 when only a port was given. */
    char host[ADDR_HOST_MAX];
    uint16_t port;
    /* path of a Unix socket. */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* addr_parse reads PORT or :PORT (both on 127.0.0.1), HOST:PORT,
 * [v6]:PORT or unix:PATH.  Returns NULL, or
 * what is wrong with |text|. */
const char *addr_parse(struct addr *addr, const char *text);

/* addr_format writes |addr| as it would be given on the command line. */
void addr_format(const struct addr *addr, char text[ADDR_TEXT_MAX]);

/* addr_format_socket writes the address of a socket: 127.0.0.1:80,
 * [::1]:80, unix:PATH, or `unix:` for an unnamed one. */
void addr_format_socket(const struct sockaddr *sa, socklen_t len,
                        char text[ADDR_TEXT_MAX]);

#endif
