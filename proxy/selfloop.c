/* SPDX-License-Identifier: MIT */
/* Owns the check that a relay is not its own upstream: each connection would
 * open another one, until descriptors run out.  Nothing here stays open. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "selfloop.h"

#include <ifaddrs.h>
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
    v6->sin6_port = ((const struct sockaddr_in *)(const void *)sa)->sin_port;
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

/* is_loopback returns 1 for 127.0.0.0/8 and ::1, of which no interface need
 * have more than one. */
static int
is_loopback(const struct sockaddr_in6 *v6)
{
    return is_v4(v6) ? v6->sin6_addr.s6_addr[12] == 127
                     : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* is_local returns 1 when |v6| is an address of this host.  Whether a socket
 * can be bound to it would not tell: net.ipv4.ip_nonlocal_bind. */
static int
is_local(const struct sockaddr_in6 *v6)
{
    struct ifaddrs *list = NULL;
    struct sockaddr_in6 own;
    int found = is_loopback(v6);

    if (found || getifaddrs(&list) < 0)
        return found;
    for (const struct ifaddrs *at = list; at != NULL && !found;
         at = at->ifa_next)
        found = at->ifa_addr != NULL && as_v6(at->ifa_addr, &own) == 0
                && IN6_ARE_ADDR_EQUAL(&own.sin6_addr, &v6->sin6_addr);
    freeifaddrs(list);
    return found;
}

/* struct place is where we listen. */
struct place {
    struct sockaddr_in6 sa;
    /* is_dual is 1 when a socket on :: takes connections over IPv4, too. */
    int is_dual;
};

/* is_dual asks a socket of IPv6, bound or not; 0 of any other. */
static int
is_dual(int fd)
{
    int only = 1;
    socklen_t len = sizeof(only);

    return getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &len) == 0
           && !only;
}

/* reaches returns 1 when a connect to |to_sa| reaches a socket at |own|; the
 * ports are the same. */
static int
reaches(const struct place *own, const struct sockaddr *to_sa)
{
    struct sockaddr_in6 to;

    if (as_v6(to_sa, &to) < 0)
        return 0;
    aim_at(&to);
    if (!is_any(&own->sa))
        return IN6_ARE_ADDR_EQUAL(&own->sa.sin6_addr, &to.sin6_addr)
               && own->sa.sin6_scope_id == to.sin6_scope_id;
    if (is_v4(&own->sa) != is_v4(&to) && (is_v4(&own->sa) || !own->is_dual))
        return 0;
    return is_local(&to);
}

/* ---- names ---- */

/* resolve reads a literal address.  Names are not looked up: that takes time,
 * and what they stand for may change. */
static struct addrinfo *
resolve(const char *host)
{
    struct addrinfo hints, *list = NULL;

    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST;
    return getaddrinfo(host, NULL, &hints, &list) == 0 ? list : NULL;
}

static int
literal_reaches(const struct place *own, const char *host)
{
    struct addrinfo *list = resolve(host);
    int found = list != NULL && reaches(own, list->ai_addr);

    if (list != NULL)
        freeaddrinfo(list);
    return found;
}

/* Of localhost both loopback addresses are tried, see upstream.c. */
static int
host_reaches(const struct place *own, const char *host)
{
    if (strcasecmp(host, "localhost") != 0)
        return literal_reaches(own, host);
    return literal_reaches(own, "127.0.0.1") || literal_reaches(own, "::1");
}

int
selfloop_would_be(const struct addr *listen, const struct addr *upstream)
{
    struct place own = { .is_dual = 0 };
    struct addrinfo *list;
    int fd;

    if (listen->kind != upstream->kind)
        return 0;
    if (listen->kind == ADDR_UNIX)
        return is_same_path(listen, upstream);
    if (listen->port == 0 || listen->port != upstream->port)
        return 0;
    list = resolve(listen->host);
    if (list == NULL)
        return 0;
    fd = socket(list->ai_family, SOCK_STREAM, 0);
    own.is_dual = is_dual(fd);
    (void)as_v6(list->ai_addr, &own.sa);
    freeaddrinfo(list);
    if (fd >= 0)
        close(fd);
    return host_reaches(&own, upstream->host);
}

int
selfloop_is(int fd, const struct addr *upstream)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    struct place own;

    memset(&sa, 0, sizeof(sa));
    if (upstream->kind != ADDR_INET
        || getsockname(fd, (struct sockaddr *)&sa, &len) < 0
        || as_v6((const struct sockaddr *)&sa, &own.sa) < 0
        || ntohs(own.sa.sin6_port) != upstream->port)
        return 0;
    own.is_dual = is_dual(fd);
    return host_reaches(&own, upstream->host);
}
