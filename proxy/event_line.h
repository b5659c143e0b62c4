/* SPDX-License-Identifier: MIT */
/*
 * What every event begins and ends with: the line in the lane, its name, its
 * time, its connection.  For event*.c alone.
 */
#ifndef EVENT_LINE_H
#define EVENT_LINE_H

#include <stdint.h>

#include "json.h"
#include "kind.h"

struct tap;

/* event_line_begin starts an event of |tap| that happened at |now_us|.  Returns
 * 1, or 0 when it is not selected or the output has no room for it: then
 * nothing is to be written. */
int event_line_begin(struct json *json, const struct tap *tap,
                     enum event_kind kind, uint64_t now_us);

/* event_line_begin_run starts an event of no connection in |lane|; 0 as
 * above. */
int event_line_begin_run(struct json *json, struct lane *lane,
                         enum event_kind kind, int64_t wall_us);

/* event_line_time returns |when_us| as it is written; valid until the next
 * call. */
const char *event_line_time(const struct tap *tap, uint64_t when_us);

/* event_line_end ends the line.  Returns 0, or -1 when memory ran out and it
 * was dropped. */
int event_line_end(struct json *json);

#endif
