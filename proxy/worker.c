/* SPDX-License-Identifier: MIT */
/*
 * Owns one event loop: its rounds, its pipe, its list of relays and the clock
 * of its thread.  What a relay does is relay.c's, how workers share the work
 * is worker_pool.c's.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "worker.h"

#include <assert.h>
#include <errno.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event_run.h"
#include "log.h"
#include "net.h"
#include "relay.h"
#include "sink.h"
#include "summary.h"
#include "worker_pool.h"

/* WALL_US is how old the offset to UTC may get. */
#define WALL_US 1000000u

/* RECHECK_US paces what no event would tell: soon enough for a reset to be
 * of use, and rare enough to cost nothing. */
#define RECHECK_US 200000u

/* FLUSH_US is how long lines wait for more of them when there are many rounds:
 * the output's thread then sleeps a little longer.  The loop's timers go by the
 * coarse clock, whose ticks are up to 4 ms apart, so that it can be 5 ms.
 * FLUSH_ROW is how many rounds after a pause do not wait: more than a lone
 * connection with a call takes.  One more may go every FLUSH_US. */
#define FLUSH_US 1000u
#define FLUSH_ROW 8u

/* MESSAGES_MAX is how many messages are taken from the pipe at once. */
#define MESSAGES_MAX 16

/* LOOKUP_ROUNDS_MAX bounds the rounds for last callbacks of look-ups. */
#define LOOKUP_ROUNDS_MAX 100

static struct timeval
timeval_of(uint64_t us)
{
    struct timeval tv = { .tv_sec = (time_t)(us / 1000000),
                          .tv_usec = (suseconds_t)(us % 1000000) };

    return tv;
}

/* ---- time ---- */

static void
worker_check_wall(struct worker *worker, uint64_t now_us)
{
    if (now_us - worker->wall_checked_us < WALL_US)
        return;
    worker->wall_checked_us = now_us;
    worker->wall_offset_us = net_wall_offset_us();
    worker->config->watch->shared_set_wall(worker->shared,
                                           worker->wall_offset_us);
}

/* worker_report_drops writes `dropped` when it is due and fits. */
static void
worker_report_drops(struct worker *worker, uint64_t now_us)
{
    if (lane_has_dropped(&worker->lane))
        (void)event_dropped(&worker->lane,
                            (int64_t)now_us + worker->wall_offset_us);
}

uint64_t
worker_now(struct worker *worker)
{
    uint64_t now_us = net_now_us();

    worker_check_wall(worker, now_us);
    /* Before the events of this callback: where the gap is. */
    worker_report_drops(worker, now_us);
    return now_us;
}

/* ---- the list of relays ---- */

/* worker_arm_idle looks for idle relays after |us|. */
static void
worker_arm_idle(struct worker *worker, uint64_t us)
{
    struct timeval delay = timeval_of(us);

    evtimer_add(worker->idle, &delay);
}

static void
list_append(struct worker *worker, struct relay *relay)
{
    struct relay_link *link = relay_link(relay);

    link->previous = worker->last;
    link->next = NULL;
    if (worker->last != NULL)
        relay_link(worker->last)->next = relay;
    else
        worker->first = relay;
    worker->last = relay;
}

void
worker_list_add(struct worker *worker, struct relay *relay)
{
    list_append(worker, relay);
    if (worker->idle != NULL && !evtimer_pending(worker->idle, NULL))
        worker_arm_idle(worker, worker->config->idle_timeout_us);
}

void
worker_list_remove(struct worker *worker, struct relay *relay)
{
    struct relay_link *link = relay_link(relay);

    if (link->previous != NULL)
        relay_link(link->previous)->next = link->next;
    else
        worker->first = link->next;
    if (link->next != NULL)
        relay_link(link->next)->previous = link->previous;
    else
        worker->last = link->previous;
}

void
worker_touch(struct worker *worker, struct relay *relay, uint64_t now_us)
{
    relay_touch(relay, now_us);
    if (worker->idle == NULL || worker->last == relay)
        return;
    worker_list_remove(worker, relay);
    list_append(worker, relay);
}

/* on_idle ends what has been idle for too long; as the list is in the order
 * of the last byte, it looks no further than it has to. */
static void
on_idle(evutil_socket_t fd, short what, void *arg)
{
    struct worker *worker = arg;
    uint64_t now_us = worker_now(worker);
    uint64_t timeout_us = worker->config->idle_timeout_us, due_us;

    (void)fd;
    (void)what;
    while (!worker->is_held && worker->first != NULL
           && relay_touched_us(worker->first) + timeout_us <= now_us)
        relay_expire(worker->first, now_us);
    if (worker->first == NULL)
        return;
    due_us = relay_touched_us(worker->first) + timeout_us;
    /* Held relays are given their time anew at the end of it. */
    worker_arm_idle(worker, due_us > now_us ? due_us - now_us : timeout_us);
}

/* ---- holding traffic ---- */

static void
worker_arm_recheck(struct worker *worker)
{
    struct timeval delay = timeval_of(RECHECK_US);

    if (worker->is_held || !worker->can_edge)
        evtimer_add(worker->recheck, &delay);
    else
        evtimer_del(worker->recheck);
}

/* worker_set_held starts or ends holding: every relay derives anew what it
 * waits for. */
static void
worker_set_held(struct worker *worker, int is_held)
{
    uint64_t now_us = net_now_us();
    struct relay *relay = worker->first, *next;

    worker->is_held = is_held;
    for (; relay != NULL; relay = next) {
        next = relay_link(relay)->next;
        /* It could not move bytes while held. */
        relay_touch(relay, now_us);
        relay_reconsider(relay, now_us);
    }
    worker_arm_recheck(worker);
}

void
worker_after_bytes(struct worker *worker)
{
    if (worker->lossless && !worker->is_held
        && sink_is_full(worker->config->sink))
        worker_set_held(worker, 1);
}

/* worker_maybe_release ends holding when the output has room. */
static void
worker_maybe_release(struct worker *worker)
{
    if (worker->is_held && !sink_is_full(worker->config->sink))
        worker_set_held(worker, 0);
}

static void
on_recheck(evutil_socket_t fd, short what, void *arg)
{
    struct worker *worker = arg;
    uint64_t now_us = worker_now(worker);
    struct relay *relay, *next;

    (void)fd;
    (void)what;
    /* It may end relays, the first one too. */
    worker_maybe_release(worker);
    relay = worker->can_edge ? NULL : worker->first;
    for (; relay != NULL; relay = next) {
        next = relay_link(relay)->next;
        relay_probe(relay, now_us);
    }
    worker_arm_recheck(worker);
}

/* ---- messages and commands ---- */

/* message_write returns 0, or -1 when the pipe is full. */
static int
message_write(struct worker *worker, const struct worker_message *message)
{
    ssize_t len;

    do {
        len = write(worker->pipe[1], message, sizeof(*message));
    } while (len < 0 && errno == EINTR);
    /* Shorter than PIPE_BUF: all or nothing. */
    return len == (ssize_t)sizeof(*message) ? 0 : -1;
}

int
worker_offer(struct worker *worker, const struct worker_message *message)
{
    return message_write(worker, message);
}

void
worker_command(struct worker *worker, enum worker_command command)
{
    struct worker_message message;

    memset(&message, 0, sizeof(message));
    message.fd = -1;
    atomic_fetch_or(&worker->commands, (unsigned)command);
    /* A full pipe wakes as well: commands are looked at after reading it. */
    (void)message_write(worker, &message);
}

void
worker_adopt(struct worker *worker, const struct worker_message *message)
{
    relay_start(worker, message, worker_now(worker));
}

static void
worker_obey(struct worker *worker)
{
    unsigned commands = atomic_exchange(&worker->commands, 0);

    if (commands == 0)
        return;
    if (commands & WORKER_ROOM)
        worker_maybe_release(worker);
    if (commands & WORKER_STOP)
        worker->is_stopping = 1;
    worker_pool_obey(worker->pool, worker, commands);
}

/* worker_read_pipe reads up to MESSAGES_MAX messages; returns their number. */
static size_t
worker_read_pipe(struct worker *worker, struct worker_message *messages)
{
    ssize_t len = read(worker->pipe[0], messages,
                       MESSAGES_MAX * sizeof(*messages));

    if (len <= 0)
        return 0;
    assert((size_t)len % sizeof(*messages) == 0);
    return (size_t)len / sizeof(*messages);
}

static void
on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct worker_message messages[MESSAGES_MAX];
    struct worker *worker = arg;
    size_t n = worker_read_pipe(worker, messages);

    (void)fd;
    (void)what;
    for (size_t i = 0; i < n; i++) {
        if (messages[i].fd >= 0)
            worker_adopt(worker, &messages[i]);
    }
    worker_obey(worker);
}

void
worker_discard(struct worker *worker)
{
    struct worker_message messages[MESSAGES_MAX];
    size_t n;

    do {
        n = worker_read_pipe(worker, messages);
        for (size_t i = 0; i < n; i++) {
            if (messages[i].fd < 0)
                continue;
            net_reset_on_close(messages[i].fd);
            close(messages[i].fd);
        }
    } while (n > 0);
}

void
worker_ended(struct worker *worker)
{
    worker_pool_ended(worker->pool);
}

void
worker_starve(struct worker *worker, int error)
{
    worker_pool_starve(worker->pool, error);
}

/* ---- names ---- */

struct evdns_base *
worker_dns(struct worker *worker)
{
    if (worker->dns != NULL)
        return worker->dns;
    worker->dns = evdns_base_new(worker->base,
                                 EVDNS_BASE_INITIALIZE_NAMESERVERS);
    if (worker->dns == NULL) {
        /* No nameserver is configured.  The hosts file still counts, and
         * resolv.conf(5) has the local host for a nameserver then. */
        worker->dns = evdns_base_new(worker->base, 0);
        if (worker->dns == NULL)
            return NULL;
        (void)evdns_base_load_hosts(worker->dns, "/etc/hosts");
        (void)evdns_base_nameserver_ip_add(worker->dns, "127.0.0.1");
    }
    /* Some small resolvers do not give the letters' case back. */
    (void)evdns_base_set_option(worker->dns, "randomize-case", "0");
    return worker->dns;
}

/* ---- the loop ---- */

/* on_flush only ends the wait of the loop: its round ends like any other. */
static void
on_flush(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    (void)user;
}

/* worker_flush gives the lines to the output: at once for some rounds after a
 * pause, but when many follow each other closely for several of them. */
static void
worker_flush(struct worker *worker, uint64_t now_us)
{
    struct timeval delay = timeval_of(FLUSH_US);

    if (credit_take(&worker->flushes, now_us, FLUSH_US, FLUSH_ROW)) {
        lane_flush(&worker->lane);
    } else if (!evtimer_pending(worker->flush, NULL)) {
        evtimer_add(worker->flush, &delay);
    }
}

/* worker_end_round takes care of the lines of a round. */
static void
worker_end_round(struct worker *worker)
{
    uint64_t now_us;

    if (lane_is_empty(&worker->lane) && !lane_has_dropped(&worker->lane))
        return;
    now_us = net_now_us();
    worker_report_drops(worker, now_us);
    worker_flush(worker, now_us);
    worker_after_bytes(worker);
}

/* worker_finish ends all connections and lets cancelled look-ups go. */
static void
worker_finish(struct worker *worker)
{
    while (worker->first != NULL)
        relay_stop(worker->first, worker_now(worker));
    for (int i = 0; worker->n_lookups > 0 && i < LOOKUP_ROUNDS_MAX; i++)
        (void)event_base_loop(worker->base, EVLOOP_NONBLOCK);
    worker_report_drops(worker, net_now_us());
    lane_flush(&worker->lane);
}

void
worker_run(struct worker *worker)
{
    while (!worker->is_stopping) {
        if (event_base_loop(worker->base, EVLOOP_ONCE) < 0) {
            log_error("the event loop failed: %s", strerror(errno));
            worker_pool_fail(worker->pool);
            break;
        }
        worker_end_round(worker);
    }
    worker_finish(worker);
}

/* worker_make_events makes the events of the worker itself. */
static int
worker_make_events(struct worker *worker)
{
    worker->wake = event_new(worker->base, worker->pipe[0],
                             EV_READ | EV_PERSIST, on_wake, worker);
    worker->recheck = evtimer_new(worker->base, on_recheck, worker);
    worker->flush = evtimer_new(worker->base, on_flush, worker);
    if (worker->config->idle_timeout_us > 0)
        worker->idle = evtimer_new(worker->base, on_idle, worker);
    if (worker->wake == NULL || worker->recheck == NULL
        || worker->flush == NULL
        || (worker->config->idle_timeout_us > 0 && worker->idle == NULL)
        || event_add(worker->wake, NULL) < 0)
        return -1;
    worker_arm_recheck(worker);
    return 0;
}

/* worker_make makes what a worker owns.  Returns 0 or -1 with errno. */
static int
worker_make(struct worker *worker)
{
    const struct worker_config *config = worker->config;

    errno = ENOMEM;
    worker->base = event_base_new();
    worker->buffer = malloc(WORKER_BUFFER_SIZE);
    if (worker->base == NULL || worker->buffer == NULL)
        return -1;
    worker->can_edge = (event_base_get_features(worker->base) & EV_FEATURE_ET)
                       != 0;
    if (net_pipe(worker->pipe) < 0)
        return -1;
    errno = ENOMEM;
    if (config->want_summary)
        worker->summary = summary_new();
    if (config->want_summary && worker->summary == NULL)
        return -1;
    worker->shared = config->watch->shared_new(config->watch_config,
                                               &worker->lane, worker->summary,
                                               worker->wall_offset_us);
    return worker->shared != NULL ? worker_make_events(worker) : -1;
}

int
worker_init(struct worker *worker, struct worker_pool *pool,
            const struct worker_config *config,
            const struct upstream *upstream)
{
    memset(worker, 0, sizeof(*worker));
    worker->pool = pool;
    worker->config = config;
    worker->upstream = upstream;
    worker->pipe[0] = -1;
    worker->pipe[1] = -1;
    worker->lossless = config->sink != NULL
                       && sink_is_lossless(config->sink);
    worker->read_size =
        worker->lossless ? WORKER_LOSSLESS_READ : WORKER_BUFFER_SIZE;
    worker->wall_checked_us = net_now_us();
    worker->wall_offset_us = net_wall_offset_us();
    lane_init(&worker->lane, config->sink);
    if (worker_make(worker) == 0)
        return 0;
    log_error("cannot make a worker: %s", strerror(errno));
    return -1;
}

static void
free_event(struct event *event)
{
    if (event != NULL)
        event_free(event);
}

void
worker_clear(struct worker *worker)
{
    if (worker->shared != NULL)
        worker->config->watch->shared_free(worker->shared);
    lane_clear(&worker->lane);
    summary_free(worker->summary);
    free_event(worker->wake);
    free_event(worker->recheck);
    free_event(worker->idle);
    free_event(worker->flush);
    if (worker->dns != NULL)
        evdns_base_free(worker->dns, 0);
    for (int i = 0; i < 2; i++) {
        if (worker->pipe[i] >= 0)
            close(worker->pipe[i]);
    }
    if (worker->base != NULL)
        event_base_free(worker->base);
    free(worker->buffer);
}

void
worker_add_totals(const struct worker *worker, struct run_totals *totals)
{
    worker->config->watch->shared_add_totals(worker->shared, totals);
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        totals->dropped += worker->lane.lost[kind];
}
