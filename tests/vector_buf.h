/* SPDX-License-Identifier: MIT */
/*
 * A growing array of bytes and the way tests give up.  Test programs have no
 * use for going on without memory, so nothing here returns an error.
 */
#ifndef VECTOR_BUF_H
#define VECTOR_BUF_H

#include <stddef.h>
#include <stdint.h>

/* struct vector_buf grows as bytes are added; all zero is an empty one. */
struct vector_buf {
    /* data holds len bytes and a NUL after them; NULL while empty. */
    uint8_t *data;
    /* len is the number of bytes, cap the room there is. */
    size_t len;
    size_t cap;
};

/* vector_buf_room makes room for |len| more bytes and returns where they go;
 * the caller adds to buf->len what it wrote. */
uint8_t *vector_buf_room(struct vector_buf *buf, size_t len);

/* vector_buf_add appends |len| bytes. */
void vector_buf_add(struct vector_buf *buf, const void *data, size_t len);

/* vector_buf_text appends the characters of |text|. */
void vector_buf_text(struct vector_buf *buf, const char *text);

/* vector_buf_be appends the low |bytes| bytes of |value|, highest first. */
void vector_buf_be(struct vector_buf *buf, uint64_t value, unsigned bytes);

/* vector_buf_le is vector_buf_be with the lowest byte first. */
void vector_buf_le(struct vector_buf *buf, uint64_t value, unsigned bytes);

/* vector_buf_clear frees what |buf| holds and leaves it empty. */
void vector_buf_clear(struct vector_buf *buf);

/* vector_alloc returns |size| bytes of zeros, or ends the program. */
void *vector_alloc(size_t size);

/* vector_grow resizes |ptr| to |count| items of |size| bytes. */
void *vector_grow(void *ptr, size_t count, size_t size);

/* vector_die prints the message and ends the program with status 2: the test
 * itself is broken. */
_Noreturn void vector_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* vector_file_read appends the content of |path|; returns 0 or -1. */
int vector_file_read(struct vector_buf *buf, const char *path);

#endif
