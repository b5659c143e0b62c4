/* SPDX-License-Identifier: MIT */
/*
 * The workers of a run, as main sees them.  Worker 0 runs in the thread that
 * calls worker_pool_run and also accepts; the others have threads of their
 * own.  The order of use:
 *
 *     worker_pool_new, worker_pool_run (returns when stopped),
 *     worker_pool_totals, worker_pool_summary, worker_pool_free
 */
#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include <stdint.h>

#include "event_run.h"
#include "worker.h"

struct event_base;
struct lane;
struct listener;
struct summary;
struct worker_pool;

/* worker_pool_new makes |n| > 0 workers that serve |listener|, which stays the
 * caller's and outlives the pool.  |config| is copied, what it points to is
 * not.  Returns NULL after logging why. */
struct worker_pool *worker_pool_new(const struct worker_config *config,
                                    unsigned n, struct listener *listener);

/* worker_pool_base returns worker 0's event base, for signal events. */
struct event_base *worker_pool_base(struct worker_pool *pool);

/* worker_pool_lane returns worker 0's lane: for `start` before the run and
 * `stop` after it. */
struct lane *worker_pool_lane(struct worker_pool *pool);

/* worker_pool_wall_us returns UTC in microseconds. */
int64_t worker_pool_wall_us(void);

/* worker_pool_run relays until worker_pool_stop.  When it returns, the
 * listener is closed, every connection ended and every other thread gone.
 * Returns 0, or -1 after logging why it could not start or go on. */
int worker_pool_run(struct worker_pool *pool);

/* worker_pool_stop ends the run: connections are told CONN_SHUTDOWN.  From
 * any thread, also before the run and more than once; NULL is fine. */
void worker_pool_stop(struct worker_pool *pool);

/* worker_pool_room says that a full output has room again (--lossless): for
 * sink_config.on_room.  From any thread; NULL is fine. */
void worker_pool_room(struct worker_pool *pool);

/* worker_pool_report prints live counters on standard error, one line, as
 * soon as each worker has added its own.  From any thread. */
void worker_pool_report(struct worker_pool *pool);

/* worker_pool_totals adds up the workers' figures; only while the pool does
 * not run. */
void worker_pool_totals(const struct worker_pool *pool,
                        struct run_totals *totals);

/* worker_pool_summary merges the workers' summaries and returns the result,
 * owned by the pool; NULL when none was wanted. Call it once, after the
 * run. */
struct summary *worker_pool_summary(struct worker_pool *pool);

/* worker_pool_free frees |pool|; NULL is fine.  The sink is not used: lines
 * written since the run have to be flushed before. */
void worker_pool_free(struct worker_pool *pool);

/* ---- for the workers, in any of their threads ---- */

/* worker_pool_obey does what |commands| ask of the pool. */
void worker_pool_obey(struct worker_pool *pool, const struct worker *worker,
                      unsigned commands);

/* worker_pool_ended says that a connection is over. */
void worker_pool_ended(struct worker_pool *pool);

/* worker_pool_starve: see worker_starve. */
void worker_pool_starve(struct worker_pool *pool, int error);

/* worker_pool_fail ends the run as a failure. */
void worker_pool_fail(struct worker_pool *pool);

#endif
