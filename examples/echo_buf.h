/* SPDX-License-Identifier: MIT */
/*
 * echo_buf: a growable run of bytes that is written at the end and consumed
 * from the front.  It owns its memory and nothing else; what the bytes mean is
 * up to the caller.
 */
#ifndef ECHO_BUF_H
#define ECHO_BUF_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty buffer, ready for use. */
struct echo_buf {
    uint8_t *data; /* the allocated block, or NULL */
    size_t start;  /* offset of the first byte not yet consumed */
    size_t end;    /* offset one past the last byte written */
    size_t cap;    /* size of the block */
};

/* echo_buf_clear frees the memory and leaves an empty buffer. */
void echo_buf_clear(struct echo_buf *buf);

/* echo_buf_reset drops the bytes and keeps the memory. */
void echo_buf_reset(struct echo_buf *buf);

/* echo_buf_len returns how many bytes are waiting to be consumed. */
size_t echo_buf_len(const struct echo_buf *buf);

/*
 * echo_buf_bytes returns the first waiting byte.  The pointer is never NULL
 * and is valid until the buffer is next written to, consumed or cleared.
 */
const uint8_t *echo_buf_bytes(const struct echo_buf *buf);

/*
 * echo_buf_reserve makes room for `len` more bytes and returns where they go,
 * or NULL when there is no memory.  echo_buf_commit then adds those written.
 */
uint8_t *echo_buf_reserve(struct echo_buf *buf, size_t len);
void echo_buf_commit(struct echo_buf *buf, size_t len);

/* echo_buf_append copies `len` bytes to the end; -1 when out of memory. */
int echo_buf_append(struct echo_buf *buf, const void *data, size_t len);

/* echo_buf_consume drops `len` waiting bytes from the front. */
void echo_buf_consume(struct echo_buf *buf, size_t len);

#endif
