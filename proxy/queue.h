/* SPDX-License-Identifier: MIT */
/*
 * A queue of whole lines in blocks of memory that change hands instead of
 * being copied: the block a lane has filled becomes a piece of the queue, and
 * the lane gets an empty one back.  No locks: the sink has one.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <stddef.h>
#include <stdint.h>

/* QUEUE_BLOCK is the size of a new block: a pipe's capacity, and few enough
 * system calls for a file. */
#define QUEUE_BLOCK (64u << 10)

/* QUEUE_SPARES_MAX bounds the empty blocks kept: one for each of a few
 * lanes. */
#define QUEUE_SPARES_MAX 4

struct block;

/* struct queue is all zero when empty. */
struct queue {
    /* head and tail are the blocks, oldest first. */
    struct block *head;
    struct block *tail;
    /* spares are n_spares empty blocks. */
    struct block *spares;
    unsigned n_spares;
    /* len is how many bytes are in the queue. */
    size_t len;
};

/*
 * queue_block_grow returns a block with room for |len| bytes at least, holding
 * the first |used| bytes of |block| (NULL: a new one), and sets |*cap| to its
 * size.  NULL: memory; |block| is then as before.
 */
char *queue_block_grow(char *block, size_t used, size_t len, size_t *cap);

/* queue_block_free frees a block; NULL is fine. */
void queue_block_free(char *block);

/*
 * queue_put puts |len| bytes at the start of |block|, which becomes the
 * queue's, behind the others.  Returns the empty block to go on with (its size
 * in |*cap|) or NULL for none at hand.  It cannot fail.
 */
char *queue_put(struct queue *queue, char *block, size_t len, size_t *cap);

/* queue_front returns the oldest bytes, |*len| of them, or NULL: empty.  They
 * stay in place until queue_advance, also while more is put. */
const char *queue_front(const struct queue *queue, size_t *len);

/* queue_advance takes |n| bytes off the front, of those of queue_front. */
void queue_advance(struct queue *queue, size_t n);

/* queue_count_lines returns how many lines are in the queue. */
uint64_t queue_count_lines(const struct queue *queue);

/* queue_clear empties the queue and frees its memory. */
void queue_clear(struct queue *queue);

#endif
