/* SPDX-License-Identifier: MIT */
/* Owns the queue between the lanes and the output, and the thread that
 * empties it.  How bytes get into a file without leaving half a line there is
 * output.c's; what is dropped when the queue is full the lanes decide. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "sink.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log.h"
#include "output.h"
#include "queue.h"

/* CLOSE_TICK_MS is how often sink_close looks whether to go on waiting. */
#define CLOSE_TICK_MS 50

/* HURRY_MS is how long lines are still written to an output that takes them
 * when the end is to come at once: two signals may come as one, and a file has
 * them by then. */
#define HURRY_MS 200

/* struct sink: everything below lock is guarded by it. */
struct sink {
    /* config is the caller's. */
    struct sink_config config;
    /* out is the thread's alone once it runs. */
    struct output out;
    /* thread empties the queue. */
    pthread_t thread;
    /* full can be read without the lock. */
    atomic_int full;
    pthread_mutex_t lock;
    /* wake tells the thread of lines, a reopen or the end. */
    pthread_cond_t wake;
    /* done tells sink_close that finished is set. */
    pthread_cond_t done;
    /* queue is what waits. */
    struct queue queue;
    /* written is how many bytes have been written. */
    uint64_t written;
    /* lost is how many lines were given up in the queue. */
    uint64_t lost;
    /* retry_ms is when a failed write is due again; 0: none has failed. */
    int64_t retry_ms;
    /* reopen asks for output_reopen. */
    int reopen;
    /* closing asks the thread to end, is_late to give up what still waits. */
    int closing;
    int is_late;
    /* calling is 1 while the thread is in a callback. */
    int calling;
    /* finished says that the thread is about to end. */
    int finished;
    /* abandoned says that sink_close has given up: the thread frees. */
    int abandoned;
    /* broken says that nothing will be written any more. */
    int broken;
    /* had_error says that a write failed at some time. */
    int had_error;
};

static int64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- the lanes' side --- */

char *
sink_put(struct sink *sink, char *block, size_t len, size_t *cap, int wake)
{
    pthread_mutex_lock(&sink->lock);
    if (len > 0 && !sink->broken)
        block = queue_put(&sink->queue, block, len, cap);
    if (sink->queue.len >= sink->config.queue_max)
        atomic_store(&sink->full, 1);
    if (sink->queue.len >= SINK_WAKE ||
        sink->queue.len >= sink->config.queue_max ||
        (wake && sink->queue.len > 0))
        pthread_cond_signal(&sink->wake);
    pthread_mutex_unlock(&sink->lock);
    return block;
}

int
sink_is_full(const struct sink *sink)
{
    return atomic_load_explicit(&sink->full, memory_order_relaxed);
}

int
sink_is_lossless(const struct sink *sink)
{
    return sink->config.lossless;
}

size_t
sink_queued(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    size_t queued = sink->queue.len;
    pthread_mutex_unlock(&sink->lock);
    return queued;
}

unsigned
sink_fill(struct sink *sink, size_t queued)
{
    pthread_mutex_lock(&sink->lock);
    double queue_max = (double)sink->config.queue_max;
    pthread_mutex_unlock(&sink->lock);
    return (unsigned)(100 * (double)queued / queue_max);
}

void
sink_lift_bound(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->config.queue_max = SIZE_MAX;
    atomic_store(&sink->full, 0);
    pthread_mutex_unlock(&sink->lock);
}

void
sink_reopen(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->reopen = 1;
    pthread_cond_signal(&sink->wake);
    pthread_mutex_unlock(&sink->lock);
}

/* --- the thread --- */

/* sink_call calls back with the lock given up. */
static void
sink_call(struct sink *sink, void (*callback)(void *user))
{
    if (callback == NULL)
        return;
    sink->calling = 1;
    pthread_mutex_unlock(&sink->lock);
    callback(sink->config.user);
    pthread_mutex_lock(&sink->lock);
    sink->calling = 0;
}

/* sink_check_room tells when a full queue has drained to half. */
static void
sink_check_room(struct sink *sink)
{
    if (sink->queue.len <= sink->config.queue_max / 2 &&
        atomic_exchange(&sink->full, 0) != 0)
        sink_call(sink, sink->config.on_room);
}

static void
sink_advance(struct sink *sink, size_t n)
{
    queue_advance(&sink->queue, n);
    sink->written += n;
    if (sink->retry_ms != 0) {
        sink->retry_ms = 0;
        log_warning("%s can be written again", sink->out.name);
    }
    sink_check_room(sink);
}

/* sink_discard gives up all that waits. */
static void
sink_discard(struct sink *sink)
{
    sink->lost += queue_count_lines(&sink->queue);
    queue_clear(&sink->queue);
    sink_check_room(sink);
}

static void
sink_break(struct sink *sink, int error)
{
    log_error("cannot write to %s: %s", sink->out.name, strerror(error));
    sink->broken = 1;
    sink_discard(sink);
    sink_call(sink, sink->config.on_broken);
}

/* sink_write_failed decides what a write that failed with |error| means. */
static void
sink_write_failed(struct sink *sink, int error)
{
    sink->had_error = 1;
    if (!sink->out.is_file || sink->written == 0) {
        sink_break(sink, error);
        return;
    }
    if (sink->retry_ms == 0)
        log_error("cannot write to %s: %s; events wait in memory and are "
                  "dropped when it is full, until there is room",
                  sink->out.name, strerror(error));
    sink->retry_ms = now_ms() + SINK_RETRY_MS;
    if (sink->closing)
        sink_discard(sink);
}

/* sink_write_head writes the oldest lines.  Lanes may append to the block
 * meanwhile, but never touch what is there. */
static void
sink_write_head(struct sink *sink)
{
    size_t len = 0;
    const char *lines = queue_front(&sink->queue, &len);

    pthread_mutex_unlock(&sink->lock);
    ssize_t n = output_write(&sink->out, lines, len);
    int error = errno;
    pthread_mutex_lock(&sink->lock);
    if (n > 0)
        sink_advance(sink, (size_t)n);
    else
        sink_write_failed(sink, error);
}

static void
sink_free(struct sink *sink)
{
    queue_clear(&sink->queue);
    pthread_cond_destroy(&sink->wake);
    pthread_cond_destroy(&sink->done);
    pthread_mutex_destroy(&sink->lock);
    free(sink);
}

static void
sink_do_reopen(struct sink *sink)
{
    sink->reopen = 0;
    pthread_mutex_unlock(&sink->lock);
    int result = output_reopen(&sink->out);
    if (result < 0)
        log_error("cannot reopen %s: %s; going on in the old file",
                  sink->out.name, strerror(errno));
    if (result > 0)
        log_error("closing the old %s failed: %s", sink->out.name,
                  strerror(errno));
    pthread_mutex_lock(&sink->lock);
    sink->had_error |= result > 0;
    /* The new file may be on another disk. */
    if (sink->retry_ms != 0)
        sink->retry_ms = now_ms();
}

static void
sink_sleep(struct sink *sink)
{
    struct timespec at = {.tv_sec = sink->retry_ms / 1000,
                          .tv_nsec = sink->retry_ms % 1000 * 1000000};

    if (sink->retry_ms != 0)
        pthread_cond_timedwait(&sink->wake, &sink->lock, &at);
    else
        pthread_cond_wait(&sink->wake, &sink->lock);
}

static int
sink_is_idle(const struct sink *sink)
{
    if (sink->reopen || sink->closing)
        return 0;
    return sink->queue.len == 0 ||
           (sink->retry_ms != 0 && now_ms() < sink->retry_ms);
}

static void *
sink_run(void *arg)
{
    struct sink *sink = arg;

    pthread_mutex_lock(&sink->lock);
    for (;;) {
        while (sink_is_idle(sink))
            sink_sleep(sink);
        if (sink->is_late)
            sink_discard(sink);
        if (sink->reopen)
            sink_do_reopen(sink);
        else if (sink->queue.len > 0)
            sink_write_head(sink);
        else
            break;
    }
    sink->finished = 1;
    int abandoned = sink->abandoned;
    pthread_cond_signal(&sink->done);
    pthread_mutex_unlock(&sink->lock);
    if (abandoned)
        sink_free(sink);
    return NULL;
}

/* --- opening and closing --- */

static void
sink_init_conds(struct sink *sink)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&sink->wake, &attr);
    pthread_cond_init(&sink->done, &attr);
    pthread_condattr_destroy(&attr);
}

/* sink_start starts the thread with all signals blocked: they are for the
 * event loop, and would cut writes short. */
static int
sink_start(struct sink *sink)
{
    sigset_t all;
    sigset_t old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&sink->thread, NULL, sink_run, sink);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

struct sink *
sink_open(const struct sink_config *config)
{
    struct sink *sink = calloc(1, sizeof(*sink));

    if (sink == NULL) {
        log_error("out of memory");
        return NULL;
    }
    sink->config = *config;
    if (sink->config.queue_max == 0)
        sink->config.queue_max = SINK_QUEUE_MAX;
    if (output_open(&sink->out, config->path) != 0) {
        log_error("cannot open %s: %s", sink->out.name, strerror(errno));
        free(sink);
        return NULL;
    }
    pthread_mutex_init(&sink->lock, NULL);
    sink_init_conds(sink);
    int error = sink_start(sink);
    if (error != 0) {
        log_error("cannot start a thread: %s", strerror(error));
        output_close(&sink->out);
        free(sink);
        return NULL;
    }
    return sink;
}

static int
is_hurried(const struct sink *sink)
{
    return sink->config.hurry != NULL && atomic_load(sink->config.hurry) != 0;
}

/* sink_wait_finished waits for the thread while it makes progress, in a hurry
 * HURRY_MS at most.  Returns 1 when it has finished, 0 when it is to be given
 * up. */
static int
sink_wait_finished(struct sink *sink)
{
    uint64_t written = sink->written;
    int64_t deadline = now_ms() + SINK_PATIENCE_MS;
    int64_t late = 0;
    int64_t last = INT64_MAX;

    while (!sink->finished) {
        int64_t tick = now_ms() + CLOSE_TICK_MS;
        struct timespec at = {.tv_sec = tick / 1000,
                              .tv_nsec = tick % 1000 * 1000000};
        pthread_cond_timedwait(&sink->done, &sink->lock, &at);
        if (sink->written != written) {
            written = sink->written;
            deadline = tick + SINK_PATIENCE_MS;
        }
        if (late == 0 && is_hurried(sink)) {
            late = tick + HURRY_MS;
            /* Some ticks more, so that a write under way can end. */
            last = late + 2 * CLOSE_TICK_MS;
        }
        sink->is_late = late != 0 && tick >= late;
        if ((tick >= deadline || tick >= last) && !sink->calling)
            break;
    }
    return sink->finished;
}

/* sink_give_up is the end when the thread is stuck in a write that cannot be
 * called off: it is left to itself, most often until the process ends. */
static int
sink_give_up(struct sink *sink)
{
    uint64_t lost = sink->lost + queue_count_lines(&sink->queue);

    sink->config.on_room = NULL;
    sink->config.on_broken = NULL;
    log_error("%s takes no more: %llu events were not written", sink->out.name,
              (unsigned long long)lost);
    sink->abandoned = 1;
    pthread_detach(sink->thread);
    pthread_mutex_unlock(&sink->lock);
    return -1;
}

int
sink_close(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->closing = 1;
    pthread_cond_signal(&sink->wake);
    if (!sink_wait_finished(sink))
        return sink_give_up(sink);
    pthread_mutex_unlock(&sink->lock);
    pthread_join(sink->thread, NULL);
    int result = sink->had_error || sink->lost > 0 ? -1 : 0;
    if (output_close(&sink->out) != 0) {
        log_error("closing %s failed: %s", sink->out.name, strerror(errno));
        result = -1;
    }
    if (sink->lost > 0 && !sink->broken)
        log_error("%llu events were not written to %s",
                  (unsigned long long)sink->lost, sink->out.name);
    sink_free(sink);
    return result;
}
