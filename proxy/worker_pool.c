/* SPDX-License-Identifier: MIT */
/*
 * Owns what the workers share: threads, the count of connections, and how new
 * ones are dealt out.  A connection's own work is done in its worker.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "worker_pool.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "listener.h"
#include "log.h"
#include "net.h"
#include "sink.h"
#include "summary.h"
#include "upstream.h"

/* struct worker_pool is the workers and what they share. */
struct worker_pool {
    /* config is a copy of the caller's. */
    struct worker_config config;
    /* upstream is where all of them connect. */
    struct upstream upstream;
    /* listener is the caller's. */
    struct listener *listener;
    /* workers are n in number. */
    struct worker *workers;
    unsigned n;
    /* threads run the workers from 1 on; n_threads of them were started. */
    pthread_t *threads;
    unsigned n_threads;
    /* next is the worker that gets the next connection. */
    unsigned next;
    /* n_conns counts the connections accepted; the last one's number. */
    uint64_t n_conns;
    /* n_open counts the open ones. */
    _Atomic unsigned n_open;
    /* n_starved counts those that wait for a descriptor. */
    _Atomic unsigned n_starved;
    /* exhausted is the errno for WORKER_EXHAUSTED. */
    _Atomic int exhausted;
    /* has_failed is 1 when the run ends because a loop failed. */
    _Atomic int has_failed;
    /* started_us is when the pool was made. */
    uint64_t started_us;
    /* lock guards the report: totals so far, n_missing workers to go. */
    pthread_mutex_t lock;
    struct run_totals report;
    unsigned n_missing;
};

/* on_libevent_log takes libevent's own complaints into the log. */
static void
on_libevent_log(int severity, const char *message)
{
    if (severity == EVENT_LOG_ERR)
        log_error("libevent: %s", message);
    else if (severity == EVENT_LOG_WARN)
        log_warning("libevent: %s", message);
    else
        log_debug("libevent: %s", message);
}

struct worker_pool *
worker_pool_new(const struct worker_config *config, unsigned n,
                struct listener *listener)
{
    struct worker_pool *pool = calloc(1, sizeof(*pool));

    if (pool == NULL)
        goto fail;
    event_set_log_callback(on_libevent_log);
    pool->config = *config;
    pool->listener = listener;
    pool->started_us = net_now_us();
    pthread_mutex_init(&pool->lock, NULL);
    upstream_init(&pool->upstream, config->upstream,
                  config->connect_timeout_us);
    pool->workers = calloc(n, sizeof(*pool->workers));
    pool->threads = calloc(n, sizeof(*pool->threads));
    if (pool->workers == NULL || pool->threads == NULL)
        goto fail;
    while (pool->n < n) {
        struct worker *worker = &pool->workers[pool->n++];

        if (worker_init(worker, pool, &pool->config, &pool->upstream) < 0) {
            worker_pool_free(pool);
            return NULL;
        }
    }
    return pool;
fail:
    log_error("cannot make workers: out of memory");
    worker_pool_free(pool);
    return NULL;
}

void
worker_pool_free(struct worker_pool *pool)
{
    if (pool == NULL)
        return;
    for (unsigned i = 0; i < pool->n; i++)
        worker_clear(&pool->workers[i]);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool->threads);
    free(pool);
}

struct event_base *
worker_pool_base(struct worker_pool *pool)
{
    return pool->workers[0].base;
}

struct lane *
worker_pool_lane(struct worker_pool *pool)
{
    return &pool->workers[0].lane;
}

int64_t
worker_pool_wall_us(void)
{
    return (int64_t)net_now_us() + net_wall_offset_us();
}

/* ---- dealing out connections ---- */

static int
has_room(void *user)
{
    const struct worker_pool *pool = user;
    unsigned max = pool->config.max_connections;

    return max == 0 || atomic_load(&pool->n_open) < max;
}

static int
is_starved(void *user)
{
    const struct worker_pool *pool = user;

    return atomic_load(&pool->n_starved) > 0;
}

/* accepted gives a connection to the next worker whose pipe takes it. */
static void
accepted(void *user, int fd, const struct sockaddr_storage *peer,
         socklen_t len)
{
    struct worker_pool *pool = user;
    struct worker_message message;

    memset(&message, 0, sizeof(message));
    message.fd = fd;
    message.conn = ++pool->n_conns;
    message.peer = *peer;
    message.peer_len = len;
    atomic_fetch_add(&pool->n_open, 1);
    for (unsigned i = 0; i <= pool->n_threads; i++) {
        unsigned turn = pool->next;

        pool->next = turn < pool->n_threads ? turn + 1 : 0;
        if (turn == 0)
            break;
        if (worker_offer(&pool->workers[turn], &message) == 0)
            return;
    }
    worker_adopt(&pool->workers[0], &message);
}

void
worker_pool_ended(struct worker_pool *pool)
{
    atomic_fetch_sub(&pool->n_open, 1);
    if (listener_is_capped(pool->listener))
        worker_command(&pool->workers[0], WORKER_UNCAP);
}

void
worker_pool_starve(struct worker_pool *pool, int error)
{
    if (error == 0) {
        atomic_fetch_sub(&pool->n_starved, 1);
        return;
    }
    atomic_fetch_add(&pool->n_starved, 1);
    atomic_store(&pool->exhausted, error);
    worker_command(&pool->workers[0], WORKER_EXHAUSTED);
}

/* ---- running ---- */

static void *
thread_main(void *arg)
{
    worker_run(arg);
    return NULL;
}

/* start_threads starts the workers from 1 on.  Signals are worker 0's. */
static void
start_threads(struct worker_pool *pool)
{
    sigset_t all, before;
    int error = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (error == 0 && pool->n_threads + 1 < pool->n) {
        unsigned i = pool->n_threads + 1;

        error = pthread_create(&pool->threads[i], NULL, thread_main,
                               &pool->workers[i]);
        if (error == 0)
            pool->n_threads = i;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        log_warning("only %u of %u threads could be started: %s",
                    pool->n_threads + 1, pool->n, strerror(error));
}

int
worker_pool_run(struct worker_pool *pool)
{
    static const struct listener_calls calls = { has_room, is_starved,
                                                accepted };

    if (listener_start(pool->listener, pool->workers[0].base, &calls, pool)
        < 0)
        return -1;
    start_threads(pool);
    worker_run(&pool->workers[0]);
    listener_stop(pool->listener);
    for (unsigned i = 1; i <= pool->n_threads; i++)
        pthread_join(pool->threads[i], NULL);
    for (unsigned i = 0; i < pool->n; i++)
        worker_discard(&pool->workers[i]);
    return atomic_load(&pool->has_failed) ? -1 : 0;
}

void
worker_pool_stop(struct worker_pool *pool)
{
    for (unsigned i = 0; pool != NULL && i < pool->n; i++)
        worker_command(&pool->workers[i], WORKER_STOP);
}

void
worker_pool_fail(struct worker_pool *pool)
{
    atomic_store(&pool->has_failed, 1);
    worker_pool_stop(pool);
}

void
worker_pool_room(struct worker_pool *pool)
{
    for (unsigned i = 0; pool != NULL && i < pool->n; i++)
        worker_command(&pool->workers[i], WORKER_ROOM);
}

/* ---- figures ---- */

void
worker_pool_report(struct worker_pool *pool)
{
    int is_free;

    pthread_mutex_lock(&pool->lock);
    is_free = pool->n_missing == 0;
    if (is_free) {
        memset(&pool->report, 0, sizeof(pool->report));
        pool->n_missing = pool->n_threads + 1;
    }
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; is_free && i <= pool->n_threads; i++)
        worker_command(&pool->workers[i], WORKER_REPORT);
}

static void
print_report(const struct worker_pool *pool)
{
    const struct run_totals *totals = &pool->report;
    size_t queued = sink_queued(pool->config.sink);

    log_print("grpctap: %llu connections (%u open), %llu calls, "
              "%llu messages, %llu notices, %llu bytes from clients, "
              "%llu bytes from servers, %llu events dropped, "
              "%zu bytes of output wait (%u%% of the queue)",
              (unsigned long long)totals->connections,
              atomic_load(&pool->n_open), (unsigned long long)totals->calls,
              (unsigned long long)totals->messages,
              (unsigned long long)totals->notices,
              (unsigned long long)totals->bytes_from_client,
              (unsigned long long)totals->bytes_from_server,
              (unsigned long long)totals->dropped, queued,
              sink_fill(pool->config.sink, queued));
}

/* add_to_report adds what |worker| has; the last one prints. */
static void
add_to_report(struct worker_pool *pool, const struct worker *worker)
{
    pthread_mutex_lock(&pool->lock);
    worker_add_totals(worker, &pool->report);
    if (--pool->n_missing == 0)
        print_report(pool);
    pthread_mutex_unlock(&pool->lock);
}

void
worker_pool_obey(struct worker_pool *pool, const struct worker *worker,
                 unsigned commands)
{
    if (commands & WORKER_REPORT)
        add_to_report(pool, worker);
    if (commands & WORKER_EXHAUSTED)
        listener_rest(pool->listener, "connect",
                      atomic_load(&pool->exhausted));
    if (commands & WORKER_UNCAP)
        listener_uncap(pool->listener);
    if ((commands & WORKER_STOP) && worker == &pool->workers[0])
        listener_stop(pool->listener);
}

void
worker_pool_totals(const struct worker_pool *pool, struct run_totals *totals)
{
    memset(totals, 0, sizeof(*totals));
    for (unsigned i = 0; i < pool->n; i++)
        worker_add_totals(&pool->workers[i], totals);
    totals->duration_us = net_now_us() - pool->started_us;
}

struct summary *
worker_pool_summary(struct worker_pool *pool)
{
    for (unsigned i = 1; i < pool->n && pool->config.want_summary; i++)
        summary_merge(pool->workers[0].summary, pool->workers[i].summary);
    return pool->workers[0].summary;
}
