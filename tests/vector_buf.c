/* SPDX-License-Identifier: MIT */
/*
 * Owns growing byte arrays for test programs.  It knows nothing of what the
 * bytes mean.
 */
#include "vector_buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
vector_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

void *
vector_alloc(size_t size)
{
    void *ptr = calloc(1, size);

    if (ptr == NULL) {
        vector_die("out of memory");
    }
    return ptr;
}

void *
vector_grow(void *ptr, size_t count, size_t size)
{
    void *grown = realloc(ptr, count * size);

    if (grown == NULL) {
        vector_die("out of memory");
    }
    return grown;
}

uint8_t *
vector_buf_room(struct vector_buf *buf, size_t len)
{
    if (buf->cap - buf->len <= len) {
        size_t cap = buf->cap < 64 ? 64 : buf->cap * 2;

        if (cap <= buf->len + len) {
            cap = buf->len + len + 1;
        }
        buf->data = vector_grow(buf->data, cap, 1);
        buf->cap = cap;
    }
    return buf->data + buf->len;
}

void
vector_buf_add(struct vector_buf *buf, const void *data, size_t len)
{
    uint8_t *room = vector_buf_room(buf, len);

    if (len > 0) {
        memcpy(room, data, len);
    }
    room[len] = 0;
    buf->len += len;
}

void
vector_buf_text(struct vector_buf *buf, const char *text)
{
    vector_buf_add(buf, text, strlen(text));
}

void
vector_buf_be(struct vector_buf *buf, uint64_t value, unsigned bytes)
{
    while (bytes > 0) {
        uint8_t byte;

        bytes--;
        byte = (uint8_t)(value >> (8 * bytes) & 0xff);
        vector_buf_add(buf, &byte, 1);
    }
}

void
vector_buf_le(struct vector_buf *buf, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(value >> (8 * i) & 0xff);

        vector_buf_add(buf, &byte, 1);
    }
}

void
vector_buf_clear(struct vector_buf *buf)
{
    free(buf->data);
    memset(buf, 0, sizeof(*buf));
}

int
vector_file_read(struct vector_buf *buf, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t n;

    if (file == NULL) {
        return -1;
    }
    do {
        n = fread(vector_buf_room(buf, 65536), 1, 65536, file);
        buf->len += n;
    } while (n > 0);
    buf->data[buf->len] = 0;
    n = (size_t)ferror(file);
    fclose(file);
    return n == 0 ? 0 : -1;
}
