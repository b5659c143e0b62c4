/* SPDX-License-Identifier: MIT */
/* Lets workers make taps: the one place that knows both.  Nothing happens
 * here but the change of types. */
#include "event_run.h"
#include "tap.h"
#include "watch.h"

static void *
shared_new(const void *config, struct lane *lane, struct summary *summary,
           int64_t wall_offset_us)
{
    return tap_shared_new(config, lane, summary, wall_offset_us);
}

static void
shared_free(void *shared)
{
    tap_shared_free(shared);
}

static void
shared_set_wall(void *shared, int64_t wall_offset_us)
{
    tap_shared_set_wall(shared, wall_offset_us);
}

static void
shared_add_totals(const void *shared, struct run_totals *totals)
{
    struct tap_counters counters = tap_shared_counters(shared);

    totals->connections += counters.connections;
    totals->calls += counters.calls;
    totals->messages += counters.messages;
    totals->notices += counters.notices;
    totals->bytes_from_client += counters.bytes[SIDE_CLIENT];
    totals->bytes_from_server += counters.bytes[SIDE_SERVER];
}

static void *
observer_new(void *shared, uint64_t conn, const char *client, uint64_t now_us)
{
    return tap_new(shared, conn, client, now_us);
}

const struct watch watch_tap = {
    .observer = &tap_observer,
    .shared_new = shared_new,
    .shared_free = shared_free,
    .shared_set_wall = shared_set_wall,
    .shared_add_totals = shared_add_totals,
    .observer_new = observer_new,
};
