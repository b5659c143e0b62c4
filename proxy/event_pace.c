/* SPDX-License-Identifier: MIT */
/* Owns the members that say how fast things went: stalls, PINGs, streams at
 * once.  How that is found out is pace.c's. */
#include "event_pace.h"

#include "call.h"
#include "tap_conn.h"

static void
put_if(struct json *json, const char *key, int known, uint64_t value)
{
    if (known) {
        json_uint(json, key, value);
    } else {
        json_null(json, key);
    }
}

static void
put_stalls(struct json *json, const struct pace_figures *figures)
{
    json_uint(json, "stalls", figures->stalls.count);
    json_uint(json, "stalled_us", figures->stalls.total_us);
    json_uint(json, "longest_stall_us", figures->stalls.longest_us);
    json_uint(json, "connection_stalls", figures->connection_stalls.count);
    json_uint(json, "connection_stalled_us",
              figures->connection_stalls.total_us);
}

static void
put_streams(struct json *json, const struct pace_figures *figures)
{
    json_uint(json, "peak_streams", figures->peak_streams);
    put_if(json, "stream_limit", figures->has_limit, figures->stream_limit);
    json_uint(json, "limited_us", figures->limited_us);
    json_uint(json, "resets", figures->resets);
}

static void
put_pings(struct json *json, const struct pace_figures *figures)
{
    int known = figures->answered > 0;

    json_uint(json, "pings", figures->pings);
    json_uint(json, "pings_answered", figures->answered);
    put_if(json, "ping_min_us", known, figures->ping_min_us);
    put_if(json, "ping_avg_us", known, figures->ping_avg_us);
    put_if(json, "ping_max_us", known, figures->ping_max_us);
}

void
event_pace_connection(struct json *json, const struct tap *tap, enum side side)
{
    struct pace_figures figures;

    if (tap->h2 == NULL) {
        json_null(json, "pace");
        return;
    }
    figures = pace_figures(tap, side);
    json_open(json, "pace");
    put_streams(json, &figures);
    put_pings(json, &figures);
    put_stalls(json, &figures);
    json_close(json);
}

/* Only HTTP/2 has windows, and frames whose distance says something. */
void
event_pace_call(struct json *json, const struct call *call, enum side side)
{
    const struct pace_flow *pace = &call->pace[side];
    int known = call->protocol == CALL_H2;

    put_if(json, "first_data_us", known && pace->has_first_data,
           pace->first_data_us);
    put_if(json, "stalls", known, pace->stalls.count);
    put_if(json, "stalled_us", known, pace->stalls.total_us);
}
