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
    atomic_store(&queue->oldest_us, UINT64_MAX);
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

static void
sample_free(struct what_if_queue *queue, struct what_if_sample *sample)
{
    queue_discharge(queue, sample->entry, size_of(sample->cap));
    free(sample->data);
    free(sample);
}

/* ---- Those that are being collected ---------------------------------- */

static void
note_oldest(struct what_if_queue *queue)
{
    atomic_store(&queue->oldest_us, queue->oldest != NULL
                                        ? queue->oldest->begun_us
                                        : UINT64_MAX);
}

static void
list_add(struct what_if_queue *queue, struct what_if_sample *sample)
{
    pthread_mutex_lock(&queue->lock);
    sample->older = queue->newest;
    sample->newer = NULL;
    if (queue->newest != NULL)
        queue->newest->newer = sample;
    else
        queue->oldest = sample;
    queue->newest = sample;
    note_oldest(queue);
    pthread_mutex_unlock(&queue->lock);
}

/* With the lock. */
static void
list_remove(struct what_if_queue *queue, struct what_if_sample *sample)
{
    /* Whoever took its room has done it. */
    if (atomic_load(&sample->state) == WHAT_IF_GONE)
        return;
    if (sample->older != NULL)
        sample->older->newer = sample->newer;
    else
        queue->oldest = sample->newer;
    if (sample->newer != NULL)
        sample->newer->older = sample->older;
    else
        queue->newest = sample->older;
    note_oldest(queue);
}

void
what_if_queue_drop(struct what_if_queue *queue, struct what_if_sample *sample)
{
    if (sample == NULL)
        return;
    pthread_mutex_lock(&queue->lock);
    list_remove(queue, sample);
    pthread_mutex_unlock(&queue->lock);
    sample_free(queue, sample);
}

/* Takes the room of |sample|, unless its worker is at it; with the lock. */
static void
take_room(struct what_if_queue *queue, struct what_if_sample *sample)
{
    int is_free = WHAT_IF_FREE;

    if (!atomic_compare_exchange_strong(&sample->state, &is_free,
                                        WHAT_IF_HELD))
        return;
    list_remove(queue, sample);
    queue_discharge(queue, sample->entry, sample->cap);
    free(sample->data);
    sample->data = NULL;
    sample->cap = 0;
    atomic_store(&sample->state, WHAT_IF_GONE);
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

        sample_free(queue, sample);
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
is_old(uint64_t begun_us, uint64_t now_us)
{
    return begun_us <= now_us && now_us - begun_us >= WHAT_IF_PATIENT_US;
}

static int
has_room(const struct what_if_queue *queue, const struct what_if_entry *entry)
{
    return atomic_load(&entry->held) < WHAT_IF_ENTRY_BYTES &&
           atomic_load(&queue->held) + size_of(WHAT_IF_MESSAGE_MAX) <=
               WHAT_IF_QUEUE_BYTES;
}

/* Has those that have been coming for too long make room, the oldest first: of
 * |entry|, when it is that which has too many bytes. */
static void
make_room(struct what_if_queue *queue, const struct what_if_entry *entry,
          uint64_t now_us)
{
    struct what_if_sample *sample, *newer;
    int is_own = atomic_load(&entry->held) >= WHAT_IF_ENTRY_BYTES;

    if (has_room(queue, entry) ||
        !is_old(atomic_load(&queue->oldest_us), now_us))
        return;
    pthread_mutex_lock(&queue->lock);
    for (sample = queue->oldest;
         sample != NULL && !has_room(queue, entry) &&
         is_old(sample->begun_us, now_us);
         sample = newer) {
        newer = sample->newer;
        if (!is_own || sample->entry == entry)
            take_room(queue, sample);
    }
    pthread_mutex_unlock(&queue->lock);
}

static int
queue_is_busy(const struct what_if_queue *queue,
              const struct what_if_entry *entry)
{
    return atomic_load(&queue->head) - atomic_load(&queue->tail) >=
               WHAT_IF_QUEUE_MAX ||
           atomic_load(&entry->n_waiting) >= WHAT_IF_ENTRY_MAX ||
           !has_room(queue, entry);
}

static struct what_if_sample *
sample_make(struct what_if_entry *entry, size_t cap)
{
    struct what_if_sample *sample = calloc(1, sizeof(*sample));

    if (sample == NULL)
        return NULL;
    sample->entry = entry;
    sample->cap = cap;
    sample->data = malloc(cap);
    if (sample->data != NULL)
        return sample;
    free(sample);
    return NULL;
}

enum what_if_skip
what_if_queue_begin(struct what_if_queue *queue, struct what_if_entry *entry,
                    size_t expected, uint64_t now_us,
                    struct what_if_sample **sample)
{
    size_t cap = expected < CAP_MIN     ? CAP_MIN
                 : expected > CAP_FIRST ? CAP_FIRST
                                        : expected;

    *sample = NULL;
    if (expected > WHAT_IF_MESSAGE_MAX)
        return WHAT_IF_LARGE;
    queue_free_spent(queue);
    make_room(queue, entry, now_us);
    if (queue_is_busy(queue, entry) ||
        queue_charge(queue, entry, size_of(cap)) != 0)
        return WHAT_IF_BUSY;
    *sample = sample_make(entry, cap);
    if (*sample == NULL) {
        queue_discharge(queue, entry, size_of(cap));
        return WHAT_IF_MEMORY;
    }
    (*sample)->expected = expected;
    (*sample)->begun_us = now_us;
    list_add(queue, *sample);
    return WHAT_IF_TAKEN;
}

/* How much room to make for |need| bytes: doublings, but no more than the
 * message was said to need. */
static size_t
grown_cap(const struct what_if_sample *sample, size_t need)
{
    size_t cap = sample->cap;

    while (cap < need)
        cap *= 2;
    if (sample->expected >= need && cap > sample->expected)
        cap = sample->expected;
    return cap > WHAT_IF_MESSAGE_MAX ? WHAT_IF_MESSAGE_MAX : cap;
}

/* Makes room for |len| more bytes. */
static enum what_if_skip
queue_grow(struct what_if_queue *queue, struct what_if_sample *sample,
           size_t len)
{
    size_t old = sample->cap;
    size_t cap;
    uint8_t *grown;

    if (len <= old - sample->len)
        return WHAT_IF_TAKEN;
    if (len > WHAT_IF_MESSAGE_MAX - sample->len)
        return WHAT_IF_LARGE;
    cap = grown_cap(sample, sample->len + len);
    if (queue_charge(queue, sample->entry, cap - old) != 0)
        return WHAT_IF_BUSY;
    grown = realloc(sample->data, cap);
    if (grown == NULL) {
        queue_discharge(queue, sample->entry, cap - old);
        return WHAT_IF_MEMORY;
    }
    sample->cap = cap;
    sample->data = grown;
    return WHAT_IF_TAKEN;
}

enum what_if_skip
what_if_queue_add(struct what_if_queue *queue, struct what_if_sample **sample,
                  const uint8_t *data, size_t len)
{
    struct what_if_sample *own = *sample;
    enum what_if_skip skip = WHAT_IF_BUSY;
    int is_free = WHAT_IF_FREE;

    if (atomic_compare_exchange_strong(&own->state, &is_free, WHAT_IF_HELD)) {
        skip = queue_grow(queue, own, len);
        if (skip == WHAT_IF_TAKEN) {
            memcpy(own->data + own->len, data, len);
            own->len += len;
        }
        atomic_store(&own->state, WHAT_IF_FREE);
    }
    if (skip != WHAT_IF_TAKEN) {
        what_if_queue_drop(queue, own);
        *sample = NULL;
    }
    return skip;
}

/* With the lock; returns 0 when there is no place, or no message any more. */
static int
ring_put(struct what_if_queue *queue, struct what_if_sample *sample)
{
    size_t head = atomic_load(&queue->head);

    if (atomic_load(&sample->state) == WHAT_IF_GONE ||
        head - atomic_load(&queue->tail) >= WHAT_IF_QUEUE_MAX)
        return 0;
    list_remove(queue, sample);
    atomic_fetch_add(&sample->entry->n_waiting, 1);
    queue->ring[head % WHAT_IF_QUEUE_MAX] = sample;
    atomic_store(&queue->head, head + 1);
    return 1;
}

enum what_if_skip
what_if_queue_put(struct what_if_queue *queue, struct what_if_sample *sample)
{
    int is_put;

    pthread_mutex_lock(&queue->lock);
    is_put = ring_put(queue, sample);
    pthread_mutex_unlock(&queue->lock);
    if (is_put)
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
