/* SPDX-License-Identifier: MIT */
/* Owns what is the same in every event.  What else is in one belongs to the
 * file of its kind. */
#include "event_line.h"

#include "tap_conn.h"
#include "timefmt.h"

int
event_line_begin_run(struct json *json, struct lane *lane,
                     enum event_kind kind, int64_t wall_us)
{
    char time[TIME_TEXT_LEN];

    if (!lane_begin(lane, kind)) {
        return 0;
    }
    time_format(wall_us, time);
    json_begin(json, lane);
    json_literal(json, "event", event_kind_name(kind));
    json_literal(json, "time", time);
    return 1;
}

int
event_line_begin(struct json *json, const struct tap *tap,
                 enum event_kind kind, uint64_t now_us)
{
    if (!tap_wants(tap, kind) ||
        !event_line_begin_run(json, tap->shared->lane, kind,
                              (int64_t)now_us + tap->shared->wall_offset_us)) {
        return 0;
    }
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
