/* SPDX-License-Identifier: MIT */
/*
 * A worker: one event loop and everything that belongs to its thread.  It
 * takes connections and commands from a pipe, runs relays, hands its lane to
 * the sink at the end of a round (when many follow each other, of several),
 * and holds traffic for --lossless.
 *
 * worker_pool.h is the face towards main; this one is for the relay's parts.
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdint.h>
#include <sys/socket.h>

#include "addr.h"
#include "credit.h"
#include "lane.h"
#include "watch.h"

struct event;
struct event_base;
struct evdns_base;
struct relay;
struct run_totals;
struct sink;
struct summary;
struct upstream;
struct worker_pool;

/* WORKER_BUFFER_SIZE is what one recv may bring: larger ones gain nothing
 * measurable, smaller ones cost system calls. */
#define WORKER_BUFFER_SIZE (256u << 10)

/* WORKER_LOSSLESS_READ is what one recv may bring with --lossless: the events
 * of a read are all written, whatever their number, before the next one is
 * held up, and a byte can cost some hundred bytes of events. */
#define WORKER_LOSSLESS_READ (16u << 10)

/* struct worker_config is the same for all workers. */
struct worker_config {
    /* upstream is where the server is. */
    const struct addr *upstream;
    /* sink takes the events. */
    struct sink *sink;
    /* watch makes the observers, from watch_config. */
    const struct watch *watch;
    const void *watch_config;
    /* Times are microseconds; 0: none. */
    uint64_t connect_timeout_us;
    uint64_t idle_timeout_us;
    /* max_connections bounds the open connections; 0: no bound. */
    unsigned max_connections;
    /* want_summary is 1 to keep a summary. */
    int want_summary;
};

/* struct worker_message travels through a worker's pipe: a connection, or
 * fd -1 to have it look at its commands. */
struct worker_message {
    /* fd is the accepted socket, or -1. */
    int fd;
    /* peer_len is the length of peer. */
    socklen_t peer_len;
    /* conn is the number of the connection, from 1. */
    uint64_t conn;
    /* peer is the client's address. */
    struct sockaddr_storage peer;
};

/* enum worker_command: bits that any thread may set. */
enum worker_command {
    WORKER_STOP = 1,      /* end all connections and the loop */
    WORKER_ROOM = 2,      /* the output has room again */
    WORKER_REPORT = 4,    /* add your counters to the pool's report */
    WORKER_UNCAP = 8,     /* a connection ended at the limit */
    WORKER_EXHAUSTED = 16 /* a worker ran out of descriptors */
};

/* struct worker is touched by its own thread only, but for the pipe and the
 * commands. */
struct worker {
    /* pool and config are shared by all workers. */
    struct worker_pool *pool;
    const struct worker_config *config;
    /* upstream is where to connect, prepared. */
    const struct upstream *upstream;
    struct event_base *base;
    /* can_edge is 1 when the base reports edges (EV_ET). */
    int can_edge;
    /* lossless is 1 when a full output holds traffic. */
    int lossless;
    /* is_held is 1 while nothing is read because the output is full. */
    int is_held;
    /* is_stopping is 1 from WORKER_STOP on. */
    int is_stopping;
    /* buffer is what every recv reads into, read_size bytes at most. */
    uint8_t *buffer;
    size_t read_size;
    struct lane lane;
    /* summary is NULL unless wanted. */
    struct summary *summary;
    /* shared belongs to the watch. */
    void *shared;
    /* wall_offset_us plus a monotonic time is UTC; wall_checked_us is when
     * that was last true. */
    int64_t wall_offset_us;
    uint64_t wall_checked_us;
    /* first and last are the ends of the list of relays; with
     * --idle-timeout the longest idle comes first. */
    struct relay *first;
    struct relay *last;
    /* dns is made when a name is first resolved. */
    struct evdns_base *dns;
    /* n_lookups counts cancelled look-ups whose last callback is due. */
    unsigned n_lookups;
    /* pipe brings messages: [0] is read here, [1] written by others. */
    int pipe[2];
    /* commands is a set of enum worker_command. */
    _Atomic unsigned commands;
    /* wake is the event of pipe[0]. */
    struct event *wake;
    /* idle looks for idle connections; NULL without --idle-timeout. */
    struct event *idle;
    /* flushes is how often lines may be given to the output at once; flush
     * ends a wait for more of them. */
    struct credit flushes;
    struct event *flush;
    /* recheck runs while is_held or, where edges are not reported, looks
     * for resets of sides that are not read. */
    struct event *recheck;
};

/* worker_init prepares |worker|.  Returns 0, or -1 after logging why; then,
 * as later, worker_clear frees. */
int worker_init(struct worker *worker, struct worker_pool *pool,
                const struct worker_config *config,
                const struct upstream *upstream);

/* worker_clear frees what |worker| holds; the sink may be gone already. */
void worker_clear(struct worker *worker);

/* worker_run runs the loop until WORKER_STOP and ends every connection. */
void worker_run(struct worker *worker);

/* worker_command sets |command| and wakes the worker.  From any thread. */
void worker_command(struct worker *worker, enum worker_command command);

/* worker_offer passes a connection to |worker|.  Returns 0, or -1 when its
 * pipe is full; then the connection stays the caller's.  From any thread. */
int worker_offer(struct worker *worker, const struct worker_message *message);

/* worker_adopt starts relaying a connection, in the worker's thread. */
void worker_adopt(struct worker *worker, const struct worker_message *message);

/* worker_discard closes connections still in the pipe, after the run. */
void worker_discard(struct worker *worker);

/* worker_add_totals adds the worker's figures; in its thread, or when it does
 * not run. */
void worker_add_totals(const struct worker *worker, struct run_totals *totals);

/* worker_now returns the monotonic time: once per callback. */
uint64_t worker_now(struct worker *worker);

/* worker_list_add puts |relay| at the end of the list. */
void worker_list_add(struct worker *worker, struct relay *relay);

/* worker_list_remove takes |relay| off the list. */
void worker_list_remove(struct worker *worker, struct relay *relay);

/* worker_ended says that a connection handed to the worker is over. */
void worker_ended(struct worker *worker);

/* worker_touch notes that bytes of |relay| moved at |now_us|. */
void worker_touch(struct worker *worker, struct relay *relay, uint64_t now_us);

/* worker_after_bytes is called when an observer has seen bytes: it holds
 * traffic when a lossless output is full. */
void worker_after_bytes(struct worker *worker);

/* worker_dns returns the worker's resolver, or NULL. */
struct evdns_base *worker_dns(struct worker *worker);

/* worker_starve says that a connection waits for a descriptor, for want of
 * which (|error|) no socket was to be had: accepting rests.  With |error| 0 it
 * no longer waits. */
void worker_starve(struct worker *worker, int error);

#endif
