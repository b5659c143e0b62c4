/* SPDX-License-Identifier: MIT */
/* Addresses and sockets for soak.c; knows nothing of what they carry.  The
 * address parser and printer are grpctap's own. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "soak_net.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../../proxy/addr.h"

/* resolve reads |text|.  Returns NULL or what is wrong. */
static const char *
resolve(struct soak_addr *to, const char *text)
{
    struct sockaddr_un sun;
    struct addrinfo hints, *list;
    struct addr addr;
    const char *wrong = addr_parse(&addr, text);
    char port[8];
    int error;

    if (wrong != NULL)
        return wrong;
    memset(to, 0, sizeof(*to));
    if (addr.kind == ADDR_UNIX) {
        memset(&sun, 0, sizeof(sun));
        sun.sun_family = AF_UNIX;
        memcpy(sun.sun_path, addr.path, sizeof(sun.sun_path));
        memcpy(&to->sa, &sun, sizeof(sun));
        to->len = sizeof(sun);
        return NULL;
    }
    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    (void)snprintf(port, sizeof(port), "%u", (unsigned)addr.port);
    error = getaddrinfo(addr.host, port, &hints, &list);
    if (error != 0)
        return gai_strerror(error);
    memcpy(&to->sa, list->ai_addr, list->ai_addrlen);
    to->len = list->ai_addrlen;
    freeaddrinfo(list);
    return NULL;
}

/* announce_address writes where |fd| listens to |path|, all at once. */
static int
announce_address(int fd, const char *path)
{
    struct sockaddr_storage own;
    socklen_t len = sizeof(own);
    char text[ADDR_TEXT_MAX], temporary[4096];
    FILE *file;

    if (getsockname(fd, (struct sockaddr *)&own, &len) < 0)
        return -1;
    addr_format_socket((const struct sockaddr *)&own, len, text);
    (void)snprintf(temporary, sizeof(temporary), "%s.new", path);
    file = fopen(temporary, "w");
    if (file == NULL)
        return -1;
    fprintf(file, "%s\n", text);
    return fclose(file) == 0 ? rename(temporary, path) : -1;
}

int
soak_listen(const char *text, const char *announce, const char **wrong)
{
    struct soak_addr addr;
    int fd;

    *wrong = resolve(&addr, text);
    if (*wrong != NULL)
        return -1;
    fd = socket(addr.sa.ss_family, SOCK_STREAM, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&addr.sa, addr.len) == 0
        && listen(fd, 128) == 0 && announce_address(fd, announce) == 0)
        return fd;
    *wrong = strerror(errno);
    return -1;
}

/* read_line reads the line of |path|.  Returns 0, or -1 while there is
 * none. */
static int
read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "r");
    const char *got;

    if (file == NULL)
        return -1;
    got = fgets(line, (int)size, file);
    (void)fclose(file);
    if (got == NULL || strchr(line, '\n') == NULL)
        return -1;
    *strchr(line, '\n') = '\0';
    return 0;
}

int
soak_find_tap(struct soak_addr *addr, const char *text, int patience_ms)
{
    const struct timespec pause = { .tv_nsec = 20000000 };
    char line[ADDR_TEXT_MAX];

    if (text[0] != '@')
        return resolve(addr, text) == NULL ? 0 : -1;
    for (; patience_ms > 0; patience_ms -= 20) {
        if (read_line(text + 1, line, sizeof(line)) == 0)
            return resolve(addr, line) == NULL ? 0 : -1;
        nanosleep(&pause, NULL);
    }
    return -1;
}

int
soak_connect(const struct soak_addr *addr)
{
    int fd = socket(addr->sa.ss_family, SOCK_STREAM, 0), error;

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&addr->sa, addr->len) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

int
soak_receive(int fd, void *to, size_t len)
{
    char *at = to;

    while (len > 0) {
        ssize_t n = recv(fd, at, len, 0);

        if (n <= 0) {
            errno = n == 0 ? ENODATA : errno;
            return -1;
        }
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

void
soak_nonblock(int fd)
{
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void
soak_reset(int fd)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}
