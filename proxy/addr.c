/* SPDX-License-Identifier: MIT */
/* Reads and prints addresses.  Names are not resolved here. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "addr.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define UNIX_PREFIX "unix:"

/* parse_port reads all of |text| as a port. */
static const char *
parse_port(uint16_t *port, const char *text)
{
    unsigned long value = 0;

    if (*text == '\0')
        return "the port is missing";
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return "the port is not a number";
        value = value * 10 + (unsigned long)(*text - '0');
        if (value > UINT16_MAX)
            return "the port is above 65535";
    }
    *port = (uint16_t)value;
    return NULL;
}

/* parse_unix reads the path behind unix:. */
static const char *
parse_unix(struct addr *addr, const char *path)
{
    size_t len = strlen(path);

    if (len == 0)
        return "the path of the Unix socket is missing";
    if (len >= sizeof(addr->path))
        return "the path of the Unix socket is too long";
    addr->kind = ADDR_UNIX;
    memcpy(addr->path, path, len + 1);
    return NULL;
}

/* set_host copies |len| bytes of |host|.  Returns 0, or -1: too long. */
static int
set_host(struct addr *addr, const char *host, size_t len)
{
    if (len >= sizeof(addr->host))
        return -1;
    memcpy(addr->host, host, len);
    addr->host[len] = '\0';
    return 0;
}

/* is_ipv6 returns 1 when |host| is an IPv6 address, with %scope or not. */
static int
is_ipv6(const char *host)
{
    char literal[INET6_ADDRSTRLEN];
    struct in6_addr unused;
    size_t len = strcspn(host, "%");

    if (len >= sizeof(literal) || (host[len] == '%' && host[len + 1] == '\0'))
        return 0;
    memcpy(literal, host, len);
    literal[len] = '\0';
    return inet_pton(AF_INET6, literal, &unused) == 1;
}

/* parse_brackets reads [v6]:PORT. */
static const char *
parse_brackets(struct addr *addr, const char *text)
{
    const char *end = strchr(text, ']');

    if (end == NULL)
        return "the closing bracket is missing";
    if (set_host(addr, text + 1, (size_t)(end - text) - 1) < 0
        || !is_ipv6(addr->host))
        return "the brackets hold no IPv6 address";
    if (end[1] != ':')
        return "the port is missing";
    return parse_port(&addr->port, end + 2);
}

/* check_name returns what is wrong with a host name or IPv4 address. */
static const char *
check_name(const char *host)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-._";

    if (host[strspn(host, allowed)] != '\0')
        return "the host has a character that no host name has";
    return NULL;
}

const char *
addr_parse(struct addr *addr, const char *text)
{
    const char *colon, *wrong;

    memset(addr, 0, sizeof(*addr));
    if (strncmp(text, UNIX_PREFIX, sizeof(UNIX_PREFIX) - 1) == 0)
        return parse_unix(addr, text + sizeof(UNIX_PREFIX) - 1);
    addr->kind = ADDR_INET;
    if (*text == '[')
        return parse_brackets(addr, text);
    colon = strrchr(text, ':');
    if (colon == NULL || colon == text) {
        /* Loopback, never every interface: PORT and :PORT alike. */
        (void)set_host(addr, "127.0.0.1", 9);
        return parse_port(&addr->port, colon == NULL ? text : text + 1);
    }
    if (strchr(text, ':') != colon)
        return "an IPv6 address stands in brackets: [ADDRESS]:PORT";
    if (set_host(addr, text, (size_t)(colon - text)) < 0)
        return "the host is too long";
    wrong = check_name(addr->host);
    return wrong != NULL ? wrong : parse_port(&addr->port, colon + 1);
}

void
addr_format(const struct addr *addr, char text[ADDR_TEXT_MAX])
{
    if (addr->kind == ADDR_UNIX)
        (void)snprintf(text, ADDR_TEXT_MAX, UNIX_PREFIX "%s", addr->path);
    else if (strchr(addr->host, ':') != NULL)
        (void)snprintf(text, ADDR_TEXT_MAX, "[%s]:%u", addr->host,
                       (unsigned)addr->port);
    else
        (void)snprintf(text, ADDR_TEXT_MAX, "%s:%u", addr->host,
                       (unsigned)addr->port);
}

static void
format_inet(const struct sockaddr_in *sin, char *text)
{
    char host[INET_ADDRSTRLEN];

    if (inet_ntop(AF_INET, &sin->sin_addr, host, sizeof(host)) == NULL)
        host[0] = '\0';
    (void)snprintf(text, ADDR_TEXT_MAX, "%s:%u", host,
                   (unsigned)ntohs(sin->sin_port));
}

static void
format_inet6(const struct sockaddr_in6 *sin6, char *text)
{
    char host[INET6_ADDRSTRLEN];
    char scope[IF_NAMESIZE + 1] = "";

    if (inet_ntop(AF_INET6, &sin6->sin6_addr, host, sizeof(host)) == NULL)
        host[0] = '\0';
    if (sin6->sin6_scope_id != 0) {
        scope[0] = '%';
        if (if_indextoname(sin6->sin6_scope_id, scope + 1) == NULL)
            (void)snprintf(scope, sizeof(scope), "%%%u",
                           (unsigned)sin6->sin6_scope_id);
    }
    (void)snprintf(text, ADDR_TEXT_MAX, "[%s%s]:%u", host, scope,
                   (unsigned)ntohs(sin6->sin6_port));
}

/* format_unix: |len| tells an unnamed socket from a path that fills its field
 * without a NUL, and from an abstract name, which starts with one. */
static void
format_unix(const struct sockaddr_un *sun, socklen_t len, char *text)
{
    size_t max = len > offsetof(struct sockaddr_un, sun_path)
                     ? len - offsetof(struct sockaddr_un, sun_path)
                     : 0;

    if (max > sizeof(sun->sun_path))
        max = sizeof(sun->sun_path);
    if (max > 0 && sun->sun_path[0] == '\0')
        (void)snprintf(text, ADDR_TEXT_MAX, UNIX_PREFIX "@%.*s",
                       (int)(max - 1), sun->sun_path + 1);
    else
        (void)snprintf(text, ADDR_TEXT_MAX, UNIX_PREFIX "%.*s", (int)max,
                       sun->sun_path);
}

void
addr_format_socket(const struct sockaddr *sa, socklen_t len,
                   char text[ADDR_TEXT_MAX])
{
    /* void *: a sockaddr is a view of each of these. */
    const void *any = sa;

    if (sa->sa_family == AF_INET)
        format_inet(any, text);
    else if (sa->sa_family == AF_INET6)
        format_inet6(any, text);
    else
        format_unix(any, len, text);
}
