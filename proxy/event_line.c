/* SPDX-License-Identifier: MIT */
/* Owns what is the same in every event.  What else is in one belongs to the
 * file of its kind. */
#include "event_line.h"

#include "tap_conn.h"
#include "timefmt.h"

static void
begin(struct json *json, struct lane *lane, enum event_kind kind,
      const char *time)
{
    json_begin(json, lane);
    json_literal(json, "event", event_kind_name(kind));
    json_literal(json, "time", time);
}

int
event_line_begin_run(struct json *json, struct lane *lane,
                     enum event_kind kind, int64_t wall_us)
{
    char time[TIME_TEXT_LEN];

    if (!lane_begin(lane, kind)) {
        return 0;
    }
    time_format(wall_us, time);
    begin(json, lane, kind, time);
    return 1;
}

const char *
event_line_time(const struct tap *tap, uint64_t when_us)
{
    struct tap_shared *shared = tap->shared;

    return time_format_memo(&shared->time,
                            (int64_t)when_us + shared->wall_offset_us);
}

int
event_line_begin(struct json *json, const struct tap *tap,
                 enum event_kind kind, uint64_t now_us)
{
    if (!tap_wants(tap, kind) || !lane_begin(tap->shared->lane, kind)) {
        return 0;
    }
    begin(json, tap->shared->lane, kind, event_line_time(tap, now_us));
    json_uint(json, "conn", tap->conn);
    return 1;
}

int
event_line_end(struct json *json)
{
    int failed;

    json_end(json);
    failed = json->lane->failed;
    lane_end(json->lane);
    return failed ? -1 : 0;
}
