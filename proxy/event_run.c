/* SPDX-License-Identifier: MIT */
/* Owns the form of start, stop and dropped, the events of a run.  Those of a
 * connection are event.c's; these are rare, so cJSON's own speed will do. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "event_run.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "addr.h"
#include "lane.h"
#include "text.h"
#include "timefmt.h"
#include "version.h"

/* event_add_count adds an integer; a cJSON number is a double and would lose
 * the low bits of a large one. */
static void
event_add_count(cJSON *object, const char *name, uint64_t count)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%" PRIu64, count);
    cJSON_AddRawToObject(object, name, digits);
}

static void
event_add_text(cJSON *object, const char *name, const char *bytes)
{
    /* An invalid byte becomes four characters: \xNN. */
    char text[4 * ADDR_TEXT_MAX + 1];

    text_utf8(text, sizeof(text), bytes, strlen(bytes));
    cJSON_AddStringToObject(object, name, text);
}

/* event_new starts the object of an event; NULL: memory. */
static cJSON *
event_new(enum event_kind kind, int64_t wall_us)
{
    char stamp[28];
    cJSON *object = cJSON_CreateObject();

    time_format(wall_us, stamp);
    cJSON_AddStringToObject(object, "event", event_kind_name(kind));
    cJSON_AddStringToObject(object, "time", stamp);
    return object;
}

/* event_write writes |object| as a line if it has all its |n_fields|, and
 * frees it.  Returns 0, or -1 when memory ran out and nothing was written. */
static int
event_write(struct lane *lane, enum event_kind kind, cJSON *object,
            int n_fields)
{
    char *line = NULL;

    if (cJSON_GetArraySize(object) == n_fields)
        line = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    if (line == NULL || !lane_begin(lane, kind))
        return -1;
    lane_append(lane, line, strlen(line));
    cJSON_free(line);
    int result = lane->failed ? -1 : 0;
    lane_end(lane);
    return result;
}

int
event_start(struct lane *lane, int64_t wall_us, const char *listen,
            const char *upstream)
{
    cJSON *object = event_new(EVENT_START, wall_us);

    cJSON_AddStringToObject(object, "version", GRPCTAP_VERSION);
    event_add_text(object, "listen", listen);
    event_add_text(object, "upstream", upstream);
    event_add_count(object, "pid", (uint64_t)getpid());
    return event_write(lane, EVENT_START, object, 6);
}

int
event_stop(struct lane *lane, int64_t wall_us, const struct run_totals *totals)
{
    cJSON *object = event_new(EVENT_STOP, wall_us);

    event_add_count(object, "duration_us", totals->duration_us);
    event_add_count(object, "connections", totals->connections);
    event_add_count(object, "calls", totals->calls);
    event_add_count(object, "messages", totals->messages);
    event_add_count(object, "notices", totals->notices);
    event_add_count(object, "bytes_from_client", totals->bytes_from_client);
    event_add_count(object, "bytes_from_server", totals->bytes_from_server);
    event_add_count(object, "dropped", totals->dropped);
    return event_write(lane, EVENT_STOP, object, 10);
}

int
event_dropped(struct lane *lane, int64_t wall_us)
{
    cJSON *object = event_new(EVENT_DROPPED, wall_us);
    cJSON *counts = cJSON_AddObjectToObject(object, "counts");
    int kinds = 0;

    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        if (lane->dropped[kind] == 0)
            continue;
        event_add_count(counts, event_kind_name((enum event_kind)kind),
                        lane->dropped[kind]);
        kinds++;
    }
    event_add_count(object, "total", lane_dropped_total(lane));
    int fields = cJSON_GetArraySize(counts) == kinds ? 4 : -1;
    if (event_write(lane, EVENT_DROPPED, object, fields) != 0)
        return -1;
    memset(lane->dropped, 0, sizeof(lane->dropped));
    return 0;
}
