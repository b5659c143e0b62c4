/* SPDX-License-Identifier: MIT */
/*
 * The messages that wait for the thread of --what-if, and the memory of all
 * that are being collected for it.  Workers put, under a lock that they share;
 * one thread takes, without it, and frees nothing: that is left to the workers,
 * whose allocator it would lock.
 */
#ifndef WHAT_IF_QUEUE_H
#define WHAT_IF_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "what_if_table.h"

/* WHAT_IF_MESSAGE_MAX bounds a message that is tried: the receive limit that
 * gRPC stacks have unless told otherwise. */
#define WHAT_IF_MESSAGE_MAX (4u << 20)

/* WHAT_IF_QUEUE_BYTES bounds all of them, those that are being collected
 * included.  A message is begun only while the longest one would fit, so that
 * none is passed over for its size. */
#define WHAT_IF_QUEUE_BYTES (16u << 20)

/* WHAT_IF_QUEUE_MAX bounds their number: what waits must not be old. */
#define WHAT_IF_QUEUE_MAX 1024

/* WHAT_IF_ENTRY_MAX and WHAT_IF_ENTRY_BYTES bound those of one entry, so that a
 * busy method leaves room for the others: it begins no more messages while it
 * has so many waiting, or so many bytes held. */
#define WHAT_IF_ENTRY_MAX 256
#define WHAT_IF_ENTRY_BYTES (2u << 20)

/* WHAT_IF_PATIENT_US is how long a message may take to come and be sure of its
 * room.  One that takes longer, as an endless or a stalled one does, loses it
 * to the next that has none. */
#define WHAT_IF_PATIENT_US 10000000u

/* enum what_if_collecting is what may be done with the data of a sample that is
 * being collected. */
enum what_if_collecting {
    WHAT_IF_FREE, /* whoever sets another state first has it */
    WHAT_IF_HELD, /* its worker is adding to it */
    WHAT_IF_GONE  /* its room was taken: its worker frees the rest */
};

/* struct what_if_sample is a message, decompressed. */
struct what_if_sample {
    /* next links samples that are to be freed. */
    struct what_if_sample *next;
    /* older and newer link those that are being collected; under the lock. */
    struct what_if_sample *older;
    struct what_if_sample *newer;
    /* entry is what it belongs to. */
    struct what_if_entry *entry;
    /* begun_us is when it was begun, state an enum what_if_collecting. */
    uint64_t begun_us;
    atomic_int state;
    /* expected is how long the message was said to be, or a guess. */
    size_t expected;
    /* data has len bytes and room for cap. */
    size_t len;
    size_t cap;
    uint8_t *data;
};

/* struct what_if_queue is the ring of those that wait. */
struct what_if_queue {
    /* lock is for workers, each of which may wait for another, to begin, to
     * put and to drop.  The thread, of the lowest priority, never takes it. */
    pthread_mutex_t lock;
    /* head counts those put, tail those taken. */
    _Atomic size_t head;
    _Atomic size_t tail;
    /* held is the bytes of all samples. */
    _Atomic size_t held;
    /* oldest and newest are the ends of the list of those being collected, in
     * the order they were begun; under the lock.  oldest_us is when the oldest
     * was begun, UINT64_MAX when there is none: to be looked at without. */
    struct what_if_sample *oldest;
    struct what_if_sample *newest;
    _Atomic uint64_t oldest_us;
    /* spent are to be freed by a worker. */
    struct what_if_sample *_Atomic spent;
    struct what_if_sample *ring[WHAT_IF_QUEUE_MAX];
};

/* what_if_queue_init sets up |queue|; what_if_queue_clear frees what it
 * holds. */
void what_if_queue_init(struct what_if_queue *queue);
void what_if_queue_clear(struct what_if_queue *queue);

/*
 * what_if_queue_begin makes an empty sample of |entry| for a message of about
 * |expected| bytes, whose first came at |now_us|, and sets |*sample|; or sets
 * it to NULL.  Where there is no room, messages that have been coming for
 * longer than WHAT_IF_PATIENT_US make some.  Returns WHAT_IF_TAKEN, or why not.
 * From any worker.
 */
enum what_if_skip what_if_queue_begin(struct what_if_queue *queue,
                                      struct what_if_entry *entry,
                                      size_t expected, uint64_t now_us,
                                      struct what_if_sample **sample);

/* what_if_queue_add appends to |*sample|.  Returns WHAT_IF_TAKEN, or why that
 * cannot be: then it is freed and |*sample| is NULL. */
enum what_if_skip what_if_queue_add(struct what_if_queue *queue,
                                    struct what_if_sample **sample,
                                    const uint8_t *data, size_t len);

/* what_if_queue_drop frees |sample|; NULL is fine. */
void what_if_queue_drop(struct what_if_queue *queue,
                        struct what_if_sample *sample);

/* what_if_queue_put hands |sample| over.  Returns WHAT_IF_TAKEN, or
 * WHAT_IF_BUSY, and it has been freed. */
enum what_if_skip what_if_queue_put(struct what_if_queue *queue,
                                    struct what_if_sample *sample);

/* what_if_queue_take returns the next sample, or NULL.  For the thread. */
struct what_if_sample *what_if_queue_take(struct what_if_queue *queue);

/* what_if_queue_done says that a sample that was taken is not needed any
 * more.  For the thread. */
void what_if_queue_done(struct what_if_queue *queue,
                        struct what_if_sample *sample);

#endif
