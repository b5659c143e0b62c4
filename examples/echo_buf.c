/* SPDX-License-Identifier: MIT */
/*
 * echo_buf owns the growth and the compaction of a byte buffer.  It does not
 * limit its size: the callers know how long a message may be.
 */
#include "echo_buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Smallest block: one small message with its prefix, without regrowing. */
#define BUF_MIN 256u

/* A drained block larger than this goes back to the allocator at once, so that
 * one large message does not stay on an idle stream's account. */
#define BUF_KEEP (256u << 10)

void
echo_buf_clear(struct echo_buf *buf)
{
    free(buf->data);
    *buf = (struct echo_buf){0};
}

void
echo_buf_reset(struct echo_buf *buf)
{
    if (buf->cap > BUF_KEEP) {
        echo_buf_clear(buf);
    } else {
        buf->start = 0;
        buf->end = 0;
    }
}

size_t
echo_buf_len(const struct echo_buf *buf)
{
    return buf->end - buf->start;
}

const uint8_t *
echo_buf_bytes(const struct echo_buf *buf)
{
    static const uint8_t none[1];

    return buf->data == NULL ? none : buf->data + buf->start;
}

/* Moving the waiting bytes to the front costs their length; doing it only when
 * they are the smaller part keeps the total linear. */
static void
buf_compact(struct echo_buf *buf)
{
    size_t len = echo_buf_len(buf);

    if (buf->start > len) {
        memcpy(buf->data, buf->data + buf->start, len);
        buf->start = 0;
        buf->end = len;
    }
}

static int
buf_grow(struct echo_buf *buf, size_t need)
{
    size_t cap = buf->cap < BUF_MIN ? BUF_MIN : buf->cap;

    while (cap < need) {
        if (cap > SIZE_MAX / 2)
            return -1;
        cap *= 2;
    }
    uint8_t *data = realloc(buf->data, cap);
    if (data == NULL)
        return -1;
    buf->data = data;
    buf->cap = cap;
    return 0;
}

uint8_t *
echo_buf_reserve(struct echo_buf *buf, size_t len)
{
    if (len > buf->cap - buf->end)
        buf_compact(buf);
    if (len > SIZE_MAX - buf->end)
        return NULL;
    if (len > buf->cap - buf->end || buf->data == NULL) {
        if (buf_grow(buf, buf->end + len) != 0)
            return NULL;
    }
    return buf->data + buf->end;
}

void
echo_buf_commit(struct echo_buf *buf, size_t len)
{
    assert(len <= buf->cap - buf->end);
    buf->end += len;
}

int
echo_buf_append(struct echo_buf *buf, const void *data, size_t len)
{
    if (len == 0)
        return 0;
    uint8_t *to = echo_buf_reserve(buf, len);
    if (to == NULL)
        return -1;
    memcpy(to, data, len);
    buf->end += len;
    return 0;
}

void
echo_buf_consume(struct echo_buf *buf, size_t len)
{
    assert(len <= echo_buf_len(buf));
    buf->start += len;
    if (buf->start == buf->end)
        echo_buf_reset(buf);
}
