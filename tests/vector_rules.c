/* SPDX-License-Identifier: MIT */
/*
 * Owns rule 4: each stream with HEADERS gives one call and each connection
 * one connection_close, counted in the bytes.  Rule 5 is vector_late.c's, rule
 * 7 vector_cause.c's.
 */
#include "vector_rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../h2dec/h2dec.h"
#include "../proxy/kind.h"
#include "vector_frame.h"

/* struct ids is a set of stream ids. */
struct ids {
    /* ids are n of them, sorted by ids_sort. */
    uint32_t *ids;
    size_t n;
};

static const cJSON *
get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *
rules_side(enum side side)
{
    return side == SIDE_CLIENT ? "client" : "server";
}

int
rules_notice(const struct vector_lines *lines, const char *code,
             const char *from)
{
    for (size_t i = 0; i < lines->n; i++) {
        const cJSON *event = lines->events[i];

        if (strcmp(vector_lines_event(event), "notice") == 0 &&
            strcmp(vector_lines_string(event, "code"), code) == 0 &&
            (from == NULL ||
             strcmp(vector_lines_string(event, "from"), from) == 0)) {
            return 1;
        }
    }
    return 0;
}

static void
ids_add(struct ids *set, uint32_t id)
{
    set->ids = vector_grow(set->ids, set->n + 1, sizeof(*set->ids));
    set->ids[set->n++] = id;
}

static int
id_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void
ids_sort(struct ids *set)
{
    if (set->n > 0) {
        qsort(set->ids, set->n, sizeof(*set->ids), id_compare);
    }
}

static int
ids_has(const struct ids *set, uint32_t id)
{
    return set->n > 0 && bsearch(&id, set->ids, set->n, sizeof(*set->ids),
                                 id_compare) != NULL;
}

/* ---- What the bytes say ---------------------------------------------- */

/* streams_find collects the streams that carry HEADERS and those that are
 * promised.  Returns how many ids were skipped and may be forgotten. */
static unsigned
streams_find(const struct vector_walk *walk, struct ids *headers,
             struct ids *promised)
{
    uint32_t highest[2] = {0, 0};
    unsigned n_gaps = 0;

    for (size_t i = 0; i < walk->n; i++) {
        const struct walk_frame *frame = &walk->frames[i];
        uint32_t id = vector_walk_promised(walk, frame);

        if (id != 0) {
            ids_add(promised, id);
        } else if (frame->type == VECTOR_FRAME_HEADERS && frame->stream != 0) {
            id = frame->stream;
            ids_add(headers, id);
        } else {
            continue;
        }
        if (id > highest[id % 2]) {
            n_gaps += id > highest[id % 2] + 2;
            highest[id % 2] = id;
        } else if (id < highest[id % 2]) {
            n_gaps += highest[id % 2] - id > 2; /* it may split one */
        }
    }
    ids_sort(headers);
    ids_sort(promised);
    return n_gaps;
}

static void
calls_find(const struct vector_lines *lines, struct ids *calls)
{
    for (size_t i = 0; i < lines->n; i++) {
        const cJSON *event = lines->events[i];

        if (strcmp(vector_lines_event(event), "call") == 0) {
            ids_add(calls, (uint32_t)get(event, "stream")->valuedouble);
        }
    }
    ids_sort(calls);
}

/* ---- Rule 4 ---------------------------------------------------------- */

static void
calls_compare(struct rules_run *run, const struct ids *headers,
              const struct ids *promised, const struct ids *calls)
{
    int is_upgraded = rules_notice(run->lines, "h2c_upgrade", NULL);

    for (size_t i = 0; i < calls->n; i++) {
        uint32_t id = calls->ids[i];

        if (i > 0 && calls->ids[i - 1] == id) {
            vector_format(run->problem, "rule 4: two calls of stream %u; ",
                          id);
        } else if (!ids_has(headers, id) && !ids_has(promised, id) &&
                   !(is_upgraded && id == 1)) {
            vector_format(run->problem,
                          "rule 4: a call of stream %u without HEADERS; ",
                          id);
        }
    }
    for (size_t i = 0; i < headers->n && !run->has_gaps; i++) {
        if (!ids_has(calls, headers->ids[i])) {
            vector_format(run->problem,
                          "rule 4: stream %u has HEADERS and no call; ",
                          headers->ids[i]);
            return;
        }
    }
}

static void
streams_check(struct rules_run *run)
{
    struct ids headers = {0};
    struct ids promised = {0};
    struct ids calls = {0};
    unsigned n_gaps = streams_find(&run->walk, &headers, &promised);

    run->has_gaps = n_gaps > H2DEC_GAPS_MAX;
    if ((run->events >> EVENT_CALL & 1) != 0) {
        calls_find(run->lines, &calls);
        calls_compare(run, &headers, &promised, &calls);
    }
    free(headers.ids);
    free(promised.ids);
    free(calls.ids);
}

/* exchanges_check: calls of HTTP/1.x are numbered from 1 without a gap. */
static void
exchanges_check(const struct vector_lines *lines, const cJSON *close,
                struct vector_buf *problem)
{
    struct ids calls = {0};

    calls_find(lines, &calls);
    for (size_t i = 0; i < calls.n; i++) {
        if (calls.ids[i] != i + 1) {
            vector_format(problem, "rule 4: exchange %u is number %zu; ",
                          calls.ids[i], i + 1);
            break;
        }
    }
    if (calls.n != (size_t)get(close, "calls")->valuedouble) {
        vector_format(problem, "rule 4: %zu calls are not those of close; ",
                      calls.n);
    }
    free(calls.ids);
}

/* ---- What could be framed -------------------------------------------- */

static size_t
undecoded(const cJSON *close, enum side side)
{
    const cJSON *object =
        get(close, side == SIDE_CLIENT ? "from_client" : "from_server");

    return (size_t)get(object, "undecoded_bytes")->valuedouble;
}

static size_t
sent(const cJSON *close, enum side side)
{
    const cJSON *object =
        get(close, side == SIDE_CLIENT ? "from_client" : "from_server");

    return (size_t)get(object, "bytes")->valuedouble;
}

/* is_stopped returns 1 when a notice says why |side| is not decoded. */
static int
is_stopped(const struct vector_lines *lines, enum side side)
{
    return rules_notice(lines, "framing_lost", rules_side(side)) ||
           rules_notice(lines, "protocol_mismatch", NULL) ||
           rules_notice(lines, "tap_limit", NULL) ||
           rules_notice(lines, "tap_failed", NULL);
}

int
rules_has_preface(const struct vector_walk *all)
{
    const struct vector_buf *bytes = &all->bytes[SIDE_CLIENT];

    for (size_t i = 0; i + VECTOR_PREFACE_LEN <= bytes->len; i++) {
        if (memcmp(bytes->data + i, VECTOR_PREFACE, VECTOR_PREFACE_LEN) ==
            0) {
            return 1;
        }
    }
    return 0;
}

/* framed_check: without a notice that says why, nothing may be given up but
 * a frame that is not whole at the end (of DATA, not even that). */
static void
framed_check(struct rules_run *run, const struct vector_walk *all,
             enum side side)
{
    size_t left = all->bytes[side].len - all->at[side];
    const uint8_t *rest = all->bytes[side].data + all->at[side];
    size_t want = all->after[side];

    if (left < WALK_HEAD || rest[3] != VECTOR_FRAME_DATA) {
        want += left;
    }
    if (!is_stopped(run->lines, side) && rules_has_preface(all) &&
        undecoded(run->close, side) != want) {
        vector_format(run->problem,
                      "rule 4: the %s's undecoded_bytes are not %zu, and no "
                      "notice says why; ",
                      rules_side(side), want);
    }
}

static void
h2_check(struct rules_run *run, const struct vector_script *script,
         size_t limit)
{
    static const size_t no_end[2] = {SIZE_MAX, SIZE_MAX};
    size_t ends[2] = {
        sent(run->close, SIDE_CLIENT) - undecoded(run->close, SIDE_CLIENT),
        sent(run->close, SIDE_SERVER) - undecoded(run->close, SIDE_SERVER)};
    int is_upgraded = rules_notice(run->lines, "h2c_upgrade", NULL);
    struct vector_walk all;

    vector_walk_frames(&all, script, limit, no_end, is_upgraded);
    framed_check(run, &all, SIDE_CLIENT);
    framed_check(run, &all, SIDE_SERVER);
    vector_walk_clear(&all);
    vector_walk_frames(&run->walk, script, limit, ends, is_upgraded);
    streams_check(run);
    if (run->problem->len == 0) {
        vector_rules_late(run);
    }
    vector_walk_clear(&run->walk);
}

int
vector_rules_check(const struct vector_script *script, size_t limit,
                   const struct vector_lines *lines,
                   struct vector_buf *problem)
{
    struct rules_run run;
    unsigned n_closes = 0;

    memset(&run, 0, sizeof(run));
    run.lines = lines;
    run.problem = problem;
    run.events = script->config.events;
    for (size_t i = 0; i < lines->n; i++) {
        if (strcmp(vector_lines_event(lines->events[i]),
                   "connection_close") == 0) {
            run.close = lines->events[i];
            n_closes++;
        }
    }
    if (n_closes != 1 && (run.events >> EVENT_CONNECTION_CLOSE & 1) != 0) {
        vector_format(problem, "rule 4: %u connection_close; ", n_closes);
    }
    vector_rules_cause(lines, problem);
    if (run.close == NULL) {
        return problem->len == 0 ? 0 : -1;
    }
    if (strcmp(vector_lines_string(run.close, "protocol"), "h2") == 0) {
        h2_check(&run, script, limit);
    } else if (strncmp(vector_lines_string(run.close, "protocol"), "http/1",
                       6) == 0 &&
               (run.events >> EVENT_CALL & 1) != 0) {
        exchanges_check(lines, run.close, problem);
    }
    return problem->len == 0 ? 0 : -1;
}
