/* SPDX-License-Identifier: MIT */
/* Owns where diagnostics go and how a line of them looks.  It does not decide
 * what is worth saying, and knows nothing of events. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "timefmt.h"

/* state is the one log of the process. */
static struct {
    /* lock guards fd against a reopen while a line is written. */
    pthread_mutex_t lock;
    /* level is the least important one shown. */
    enum log_level level;
    /* path is --log-file, or NULL. */
    const char *path;
    /* fd is where lines go. */
    int fd;
    /* n_lost counts the lines that a full pipe or terminal did not take and
     * nobody has been told of. */
    unsigned long n_lost;
} state = {PTHREAD_MUTEX_INITIALIZER, LOG_WARNING, NULL, STDERR_FILENO, 0};

static int
log_open(const char *path)
{
    /* A FIFO without a reader must not hold up the traffic: it is refused. */
    int fd = open(path,
                  O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY |
                      O_NONBLOCK,
                  0666);

    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, O_APPEND);
    return fd;
}

int
log_setup(enum log_level level, const char *path)
{
    int fd = STDERR_FILENO;

    if (path != NULL)
        fd = log_open(path);
    if (fd < 0)
        return -1;
    state.level = level;
    state.path = path;
    state.fd = fd;
    return 0;
}

void
log_reopen(void)
{
    if (state.path == NULL)
        return;
    int fd = log_open(state.path);
    if (fd < 0) {
        log_error("cannot reopen %s: %s; going on in the old file", state.path,
                  strerror(errno));
        return;
    }
    pthread_mutex_lock(&state.lock);
    int old = state.fd;
    state.fd = fd;
    pthread_mutex_unlock(&state.lock);
    close(old);
}

/* log_prefix starts a line and returns its length. */
static size_t
log_prefix(char line[LOG_LINE_MAX])
{
    char stamp[32] = "";

    if (state.path != NULL) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        time_format((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, stamp);
    }
    return (size_t)snprintf(line, LOG_LINE_MAX, "%s%sgrpctap: ", stamp,
                            stamp[0] != '\0' ? " " : "");
}

/* log_try writes a line where it does not block: the event loops log, and a
 * pipe that nobody reads must not hold up the traffic.  A writable pipe takes
 * PIPE_BUF bytes at least, which is more than a line. */
static int
log_try(int fd, const char *line, size_t len)
{
    struct pollfd room = {fd, POLLOUT, 0};

    if (poll(&room, 1, 0) == 0)
        return -1;
    /* There is nobody left to tell when this fails. */
    ssize_t ignored = write(fd, line, len);
    (void)ignored;
    return 0;
}

/* log_tell_lost says that lines are missing, once there is room again. */
static void
log_tell_lost(int fd)
{
    char line[96];
    int len = snprintf(line, sizeof(line),
                       "grpctap: %lu lines are missing here: they could not "
                       "be written\n",
                       state.n_lost);

    if (log_try(fd, line, (size_t)len) == 0)
        state.n_lost = 0;
}

/* log_send writes to |fd|, or where the log goes when that is -1. */
static void
log_send(int fd, const char *line, size_t len)
{
    pthread_mutex_lock(&state.lock);
    if (fd < 0)
        fd = state.fd;
    if (state.n_lost > 0)
        log_tell_lost(fd);
    if (log_try(fd, line, len) < 0)
        state.n_lost++;
    pthread_mutex_unlock(&state.lock);
}

/* log_finish makes the message from |start| on a line; returns its length. */
static size_t
log_finish(char line[LOG_LINE_MAX], size_t start)
{
    size_t len = strlen(line);

    for (size_t i = start; i < len; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    line[len++] = '\n';
    return len;
}

void
log_write(enum log_level level, const char *format, ...)
{
    char line[LOG_LINE_MAX];
    int saved = errno;
    va_list args;

    if (level > state.level)
        return;
    size_t start = log_prefix(line);
    va_start(args, format);
    vsnprintf(line + start, sizeof(line) - start - 1, format, args);
    va_end(args);
    log_send(-1, line, log_finish(line, start));
    errno = saved;
}

void
log_print(const char *format, ...)
{
    char line[LOG_LINE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    log_send(STDERR_FILENO, line, log_finish(line, 0));
}
