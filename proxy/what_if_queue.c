/* SPDX-License-Identifier: MIT */
/* Owns the samples of --what-if: their memory and the way from the workers to
 * the thread.  What goes into one is what_if_tap.c's. */
#include "what_if_queue.h"

#include <stdlib.h>
#include <string.h>

/* CAP_MIN is the least room a sample has, CAP_FIRST the most it has before its
 * bytes have come: a declared length alone costs nothing. */
#define CAP_MIN 256
#define CAP_FIRST (64u << 10)

void
what_if_queue_init(struct what_if_queue *queue)
{
    memset(queue, 0, sizeof(*queue));
    pthread_mutex_init(&queue->lock, NULL);
}

static size_t
size_of(size_t cap)
{
    return sizeof(struct what_if_sample) + cap;
}

static void
queue_discharge(struct what_if_queue *queue, struct what_if_entry *entry,
                size_t size)
{
    atomic_fetch_sub(&queue->held, size);
    atomic_fetch_sub(&entry->held, size);
}

/* Returns 0, or -1 when |size| bytes more would be too many. */
static int
queue_charge(struct what_if_queue *queue, struct what_if_entry *entry,
             size_t size)
{
    atomic_fetch_add(&entry->held, size);
    if (atomic_fetch_add(&queue->held, size) + size <= WHAT_IF_QUEUE_BYTES)
        return 0;
    queue_discharge(queue, entry, size);
    return -1;
}

void
what_if_queue_drop(struct what_if_queue *queue, struct what_if_sample *sample)
{
    if (sample == NULL)
        return;
    queue_discharge(queue, sample->entry, size_of(sample->cap));
    free(sample);
}

static void
queue_free_spent(struct what_if_queue *queue)
{
    struct what_if_sample *sample;

    if (atomic_load_explicit(&queue->spent, memory_order_relaxed) == NULL)
        return;
    sample = atomic_exchange(&queue->spent, NULL);
    while (sample != NULL) {
        struct what_if_sample *next = sample->next;

        what_if_queue_drop(queue, sample);
        sample = next;
    }
}

void
what_if_queue_clear(struct what_if_queue *queue)
{
    struct what_if_sample *sample = what_if_queue_take(queue);

    for (; sample != NULL; sample = what_if_queue_take(queue))
        what_if_queue_done(queue, sample);
    queue_free_spent(queue);
    pthread_mutex_destroy(&queue->lock);
}

static int
queue_is_busy(const struct what_if_queue *queue,
              const struct what_if_entry *entry)
{
    return atomic_load(&queue->head) - atomic_load(&queue->tail) >=
               WHAT_IF_QUEUE_MAX ||
           atomic_load(&entry->n_waiting) >= WHAT_IF_ENTRY_MAX ||
           atomic_load(&entry->held) >= WHAT_IF_ENTRY_BYTES ||
           atomic_load(&queue->held) + size_of(WHAT_IF_MESSAGE_MAX) >
               WHAT_IF_QUEUE_BYTES;
}

enum what_if_skip
what_if_queue_begin(struct what_if_queue *queue, struct what_if_entry *entry,
                    size_t expected, struct what_if_sample **sample)
{
    size_t cap = expected < CAP_MIN     ? CAP_MIN
                 : expected > CAP_FIRST ? CAP_FIRST
                                        : expected;
    struct what_if_sample *made;

    *sample = NULL;
    if (expected > WHAT_IF_MESSAGE_MAX)
        return WHAT_IF_LARGE;
    queue_free_spent(queue);
    if (queue_is_busy(queue, entry) ||
        queue_charge(queue, entry, size_of(cap)) != 0)
        return WHAT_IF_BUSY;
    made = malloc(size_of(cap));
    if (made == NULL) {
        queue_discharge(queue, entry, size_of(cap));
        return WHAT_IF_MEMORY;
    }
    made->next = NULL;
    made->entry = entry;
    made->len = 0;
    made->cap = cap;
    *sample = made;
    return WHAT_IF_TAKEN;
}

/* Makes room for |len| more bytes. */
static enum what_if_skip
queue_grow(struct what_if_queue *queue, struct what_if_sample **sample,
           size_t len)
{
    size_t old = (*sample)->cap;
    size_t cap = old;
    struct what_if_sample *grown;

    if (len > WHAT_IF_MESSAGE_MAX - (*sample)->len)
        return WHAT_IF_LARGE;
    while (cap < (*sample)->len + len)
        cap *= 2;
    if (cap > WHAT_IF_MESSAGE_MAX)
        cap = WHAT_IF_MESSAGE_MAX;
    if (queue_charge(queue, (*sample)->entry, cap - old) != 0)
        return WHAT_IF_BUSY;
    grown = realloc(*sample, size_of(cap));
    if (grown == NULL) {
        queue_discharge(queue, (*sample)->entry, cap - old);
        return WHAT_IF_MEMORY;
    }
    grown->cap = cap;
    *sample = grown;
    return WHAT_IF_TAKEN;
}

enum what_if_skip
what_if_queue_add(struct what_if_queue *queue, struct what_if_sample **sample,
                  const uint8_t *data, size_t len)
{
    if (len > (*sample)->cap - (*sample)->len) {
        enum what_if_skip skip = queue_grow(queue, sample, len);

        if (skip != WHAT_IF_TAKEN) {
            what_if_queue_drop(queue, *sample);
            *sample = NULL;
            return skip;
        }
    }
    memcpy((*sample)->data + (*sample)->len, data, len);
    (*sample)->len += len;
    return WHAT_IF_TAKEN;
}

enum what_if_skip
what_if_queue_put(struct what_if_queue *queue, struct what_if_sample *sample)
{
    size_t head;
    int is_full;

    pthread_mutex_lock(&queue->lock);
    head = atomic_load(&queue->head);
    is_full = head - atomic_load(&queue->tail) >= WHAT_IF_QUEUE_MAX;
    if (!is_full) {
        atomic_fetch_add(&sample->entry->n_waiting, 1);
        queue->ring[head % WHAT_IF_QUEUE_MAX] = sample;
        atomic_store(&queue->head, head + 1);
    }
    pthread_mutex_unlock(&queue->lock);
    if (!is_full)
        return WHAT_IF_TAKEN;
    what_if_queue_drop(queue, sample);
    return WHAT_IF_BUSY;
}

struct what_if_sample *
what_if_queue_take(struct what_if_queue *queue)
{
    size_t tail = atomic_load(&queue->tail);
    struct what_if_sample *sample;

    if (tail == atomic_load(&queue->head))
        return NULL;
    sample = queue->ring[tail % WHAT_IF_QUEUE_MAX];
    atomic_store(&queue->tail, tail + 1);
    atomic_fetch_sub(&sample->entry->n_waiting, 1);
    return sample;
}

void
what_if_queue_done(struct what_if_queue *queue, struct what_if_sample *sample)
{
    sample->next = atomic_load(&queue->spent);
    while (!atomic_compare_exchange_weak(&queue->spent, &sample->next, sample))
        continue;
}
