/* SPDX-License-Identifier: MIT */
/* Owns the blocks that lines wait in.  When to wait and where the lines go is
 * the sink's. */
#include "queue.h"

#include <stdlib.h>
#include <string.h>

/* struct block is a piece of the queue, or a lane's buffer; the lanes see
 * only bytes. */
struct block {
    /* next block of the queue or of the spares. */
    struct block *next;
    /* pos is how far it has been taken off. */
    size_t pos;
    /* len is how far it is filled. */
    size_t len;
    /* cap is the size of bytes. */
    size_t cap;
    /* bytes are whole lines. */
    char bytes[];
};

static struct block *
block_of(char *bytes)
{
    return (struct block *)(void *)(bytes - offsetof(struct block, bytes));
}

char *
queue_block_grow(char *block, size_t used, size_t len, size_t *cap)
{
    size_t want = block != NULL ? block_of(block)->cap : QUEUE_BLOCK;

    while (want < len)
        want = want < SIZE_MAX / 4 ? want * 2 : len;
    if (want > SIZE_MAX - sizeof(struct block))
        return NULL;
    struct block *b = malloc(sizeof(*b) + want);
    if (b == NULL)
        return NULL;
    b->cap = want;
    if (block != NULL)
        memcpy(b->bytes, block, used);
    queue_block_free(block);
    *cap = want;
    return b->bytes;
}

void
queue_block_free(char *block)
{
    if (block != NULL)
        free(block_of(block));
}

/* queue_retire keeps a used block for queue_put, or frees it. */
static void
queue_retire(struct queue *queue, struct block *b)
{
    if (queue->n_spares >= QUEUE_SPARES_MAX || b->cap > QUEUE_BLOCK * 4) {
        free(b);
        return;
    }
    b->next = queue->spares;
    queue->spares = b;
    queue->n_spares++;
}

static char *
queue_take_spare(struct queue *queue, size_t *cap)
{
    struct block *b = queue->spares;

    *cap = b != NULL ? b->cap : 0;
    if (b == NULL)
        return NULL;
    queue->spares = b->next;
    queue->n_spares--;
    return b->bytes;
}

/* queue_append copies |len| bytes behind the last block when there is room: a
 * slow trickle of lines must not cost a block each.  Returns 1 if so. */
static int
queue_append(struct queue *queue, const char *bytes, size_t len)
{
    struct block *tail = queue->tail;

    if (tail == NULL || tail->cap - tail->len < len)
        return 0;
    memcpy(tail->bytes + tail->len, bytes, len);
    tail->len += len;
    return 1;
}

static void
queue_link(struct queue *queue, struct block *b, size_t len)
{
    b->next = NULL;
    b->pos = 0;
    b->len = len;
    if (queue->tail != NULL)
        queue->tail->next = b;
    else
        queue->head = b;
    queue->tail = b;
}

char *
queue_put(struct queue *queue, char *block, size_t len, size_t *cap)
{
    queue->len += len;
    if (queue_append(queue, block, len))
        return block;
    queue_link(queue, block_of(block), len);
    return queue_take_spare(queue, cap);
}

const char *
queue_front(const struct queue *queue, size_t *len)
{
    const struct block *head = queue->head;

    if (head == NULL)
        return NULL;
    *len = head->len - head->pos;
    return head->bytes + head->pos;
}

void
queue_advance(struct queue *queue, size_t n)
{
    struct block *head = queue->head;

    head->pos += n;
    queue->len -= n;
    if (head->pos < head->len)
        return;
    queue->head = head->next;
    if (queue->head == NULL)
        queue->tail = NULL;
    queue_retire(queue, head);
}

uint64_t
queue_count_lines(const struct queue *queue)
{
    uint64_t n = 0;

    for (const struct block *b = queue->head; b != NULL; b = b->next)
        for (size_t i = b->pos; i < b->len; i++)
            n += b->bytes[i] == '\n';
    return n;
}

static void
blocks_free(struct block *b)
{
    while (b != NULL) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
}

void
queue_clear(struct queue *queue)
{
    blocks_free(queue->head);
    blocks_free(queue->spares);
    memset(queue, 0, sizeof(*queue));
}
