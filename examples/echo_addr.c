/* SPDX-License-Identifier: MIT */
/*
 * echo_addr owns address syntax, name resolution and the making of sockets.
 * What happens on a socket afterwards is the caller's affair.
 */
#define _POSIX_C_SOURCE 200809L

#include "echo_addr.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int
copy_part(char *to, size_t size, const char *from, size_t len)
{
    if (len == 0 || len >= size)
        return -1;
    memcpy(to, from, len);
    to[len] = '\0';
    return 0;
}

static int
port_parse(const char *text, char *port, size_t size)
{
    size_t len = strlen(text);

    if (strspn(text, "0123456789") != len || copy_part(port, size, text, len))
        return -1;
    return strtoul(port, NULL, 10) <= 65535 ? 0 : -1;
}

int
echo_addr_parse(const char *text, struct echo_addr *addr)
{
    *addr = (struct echo_addr){0};
    if (strncmp(text, "unix:", 5) == 0) {
        addr->is_unix = true;
        return copy_part(addr->path, sizeof addr->path, text + 5,
                         strlen(text + 5));
    }
    const char *colon = strrchr(text, ':');
    const char *host = colon == NULL ? "127.0.0.1" : text;
    size_t len = colon == NULL ? strlen(host) : (size_t)(colon - text);
    const char *port = colon == NULL ? text : colon + 1;
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
        host++;
        len -= 2;
    } else if (memchr(host, ':', len) != NULL) {
        return -1; /* an IPv6 address needs its brackets */
    }
    if (copy_part(addr->host, sizeof addr->host, host, len) != 0)
        return -1;
    return port_parse(port, addr->port, sizeof addr->port);
}

static int
report(const struct echo_addr *addr, const char *what, const char *why)
{
    if (addr->is_unix)
        fprintf(stderr, "%s unix:%s: %s\n", what, addr->path, why);
    else
        fprintf(stderr, "%s %s:%s: %s\n", what, addr->host, addr->port, why);
    return -1;
}

typedef int socket_function(int fd, const struct sockaddr *sa, socklen_t len);

/* Opens a socket and applies bind() or connect(); -1 with errno set. */
static int
socket_open(socket_function *apply, int family, const struct sockaddr *sa,
            socklen_t len)
{
    int fd = socket(family, SOCK_STREAM, 0);
    int on = 1;

    if (fd < 0)
        return -1;
    if (family != AF_UNIX)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (apply(fd, sa, len) == 0)
        return fd;
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

static int
unix_open(const struct echo_addr *addr, socket_function *apply)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};

    memcpy(sun.sun_path, addr->path, sizeof sun.sun_path);
    return socket_open(apply, AF_UNIX, (const struct sockaddr *)&sun,
                       sizeof sun);
}

/* A server that was killed leaves its socket file behind; connecting to it is
 * refused.  Anything else in that place is not ours to remove. */
static bool
unix_is_stale(const struct echo_addr *addr)
{
    struct stat st;

    if (lstat(addr->path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    int fd = unix_open(addr, connect);
    if (fd >= 0)
        (void)close(fd);
    return fd < 0 && errno == ECONNREFUSED;
}

/* Tries each address of a name in turn. */
static int
inet_open(const struct echo_addr *addr, socket_function *apply,
          const char *what)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    int fd = -1;
    int rc = getaddrinfo(addr->host, addr->port, &hints, &list);

    if (rc != 0)
        return report(addr, what, gai_strerror(rc));
    for (struct addrinfo *ai = list; ai != NULL && fd < 0; ai = ai->ai_next)
        fd = socket_open(apply, ai->ai_family, ai->ai_addr, ai->ai_addrlen);
    int saved = errno;
    freeaddrinfo(list);
    return fd >= 0 ? fd : report(addr, what, strerror(saved));
}

int
echo_addr_bind(const struct echo_addr *addr)
{
    if (!addr->is_unix)
        return inet_open(addr, bind, "cannot listen on");
    int fd = unix_open(addr, bind);
    if (fd < 0 && errno == EADDRINUSE && unix_is_stale(addr) &&
        unlink(addr->path) == 0)
        fd = unix_open(addr, bind);
    return fd >= 0 ? fd : report(addr, "cannot listen on", strerror(errno));
}

int
echo_addr_connect(const struct echo_addr *addr)
{
    if (!addr->is_unix)
        return inet_open(addr, connect, "cannot connect to");
    int fd = unix_open(addr, connect);
    return fd >= 0 ? fd : report(addr, "cannot connect to", strerror(errno));
}

unsigned
echo_addr_port(int fd)
{
    struct sockaddr_storage ss = {0};
    socklen_t len = sizeof ss;

    if (getsockname(fd, (struct sockaddr *)&ss, &len) != 0)
        return 0;
    if (ss.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&ss)->sin_port);
    if (ss.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&ss)->sin6_port);
    return 0;
}
