/* SPDX-License-Identifier: MIT */
/*
 * The file or pipe that the sink writes to.  It only takes whole lines, and
 * whatever happens leaves no half one behind:
 *
 * - A regular file on which a write stops short (full disk, quota, file size
 *   limit) is cut back to its last whole line.
 * - A pipe gets as many whole lines a write as are sure to go in all or none
 *   (PIPE_BUF), so that a reader never finds half a line at the end even when
 *   grpctap is killed.  Only a line longer than PIPE_BUF has to go in pieces.
 *
 * An output belongs to one thread at a time.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>
#include <sys/types.h>

/* struct output is an open file or pipe. */
struct output {
    /* path to open; NULL: standard output. */
    const char *path;
    /* name for messages. */
    const char *name;
    /* fd to write to. */
    int fd;
    /* is_file is 1 for a regular file: it can be cut back, and a write that
     * failed may work later. */
    int is_file;
    /* is_pipe is 1 for a pipe or FIFO. */
    int is_pipe;
    /* begun is how many bytes of the next line are in the file already,
     * because they could not be cut off. */
    size_t begun;
};

/* output_open opens |path| for appending, or standard output for NULL.
 * Returns 0, or -1 with errno set. */
int output_open(struct output *out, const char *path);

/* output_reopen opens the path anew and closes the old file; standard output
 * is left alone.  Returns 0; 1 with errno set when closing the old file failed,
 * whose last lines may then be lost (network file systems); or -1 with errno
 * set when the old file stays. */
int output_reopen(struct output *out);

/*
 * output_write writes whole lines from the front of |lines| (|len| > 0 bytes,
 * a newline at the end) and returns how many bytes that was, possibly fewer
 * than |len|; or -1 with errno set and nothing written.
 */
ssize_t output_write(struct output *out, const char *lines, size_t len);

/* output_close closes what output_open opened.  Returns 0, or -1 with errno
 * set: what had been written may be lost (network file systems). */
int output_close(struct output *out);

#endif
