/* SPDX-License-Identifier: MIT */
/* Owns the form of start, stop and dropped, the events of a run.  Those of a
 * connection are event.c's. */
#include "event_run.h"

#include <string.h>
#include <unistd.h>

#include "event_line.h"
#include "version.h"

int
event_start(struct lane *lane, int64_t wall_us, const char *listen,
            const char *upstream)
{
    struct json json;

    if (!event_line_begin_run(&json, lane, EVENT_START, wall_us)) {
        return -1;
    }
    json_literal(&json, "version", GRPCTAP_VERSION);
    json_string(&json, "listen", listen);
    json_string(&json, "upstream", upstream);
    json_uint(&json, "pid", (uint64_t)getpid());
    return event_line_end(&json);
}

int
event_stop(struct lane *lane, int64_t wall_us, const struct run_totals *totals)
{
    struct json json;

    if (!event_line_begin_run(&json, lane, EVENT_STOP, wall_us)) {
        return -1;
    }
    json_uint(&json, "duration_us", totals->duration_us);
    json_uint(&json, "connections", totals->connections);
    json_uint(&json, "calls", totals->calls);
    json_uint(&json, "messages", totals->messages);
    json_uint(&json, "notices", totals->notices);
    json_uint(&json, "bytes_from_client", totals->bytes_from_client);
    json_uint(&json, "bytes_from_server", totals->bytes_from_server);
    json_uint(&json, "dropped", totals->dropped);
    return event_line_end(&json);
}

int
event_dropped(struct lane *lane, int64_t wall_us)
{
    struct json json;

    if (!event_line_begin_run(&json, lane, EVENT_DROPPED, wall_us)) {
        return -1;
    }
    json_open(&json, "counts");
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        if (lane->dropped[kind] > 0) {
            json_uint(&json, event_kind_name((enum event_kind)kind),
                      lane->dropped[kind]);
        }
    }
    json_close(&json);
    json_uint(&json, "total", lane_dropped_total(lane));
    if (event_line_end(&json) != 0) {
        return -1;
    }
    memset(lane->dropped, 0, sizeof(lane->dropped));
    return 0;
}
