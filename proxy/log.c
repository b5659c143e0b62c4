/* SPDX-License-Identifier: MIT */
/* Owns where diagnostics go and how a line of them looks.  It does not decide
 * what is worth saying, and knows nothing of events. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "net.h"
#include "timefmt.h"

/* struct place is one of the two where lines go. */
struct place {
    /* fd is the open file; -1: not this one. */
    int fd;
    /* n_lost counts the lines that it did not take and nobody has been told
     * of. */
    unsigned long n_lost;
    /* rest is rest_len bytes that are left of a line which it took only a part
     * of, as terminals do: they come before the next one. */
    char rest[LOG_LINE_MAX];
    size_t rest_len;
};

/* state is the one log of the process. */
static struct {
    /* lock guards the places, and lets no two lines mix. */
    pthread_mutex_t lock;
    /* level is the least important one shown. */
    enum log_level level;
    /* path is --log-file, or NULL. */
    const char *path;
    /* file is that file, error is standard error. */
    struct place file;
    struct place error;
} state = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .level = LOG_WARNING,
    .file = {.fd = -1},
    .error = {.fd = STDERR_FILENO},
};

/* log_open does not wait: a FIFO without a reader is refused, and one whose
 * reader pauses must not hold up the traffic. */
static int
log_open(const char *path)
{
    return open(path,
                O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY |
                    O_NONBLOCK,
                0666);
}

/* place_set makes |fd| the file of |place|; what is left of a line belongs to
 * the old one. */
static void
place_set(struct place *place, int fd)
{
    pthread_mutex_lock(&state.lock);
    int old = place->fd;
    place->fd = fd;
    place->rest_len = 0;
    pthread_mutex_unlock(&state.lock);
    if (old >= 0 && old != STDERR_FILENO)
        close(old);
}

int
log_setup(enum log_level level, const char *path)
{
    int fd = path != NULL ? log_open(path) : -1;

    if (path != NULL && fd < 0)
        return -1;
    state.level = level;
    state.path = path;
    place_set(&state.file, fd);
    fd = net_own_output(STDERR_FILENO);
    place_set(&state.error, fd >= 0 ? fd : STDERR_FILENO);
    return 0;
}

void
log_reopen(void)
{
    if (state.path == NULL)
        return;
    int fd = log_open(state.path);
    if (fd < 0)
        log_error("cannot reopen %s: %s; going on in the old file", state.path,
                  strerror(errno));
    else
        place_set(&state.file, fd);
}

/* log_prefix starts a line for |place| and returns its length. */
static size_t
log_prefix(char line[LOG_LINE_MAX], const struct place *place)
{
    char stamp[32] = "";

    if (place == &state.file) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        time_format((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, stamp);
    }
    return (size_t)snprintf(line, LOG_LINE_MAX, "%s%sgrpctap: ", stamp,
                            stamp[0] != '\0' ? " " : "");
}

/* place_push writes what is left of a line.  Returns 1 when nothing is. */
static int
place_push(struct place *place)
{
    ssize_t n = 0;

    if (place->rest_len > 0)
        n = net_try_write(place->fd, place->rest, place->rest_len);
    if (n > 0) {
        place->rest_len -= (size_t)n;
        memmove(place->rest, place->rest + n, place->rest_len);
    }
    return place->rest_len == 0;
}

/* place_put writes a line, now or, if a part is, in time.  It does not block:
 * the event loops log, and a reader that pauses must not hold up the traffic.
 * Returns 1, or 0 when the line is lost. */
static int
place_put(struct place *place, const char *line, size_t len)
{
    if (!place_push(place))
        return 0;
    ssize_t n = net_try_write(place->fd, line, len);
    if (n <= 0)
        return 0;
    place->rest_len = len - (size_t)n;
    memcpy(place->rest, line + n, place->rest_len);
    return 1;
}

/* place_tell_lost says that lines are missing, once there is room again. */
static void
place_tell_lost(struct place *place)
{
    char line[LOG_LINE_MAX];
    size_t len = log_prefix(line, place);

    len += (size_t)snprintf(line + len, sizeof(line) - len,
                            "%lu lines are missing here: they could not be "
                            "written\n",
                            place->n_lost);
    if (place_put(place, line, len))
        place->n_lost = 0;
}

static void
log_send(struct place *place, const char *line, size_t len)
{
    pthread_mutex_lock(&state.lock);
    if (place->n_lost > 0)
        place_tell_lost(place);
    if (!place_put(place, line, len))
        place->n_lost++;
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
    struct place *place = state.path != NULL ? &state.file : &state.error;
    size_t start = log_prefix(line, place);
    va_start(args, format);
    vsnprintf(line + start, sizeof(line) - start - 1, format, args);
    va_end(args);
    log_send(place, line, log_finish(line, start));
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
    log_send(&state.error, line, log_finish(line, 0));
}
