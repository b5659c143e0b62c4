/* SPDX-License-Identifier: MIT */
/* The messages that wait for --what-if: how many and how long they may be, and
 * that their memory comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "../../proxy/what_if_queue.h"
#include "../vector_alloc.h"

#define KIB 1024u

static struct what_if_queue queue;
static struct what_if_entry entries[16];

static enum what_if_skip
begin(struct what_if_entry *entry, size_t len, uint64_t now_us,
      struct what_if_sample **sample)
{
    return what_if_queue_begin(&queue, entry, len, now_us, sample);
}

static enum what_if_skip
put(struct what_if_entry *entry, size_t len)
{
    static uint8_t data[WHAT_IF_MESSAGE_MAX];
    struct what_if_sample *sample;
    enum what_if_skip skip = begin(entry, len, 0, &sample);

    if (skip == WHAT_IF_TAKEN) {
        skip = what_if_queue_add(&queue, &sample, data, len);
    }
    return skip == WHAT_IF_TAKEN ? what_if_queue_put(&queue, sample) : skip;
}

static void
test_queue_entry(void **state)
{
    (void)state;
    memset(entries, 0, sizeof(entries));
    what_if_queue_init(&queue);
    for (unsigned i = 0; i < WHAT_IF_ENTRY_MAX; i++) {
        assert_int_equal(put(&entries[0], 1), WHAT_IF_TAKEN);
    }
    assert_int_equal(put(&entries[0], 1), WHAT_IF_BUSY);
    /* Others have their own room, and all together a bound. */
    for (unsigned i = WHAT_IF_ENTRY_MAX; i < WHAT_IF_QUEUE_MAX; i++) {
        assert_int_equal(put(&entries[i / WHAT_IF_ENTRY_MAX], 1),
                         WHAT_IF_TAKEN);
    }
    assert_int_equal(put(&entries[15], 1), WHAT_IF_BUSY);
    what_if_queue_done(&queue, what_if_queue_take(&queue));
    assert_int_equal(put(&entries[15], 1), WHAT_IF_TAKEN);
    what_if_queue_clear(&queue);
    assert_int_equal(atomic_load(&queue.held), 0);
}

static void
test_queue_bytes(void **state)
{
    unsigned taken = 0;

    (void)state;
    memset(entries, 0, sizeof(entries));
    what_if_queue_init(&queue);
    assert_int_equal(put(&entries[0], WHAT_IF_MESSAGE_MAX), WHAT_IF_TAKEN);
    assert_int_equal(put(&entries[0], 1), WHAT_IF_BUSY);
    for (unsigned i = 1; i < 16; i++) {
        taken += put(&entries[i], WHAT_IF_MESSAGE_MAX) == WHAT_IF_TAKEN;
        assert_true(atomic_load(&queue.held) <= WHAT_IF_QUEUE_BYTES);
    }
    /* Four with what each costs beside its bytes would be too much. */
    assert_int_equal(taken, 2);
    what_if_queue_done(&queue, what_if_queue_take(&queue));
    assert_int_equal(put(&entries[9], WHAT_IF_MESSAGE_MAX), WHAT_IF_TAKEN);
    what_if_queue_clear(&queue);
    assert_int_equal(atomic_load(&queue.held), 0);
}

/* Many that are begun and never end: a declared length costs next to nothing,
 * and what comes is bounded. */
static void
test_queue_collecting(void **state)
{
    static uint8_t data[256 * KIB];
    struct what_if_sample *samples[200];
    unsigned busy = 0;

    (void)state;
    memset(entries, 0, sizeof(entries));
    what_if_queue_init(&queue);
    for (unsigned i = 0; i < 200; i++) {
        enum what_if_skip skip =
            begin(&entries[i % 16], WHAT_IF_MESSAGE_MAX, 0, &samples[i]);

        busy += skip == WHAT_IF_BUSY;
    }
    assert_true(busy > 0 && busy < 50);
    for (unsigned n = 0; n < 17; n++) {
        for (unsigned i = 0; i < 200; i++) {
            if (samples[i] != NULL) {
                what_if_queue_add(&queue, &samples[i], data, sizeof(data));
            }
            assert_true(atomic_load(&queue.held) <= WHAT_IF_QUEUE_BYTES);
        }
    }
    for (unsigned i = 0; i < 200; i++) {
        what_if_queue_drop(&queue, samples[i]);
    }
    assert_int_equal(atomic_load(&queue.held), 0);
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(atomic_load(&entries[i].held), 0);
    }
    what_if_queue_clear(&queue);
}

/* Begins a message at |now_us| of which |len| bytes come. */
static struct what_if_sample *
stall(struct what_if_entry *entry, size_t len, uint64_t now_us)
{
    static uint8_t data[WHAT_IF_MESSAGE_MAX];
    struct what_if_sample *sample;

    assert_int_equal(begin(entry, WHAT_IF_MESSAGE_MAX, now_us, &sample),
                     WHAT_IF_TAKEN);
    assert_int_equal(what_if_queue_add(&queue, &sample, data, len),
                     WHAT_IF_TAKEN);
    return sample;
}

/* What is stalled for long makes room for what comes, and no more than that;
 * what has been coming for a short while only is left alone. */
static void
test_queue_stalled(void **state)
{
    struct what_if_sample *old[2], *young, *sample;
    size_t held;

    (void)state;
    memset(entries, 0, sizeof(entries));
    what_if_queue_init(&queue);
    for (unsigned i = 0; i < 2; i++) {
        old[i] = stall(&entries[i], 3u << 20, 1 + i);
    }
    young = stall(&entries[3], 3u << 20, 1000);
    held = atomic_load(&queue.held);
    assert_int_equal(begin(&entries[4], 9, WHAT_IF_PATIENT_US, &sample),
                     WHAT_IF_BUSY);
    assert_int_equal(begin(&entries[4], 9, 2 + WHAT_IF_PATIENT_US, &sample),
                     WHAT_IF_TAKEN);
    assert_true(atomic_load(&queue.held) < held - (2u << 20));
    what_if_queue_drop(&queue, sample);
    /* The oldest is the one, as its worker learns. */
    assert_int_equal(what_if_queue_put(&queue, old[0]), WHAT_IF_BUSY);
    assert_int_equal(what_if_queue_add(&queue, &old[1], (uint8_t *)"", 1),
                     WHAT_IF_TAKEN);
    what_if_queue_drop(&queue, old[1]);
    what_if_queue_drop(&queue, young);
    assert_int_equal(atomic_load(&queue.held), 0);
    what_if_queue_clear(&queue);
}

/* An entry whose bytes are all held by stalled messages gets room of its own
 * only. */
static void
test_queue_stalled_entry(void **state)
{
    struct what_if_sample *other, *own, *sample;

    (void)state;
    memset(entries, 0, sizeof(entries));
    what_if_queue_init(&queue);
    other = stall(&entries[0], 3u << 20, 1);
    own = stall(&entries[1], 3u << 20, 2);
    assert_int_equal(begin(&entries[1], 9, 3, &sample), WHAT_IF_BUSY);
    assert_int_equal(begin(&entries[1], 9, 2 + WHAT_IF_PATIENT_US, &sample),
                     WHAT_IF_TAKEN);
    what_if_queue_drop(&queue, sample);
    assert_int_equal(what_if_queue_add(&queue, &own, (uint8_t *)"", 1),
                     WHAT_IF_BUSY);
    assert_null(own);
    assert_int_equal(atomic_load(&entries[1].held), 0);
    assert_int_equal(what_if_queue_put(&queue, other), WHAT_IF_TAKEN);
    what_if_queue_clear(&queue);
    assert_int_equal(atomic_load(&queue.held), 0);
}

/* A message has no more room than it was said to need. */
static void
test_queue_expected(void **state)
{
    static uint8_t data[2200000];
    struct what_if_sample *sample;

    (void)state;
    memset(entries, 0, sizeof(entries));
    what_if_queue_init(&queue);
    assert_int_equal(begin(&entries[0], sizeof(data), 0, &sample),
                     WHAT_IF_TAKEN);
    for (unsigned i = 0; i < 22; i++) {
        assert_int_equal(
            what_if_queue_add(&queue, &sample, data, sizeof(data) / 22),
            WHAT_IF_TAKEN);
    }
    assert_int_equal(sample->cap, sizeof(data));
    /* It need not be true. */
    assert_int_equal(what_if_queue_add(&queue, &sample, data, 1),
                     WHAT_IF_TAKEN);
    assert_int_equal(sample->len, sizeof(data) + 1);
    what_if_queue_drop(&queue, sample);
    what_if_queue_clear(&queue);
}

/* struct share is what a worker's thread did. */
struct share {
    /* first is the entry it begins with. */
    unsigned first;
    /* n_put counts what it handed over, n_gone what lost its room. */
    unsigned n_put;
    unsigned n_gone;
};

/* A worker for which ten seconds pass between two messages, so that what the
 * others are collecting is old. */
static void *
worker_main(void *arg)
{
    static const uint8_t data[64 * KIB];
    struct share *share = arg;

    for (uint64_t i = 1; i <= 300; i++) {
        struct what_if_entry *entry = &entries[(share->first + i) % 16];
        struct what_if_sample *sample;

        if (begin(entry, 9, i * WHAT_IF_PATIENT_US, &sample) != WHAT_IF_TAKEN) {
            continue;
        }
        for (unsigned n = 0; sample != NULL && n < 48; n++) {
            (void)what_if_queue_add(&queue, &sample, data, sizeof(data));
        }
        if (sample != NULL &&
            what_if_queue_put(&queue, sample) == WHAT_IF_TAKEN) {
            share->n_put++;
        } else {
            share->n_gone++;
        }
    }
    return NULL;
}

/* Workers that take the room of each other, and the thread that takes what
 * they put. */
static void
test_queue_threads(void **state)
{
    struct share shares[6] = {{0}};
    pthread_t threads[6];
    unsigned n_put = 0, n_gone = 0;

    (void)state;
    memset(entries, 0, sizeof(entries));
    what_if_queue_init(&queue);
    for (unsigned i = 0; i < 6; i++) {
        shares[i].first = i * 3;
        pthread_create(&threads[i], NULL, worker_main, &shares[i]);
    }
    for (unsigned i = 0; i < 20000; i++) {
        struct what_if_sample *sample = what_if_queue_take(&queue);

        if (sample != NULL) {
            what_if_queue_done(&queue, sample);
        } else {
            sched_yield();
        }
    }
    for (unsigned i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        n_put += shares[i].n_put;
        n_gone += shares[i].n_gone;
    }
    print_message("%u put, %u lost their room\n", n_put, n_gone);
    assert_true(n_put > 0);
    assert_null(queue.oldest);
    what_if_queue_clear(&queue);
    assert_int_equal(atomic_load(&queue.held), 0);
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(atomic_load(&entries[i].held), 0);
        assert_int_equal(atomic_load(&entries[i].n_waiting), 0);
    }
}

static void
test_no_memory(void **state)
{
    struct what_if_sample *sample;

    (void)state;
    if (!vector_alloc_is_wrapped()) {
        skip();
    }
    memset(entries, 0, sizeof(entries));
    what_if_queue_init(&queue);
    vector_alloc_arm(1, VECTOR_ALLOC_FOR_GOOD);
    assert_int_equal(begin(&entries[0], 10, 0, &sample),
                     WHAT_IF_MEMORY);
    assert_int_equal(vector_alloc_disarm(), 1);
    assert_null(sample);
    assert_int_equal(begin(&entries[0], 10, 0, &sample),
                     WHAT_IF_TAKEN);
    vector_alloc_arm(1, VECTOR_ALLOC_FOR_GOOD);
    assert_int_equal(what_if_queue_add(&queue, &sample,
                                       (const uint8_t[1000]){0}, 1000),
                     WHAT_IF_MEMORY);
    assert_int_equal(vector_alloc_disarm(), 1);
    assert_null(sample);
    assert_int_equal(atomic_load(&queue.held), 0);
    assert_int_equal(atomic_load(&entries[0].held), 0);
    what_if_queue_clear(&queue);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_entry),
        cmocka_unit_test(test_queue_bytes),
        cmocka_unit_test(test_queue_collecting),
        cmocka_unit_test(test_queue_stalled),
        cmocka_unit_test(test_queue_stalled_entry),
        cmocka_unit_test(test_queue_expected),
        cmocka_unit_test(test_queue_threads),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
