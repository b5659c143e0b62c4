/* SPDX-License-Identifier: MIT */
/*
 * Owns the thread of --what-if: its life, its share of CPU, and that a run
 * never waits long for it.  What is measured and what is written is for the
 * other what_if_*.c and event_what_if.c.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "what_if.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log.h"
#include "net.h"
#include "what_if_parts.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_US UINT64_C(1000)

/* POLL_NS is how often an idle thread looks for work: workers do not wake it,
 * which would cost them more than a sample. */
#define POLL_NS UINT64_C(50000000)

/* Those that nobody waits for any more, for tools that look for memory that
 * nothing points to. */
static struct what_if *abandoned;

static uint64_t
now_ns(void)
{
    return net_now_us() * NS_PER_US;
}

/* Waits for |ns|, or until woken up. */
static void
wait_ns(struct what_if *w, pthread_cond_t *condition, uint64_t ns)
{
    uint64_t until_ns = now_ns() + ns;
    struct timespec until = {
        .tv_sec = (time_t)(until_ns / NS_PER_S),
        .tv_nsec = (long)(until_ns % NS_PER_S),
    };

    (void)pthread_cond_timedwait(condition, &w->lock, &until);
}

/* ---- Trying ---------------------------------------------------------- */

static int
is_out_of_time(const struct what_if *w)
{
    return w->is_abandoned ||
           (atomic_load(&w->is_stopping) && now_ns() >= w->stop_ns);
}

static void
rest(struct what_if *w, uint64_t until_ns)
{
    while (!atomic_load(&w->is_stopping) && now_ns() < until_ns) {
        uint64_t now = now_ns();
        uint64_t left_ns = now < until_ns ? until_ns - now : 0;

        wait_ns(w, &w->wake, left_ns < POLL_NS ? left_ns : POLL_NS);
        what_if_lines_write(w);
    }
}

/* Books the CPU time since the last look, and rests until the share allows
 * more; once the run is over there is nobody to be spared. */
static void
keep_to_share(struct what_if *w)
{
    uint64_t cpu_ns = what_if_bench_cpu();
    uint64_t rest_ns;

    what_if_budget_spend(&w->budget, cpu_ns - w->spent_ns, now_ns());
    w->spent_ns = cpu_ns;
    rest_ns = what_if_budget_wait(&w->budget);
    if (rest_ns > 0)
        rest(w, now_ns() + rest_ns);
}

/* Tries all codecs on |sample|, so that what is said of one is said of the same
 * messages as of the others. */
static enum what_if_skip
try_codecs(struct what_if *w, const struct what_if_sample *sample,
           struct what_if_outcome *outcomes)
{
    for (unsigned i = 0; i < w->config.list.n; i++) {
        enum what_if_skip skip;

        if (is_out_of_time(w))
            return WHAT_IF_STOPPED;
        pthread_mutex_unlock(&w->lock);
        skip = what_if_bench_run(w->bench, i, sample->data, sample->len,
                                 &outcomes[i]);
        pthread_mutex_lock(&w->lock);
        if (w->is_abandoned)
            return WHAT_IF_STOPPED;
        if (skip != WHAT_IF_TAKEN)
            return skip;
        keep_to_share(w);
    }
    return WHAT_IF_TAKEN;
}

static void
try_sample(struct what_if *w, struct what_if_sample *sample)
{
    struct what_if_outcome outcomes[WHAT_IF_CODECS_MAX];
    struct what_if_entry *entry = sample->entry;
    enum what_if_skip skip;

    w->current = sample;
    if (entry->stats == NULL)
        entry->stats = what_if_stats_new(w->config.list.n);
    skip = entry->stats == NULL ? WHAT_IF_MEMORY
                                : try_codecs(w, sample, outcomes);
    if (w->is_abandoned)
        return;
    if (skip == WHAT_IF_TAKEN)
        what_if_stats_add(entry->stats, sample->len, outcomes);
    else
        atomic_fetch_add(&entry->skipped[skip], 1);
    what_if_queue_done(&w->queue, sample);
    w->current = NULL;
}

static void
run(struct what_if *w)
{
    for (;;) {
        int is_stopping = atomic_load(&w->is_stopping);
        struct what_if_sample *sample = what_if_queue_take(&w->queue);

        /* No worker puts any more: what is not there now will not come. */
        if (sample == NULL && is_stopping)
            return;
        if (sample != NULL)
            try_sample(w, sample);
        else
            wait_ns(w, &w->wake, POLL_NS);
        if (!w->is_abandoned)
            what_if_lines_write(w);
        if (w->is_abandoned)
            return;
    }
}

static void *
thread_main(void *arg)
{
    struct what_if *w = arg;

    net_give_way();
    pthread_mutex_lock(&w->lock);
    w->spent_ns = what_if_bench_cpu();
    what_if_budget_init(&w->budget, w->config.cpu_percent, now_ns());
    run(w);
    w->has_ended = 1;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- Life ------------------------------------------------------------ */

static int
start_thread(struct what_if *w)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&w->thread, NULL, thread_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        log_error("cannot start a thread: %s", strerror(error));
        return -1;
    }
    w->is_started = 1;
    return 0;
}

struct what_if *
what_if_new(const struct what_if_config *config)
{
    struct what_if *w = calloc(1, sizeof(*w));
    pthread_condattr_t monotonic;

    if (w == NULL) {
        log_error("out of memory");
        return NULL;
    }
    w->config = *config;
    if (w->config.event_us == 0)
        w->config.event_us = WHAT_IF_EVENT_US;
    w->due_ns = now_ns() + w->config.event_us * NS_PER_US;
    what_if_table_init(&w->table);
    what_if_queue_init(&w->queue);
    lane_init(&w->lane, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_cond_init(&w->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    w->bench = what_if_bench_new(&config->list);
    if (w->bench == NULL)
        log_error("out of memory");
    if (w->bench == NULL || start_thread(w) != 0) {
        what_if_free(w);
        return NULL;
    }
    return w;
}

/* Counts what never had its turn. */
static void
count_rest(struct what_if *w)
{
    struct what_if_sample *sample = w->current;

    if (sample != NULL)
        atomic_fetch_add(&sample->entry->skipped[WHAT_IF_STOPPED], 1);
    for (;;) {
        sample = what_if_queue_take(&w->queue);
        if (sample == NULL)
            return;
        atomic_fetch_add(&sample->entry->skipped[WHAT_IF_STOPPED], 1);
        what_if_queue_done(&w->queue, sample);
    }
}

static int
is_hurried(const struct what_if *w)
{
    return w->config.hurry != NULL && atomic_load(w->config.hurry) != 0;
}

/* In ticks, as a signal handler can only leave word. */
static void
wait_until_ended(struct what_if *w)
{
    uint64_t until_ns = now_ns() + WHAT_IF_PATIENCE_US * NS_PER_US;

    while (!w->has_ended && !is_hurried(w)) {
        uint64_t now = now_ns();

        if (now >= until_ns)
            return;
        wait_ns(w, &w->ended,
                until_ns - now < POLL_NS ? until_ns - now : POLL_NS);
    }
}

void
what_if_finish(struct what_if *w)
{
    if (w == NULL || !w->is_started)
        return;
    w->stop_ns = now_ns() + WHAT_IF_REST_US * NS_PER_US;
    atomic_store(&w->is_stopping, 1);
    pthread_mutex_lock(&w->lock);
    pthread_cond_signal(&w->wake);
    wait_until_ended(w);
    w->is_abandoned = !w->has_ended;
    count_rest(w);
    what_if_lines_write_last(w);
    pthread_mutex_unlock(&w->lock);
    /* A codec that takes minutes for a message cannot be told to stop. */
    if (w->is_abandoned)
        pthread_detach(w->thread);
    else
        pthread_join(w->thread, NULL);
    w->is_started = 0;
}

void
what_if_free(struct what_if *w)
{
    if (w == NULL)
        return;
    what_if_finish(w);
    if (w->is_abandoned) {
        w->abandoned = abandoned;
        abandoned = w;
        return;
    }
    what_if_bench_free(w->bench);
    what_if_queue_clear(&w->queue);
    what_if_table_clear(&w->table);
    lane_clear(&w->lane);
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
