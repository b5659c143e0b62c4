/* SPDX-License-Identifier: MIT */
/* Owns the descriptor the events go to, and the promise that no half line is
 * left on it.  It keeps no queue, has no thread and logs nothing. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY)

/* output_end_torn_line ends a line that a killed program left without its
 * newline, so that only that line is lost and not also our first. */
static void
output_end_torn_line(const struct output *out)
{
    struct stat st;
    char last = '\n';

    if (fstat(out->fd, &st) != 0 || st.st_size == 0)
        return;
    int fd = open(out->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return;
    if (pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n') {
        /* When this fails so will the first real write, which is told. */
        ssize_t ignored = write(out->fd, "\n", 1);
        (void)ignored;
    }
    close(fd);
}

static int
output_adopt(struct output *out, int fd)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return -1;
    out->fd = fd;
    out->begun = 0;
    out->is_file = S_ISREG(st.st_mode);
    out->is_pipe = S_ISFIFO(st.st_mode);
    if (out->is_file && out->path != NULL)
        output_end_torn_line(out);
    return 0;
}

int
output_open(struct output *out, const char *path)
{
    out->path = path;
    out->name = path != NULL ? path : "standard output";
    /* A FIFO blocks here until it has a reader, as in a shell. */
    return output_adopt(out, path != NULL ? open(path, OPEN_FLAGS, 0666)
                                          : STDOUT_FILENO);
}

int
output_reopen(struct output *out)
{
    int old = out->fd;

    if (out->path == NULL)
        return 0;
    /* Unlike at the start a FIFO without a reader must not block now. */
    int fd = open(out->path, OPEN_FLAGS | O_NONBLOCK, 0666);
    if (fd < 0)
        return -1;
    if (fcntl(fd, F_SETFL, O_APPEND) != 0 || output_adopt(out, fd) != 0) {
        close(fd);
        return -1;
    }
    return close(old) == 0 ? 0 : 1;
}

/* output_put is write(2) that waits when somebody we share the descriptor
 * with has made it non-blocking. */
static ssize_t
output_put(const struct output *out, const char *bytes, size_t len)
{
    for (;;) {
        ssize_t n = write(out->fd, bytes, len);
        if (n > 0)
            return n;
        if (n == 0)
            errno = EIO;
        else if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = out->fd, .events = POLLOUT}, 1, -1);
        if (errno != EAGAIN && errno != EINTR)
            return -1;
    }
}

/* output_whole returns how many of the first |len| bytes of |lines| are whole
 * lines. */
static size_t
output_whole(const char *lines, size_t len)
{
    while (len > 0 && lines[len - 1] != '\n')
        len--;
    return len;
}

/* output_portion returns how much of |lines| to write at once: as many whole
 * lines as fit in PIPE_BUF, or the first one if it does not. */
static size_t
output_portion(const char *lines, size_t len)
{
    if (len <= PIPE_BUF)
        return len;
    size_t whole = output_whole(lines, PIPE_BUF);
    if (whole > 0)
        return whole;
    const char *end = memchr(lines + PIPE_BUF, '\n', len - PIPE_BUF);
    return end != NULL ? (size_t)(end - lines) + 1 : len;
}

/* output_cut_back takes the last |partial| bytes off the file.  Returns 0, or
 * -1 when that cannot be: the file may only grow, or another process has
 * written behind us, whose bytes are not ours to cut. */
static int
output_cut_back(const struct output *out, size_t partial)
{
    struct stat st;
    off_t end = lseek(out->fd, 0, SEEK_CUR);
    off_t keep = end - (off_t)partial;

    if (partial == 0)
        return 0;
    if (keep < 0 || fstat(out->fd, &st) != 0 || st.st_size != end ||
        ftruncate(out->fd, keep) != 0)
        return -1;
    /* Without O_APPEND the old offset would leave a hole. */
    lseek(out->fd, keep, SEEK_SET);
    return 0;
}

/* output_settle ends a write that failed after |done| of the bytes at
 * |lines|: the whole lines among them count, the rest is taken back or, if
 * that cannot be, completed by the next write. */
static ssize_t
output_settle(struct output *out, const char *lines, size_t done)
{
    int saved = errno;
    size_t whole = output_whole(lines, done);

    if (out->is_file && output_cut_back(out, done - whole) != 0)
        out->begun = done - whole;
    errno = saved;
    return whole > 0 ? (ssize_t)whole : -1;
}

ssize_t
output_write(struct output *out, const char *lines, size_t len)
{
    size_t done = out->begun;

    out->begun = 0;
    if (out->is_pipe)
        len = output_portion(lines, len);
    while (done < len) {
        ssize_t n = output_put(out, lines + done, len - done);
        if (n < 0)
            return output_settle(out, lines, done);
        done += (size_t)n;
    }
    return (ssize_t)done;
}

int
output_close(struct output *out)
{
    return out->path != NULL ? close(out->fd) : 0;
}
