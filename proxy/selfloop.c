/* SPDX-License-Identifier: MIT */
/* Owns the check that a relay is not its own upstream: each connection would
 * open another one, until descriptors run out.  Nothing here stays open. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "selfloop.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Unix sockets ---- */

static int
is_same_file(const char *a, const char *b)
{
    struct stat sa, sb;

    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev
           && sa.st_ino == sb.st_ino;
}

/* split copies the folder of |path| and returns the name in it. */
static const char *
split(const char *path, char folder[sizeof(((struct addr *)0)->path) + 2])
{
    const char *slash = strrchr(path, '/');

    (void)snprintf(folder, sizeof(((struct addr *)0)->path) + 2, "%.*s",
                   slash == NULL ? 1 : (int)(slash - path) + 1,
                   slash == NULL ? "." : path);
    return slash == NULL ? path : slash + 1;
}

/* The socket may not be there yet: then its folder and its name tell. */
static int
is_same_path(const struct addr *a, const struct addr *b)
{
    char folder_a[sizeof(a->path) + 2], folder_b[sizeof(b->path) + 2];
    const char *name_a = split(a->path, folder_a);
    const char *name_b = split(b->path, folder_b);

    return is_same_file(a->path, b->path)
           || (strcmp(name_a, name_b) == 0
               && is_same_file(folder_a, folder_b));
}

/* ---- addresses ---- */

/* as_v6 writes any address as one of IPv6; those of IPv4 are mapped. */
static int
as_v6(const struct sockaddr *sa, struct sockaddr_in6 *v6)
{
    memset(v6, 0, sizeof(*v6));
    if (sa->sa_family == AF_INET6) {
        memcpy(v6, sa, sizeof(*v6));
        return 0;
    }
    if (sa->sa_family != AF_INET)
        return -1;
    v6->sin6_addr.s6_addr[10] = 0xff;
    v6->sin6_addr.s6_addr[11] = 0xff;
    memcpy(&v6->sin6_addr.s6_addr[12],
           &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
    return 0;
}

static int
is_v4(const struct sockaddr_in6 *v6)
{
    return IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
}

/* is_any returns 1 for 0.0.0.0 and ::. */
static int
is_any(const struct sockaddr_in6 *v6)
{
    static const uint8_t zero[4];

    return IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)
           || (is_v4(v6) && memcmp(&v6->sin6_addr.s6_addr[12], zero, 4) == 0);
}

/* aim_at makes of |v6| what a connect to it reaches: of `any' it is this
 * host. */
static void
aim_at(struct sockaddr_in6 *v6)
{
    if (!is_any(v6))
        return;
    if (is_v4(v6))
        v6->sin6_addr.s6_addr[12] = 127;
    v6->sin6_addr.s6_addr[15] = 1;
}

/* is_local returns 1 when |v6| is an address of this host: a socket can be
 * bound to it. */
static int
is_local(const struct sockaddr_in6 *v6)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    const void *sa = is_v4(v6) ? (const void *)&v4 : (const void *)v6;
    socklen_t len = is_v4(v6) ? sizeof(v4) : sizeof(*v6);
    int fd = socket(is_v4(v6) ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
    int is_bound;

    memcpy(&v4.sin_addr, &v6->sin6_addr.s6_addr[12], 4);
    if (fd < 0)
        return 0;
    is_bound = bind(fd, sa, len) == 0;
    close(fd);
    return is_bound;
}

/* is_dual returns 1 when a socket on :: takes connections over IPv4, too. */
static int
is_dual(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM, 0), only = 1;
    socklen_t len = sizeof(only);

    if (fd < 0)
        return 0;
    if (getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &len) < 0)
        only = 1;
    close(fd);
    return !only;
}

/* reaches returns 1 when a connect to |to| reaches a socket on |own|; the ports
 * are the same. */
static int
reaches(const struct sockaddr *own_sa, const struct sockaddr *to_sa)
{
    struct sockaddr_in6 own, to;

    if (as_v6(own_sa, &own) < 0 || as_v6(to_sa, &to) < 0)
        return 0;
    aim_at(&to);
    to.sin6_port = 0;
    if (!is_any(&own))
        return IN6_ARE_ADDR_EQUAL(&own.sin6_addr, &to.sin6_addr)
               && own.sin6_scope_id == to.sin6_scope_id;
    if (is_v4(&own) != is_v4(&to) && (is_v4(&own) || !is_dual()))
        return 0;
    return is_local(&to);
}

/* ---- names ---- */

static struct addrinfo *
resolve(const char *host, int flags)
{
    struct addrinfo hints, *list = NULL;

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    return getaddrinfo(host, NULL, &hints, &list) == 0 ? list : NULL;
}

static int
any_reaches(const struct addrinfo *own, const char *host)
{
    struct addrinfo *list = resolve(host, 0);
    int found = 0;

    for (const struct addrinfo *at = list; at != NULL && !found;
         at = at->ai_next)
        found = reaches(own->ai_addr, at->ai_addr);
    if (list != NULL)
        freeaddrinfo(list);
    return found;
}

/* A name is resolved only where the ports leave no other way: it takes time,
 * and what it stands for may change. */
static int
is_same_place(const struct addr *listen, const struct addr *upstream)
{
    int is_localhost = strcasecmp(upstream->host, "localhost") == 0;
    struct addrinfo *own;
    int found = 0;

    if (listen->port == 0 || listen->port != upstream->port)
        return 0;
    own = resolve(listen->host, AI_PASSIVE);
    if (own != NULL) {
        /* Of several addresses the first is bound, and both loopback
         * addresses are tried, whatever the hosts file has. */
        found = is_localhost ? any_reaches(own, "127.0.0.1")
                                   || any_reaches(own, "::1")
                             : any_reaches(own, upstream->host);
        freeaddrinfo(own);
    }
    return found;
}

int
selfloop_is(const struct addr *listen, const struct addr *upstream)
{
    if (listen->kind != upstream->kind)
        return 0;
    return listen->kind == ADDR_UNIX ? is_same_path(listen, upstream)
                                     : is_same_place(listen, upstream);
}
