/* SPDX-License-Identifier: MIT */
/*
 * Owns the equations of the ledger.  It knows the names of the contract and
 * nothing of how the figures come about.
 */
#include "vector_ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "vector_names.h"
#include "vector_tap.h"

/* struct ledger is a check under way. */
struct ledger {
    /* lines are what is checked, by rules. */
    const struct vector_lines *lines;
    const struct vector_ledger_rules *rules;
    /* problem is where the first imbalance is described. */
    struct vector_buf *problem;
    /* n_calls counts call events, n_closes connection_close events. */
    uint64_t n_calls;
    uint64_t n_closes;
    /* call_bytes sums wire_bytes for each direction. */
    uint64_t call_bytes[2];
};

static const char *const direction_names[2] = {"request", "response"};
static const char *const side_names[2] = {"from_client", "from_server"};

static const cJSON *
get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* number returns the count |name|, which must be a whole number. */
static uint64_t
number(struct ledger *ledger, const cJSON *object, const char *name)
{
    const cJSON *value = get(object, name);

    if (!cJSON_IsNumber(value) || value->valuedouble < 0 ||
        value->valuedouble != (double)(uint64_t)value->valuedouble) {
        vector_format(ledger->problem, "%s is not a count; ", name);
        return 0;
    }
    return (uint64_t)value->valuedouble;
}

/* total checks that |sum| is what |name| says. */
static void
total(struct ledger *ledger, const cJSON *object, const char *where,
      const char *name, uint64_t sum)
{
    uint64_t value = number(ledger, object, name);

    if (value != sum) {
        vector_format(ledger->problem,
                      "%s.%s is %" PRIu64 " but adds up to %" PRIu64 "; ",
                      where, name, value, sum);
    }
}

static uint64_t
add(struct ledger *ledger, const cJSON *object, const char *const *names)
{
    uint64_t sum = 0;

    for (; *names != NULL; names++) {
        sum += number(ledger, object, *names);
    }
    return sum;
}

static void
direction_check(struct ledger *ledger, const cJSON *call, int direction)
{
    static const char *const wire[] = {"framing_bytes", "header_block_bytes",
                                       "padding_bytes", "control_bytes",
                                       "body_bytes",    NULL};
    static const char *const body[] = {"prefix_bytes",    "message_bytes",
                                       "truncated_bytes", "trailer_bytes",
                                       "base64_bytes",    NULL};
    const char *where = direction_names[direction];
    const cJSON *object = get(call, where);

    total(ledger, object, where, "wire_bytes", add(ledger, object, wire));
    ledger->call_bytes[direction] += number(ledger, object, "wire_bytes");
    number(ledger, object, "header_list_bytes");
    number(ledger, object, "frames");
    if (strncmp(vector_lines_string(call, "rpc"), "grpc", 4) != 0) {
        return;
    }
    total(ledger, object, where, "body_bytes", add(ledger, object, body));
    if (number(ledger, object, "compressed_messages") >
        number(ledger, object, "messages")) {
        vector_format(ledger->problem,
                      "%s: more messages are compressed "
                      "than there are; ",
                      where);
    }
    if (!cJSON_IsNull(get(object, "decoded_bytes"))) {
        number(ledger, object, "decoded_bytes");
    }
}

/* is_upgraded returns 1 when the connection began as HTTP/1.1: what was sent
 * then is in no frame. */
static int
is_upgraded(const struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->lines->n; i++) {
        const cJSON *event = ledger->lines->events[i];

        if (strcmp(vector_lines_string(event, "code"), "h2c_upgrade") == 0) {
            return 1;
        }
    }
    return 0;
}

/* frames_check adds up `frames`, and compares it with the frame events. */
static void
frames_check(struct ledger *ledger, const cJSON *close, int side)
{
    const cJSON *object = get(close, side_names[side]);
    const cJSON *type;
    uint64_t sum = number(ledger, object, "undecoded_bytes");
    uint64_t n_frames = 0;
    uint64_t n_events = 0;

    if (side == SIDE_CLIENT && ledger->rules->preface) {
        sum += 24;
    }
    cJSON_ArrayForEach(type, get(object, "frames"))
    {
        sum += number(ledger, type, "bytes");
        n_frames += number(ledger, type, "count");
    }
    if (!is_upgraded(ledger) && !cJSON_IsNull(get(object, "frames"))) {
        total(ledger, object, "frames, preface and undecoded_bytes:", "bytes",
              sum);
    }
    for (size_t i = 0; i < ledger->lines->n; i++) {
        const cJSON *event = ledger->lines->events[i];

        n_events += strcmp(vector_lines_event(event), "frame") == 0 &&
                    strcmp(vector_lines_string(event, "from"),
                           side_names[side] + 5) == 0;
    }
    if (ledger->rules->has_frames && n_events != n_frames) {
        vector_format(ledger->problem,
                      "%s.frames counts %" PRIu64 ", events are %" PRIu64 "; ",
                      side_names[side], n_frames, n_events);
    }
}

static void
close_check(struct ledger *ledger, const cJSON *close)
{
    static const char *const parts[] = {"call_bytes", "connection_bytes",
                                        "late_bytes", "undecoded_bytes", NULL};

    for (int side = 0; side < 2; side++) {
        const char *where = side_names[side];
        const cJSON *object = get(close, where);

        total(ledger, object, where, "bytes", add(ledger, object, parts));
        total(ledger, object, where, "bytes", ledger->rules->sent[side]);
        if (ledger->rules->is_lossy) {
            continue;
        }
        if (ledger->rules->has_calls) {
            total(ledger, object, where, "call_bytes",
                  ledger->call_bytes[side]);
        }
        if (strcmp(vector_lines_string(close, "protocol"), "h2") == 0) {
            frames_check(ledger, close, side);
        }
    }
    if (!ledger->rules->is_lossy && ledger->rules->has_calls) {
        total(ledger, close, "close", "calls", ledger->n_calls);
    }
}

/* struct stream_state is what the events say of one stream. */
struct stream_state {
    /* stream is its number. */
    uint32_t stream;
    /* has_headers, is_promised and has_call are what was seen of it. */
    int has_headers;
    int is_promised;
    int has_call;
};

static struct stream_state *
stream_find(struct stream_state *states, size_t *n, uint64_t stream)
{
    for (size_t i = 0; i < *n; i++) {
        if (states[i].stream == stream) {
            return &states[i];
        }
    }
    memset(&states[*n], 0, sizeof(*states));
    states[*n].stream = (uint32_t)stream;
    (*n)++;
    return &states[*n - 1];
}

/* stream_note takes what |event| says of a stream.  No message of a stream
 * may follow its call, and no second call. */
static void
stream_note(struct ledger *ledger, const cJSON *event,
            struct stream_state *states, size_t *n)
{
    const char *kind = vector_lines_event(event);
    const char *type = vector_lines_string(event, "type");
    struct stream_state *state;

    if (!cJSON_IsNumber(get(event, "stream"))) {
        return;
    }
    state = stream_find(states, n, number(ledger, event, "stream"));
    if (strcmp(kind, "call") == 0) {
        if (state->has_call) {
            vector_format(ledger->problem, "two calls of stream %u; ",
                          state->stream);
        }
        state->has_call = 1;
        /* An exchange of HTTP/1.x has a head, and no frames. */
        state->has_headers |=
            strncmp(vector_lines_string(event, "protocol"), "http/1", 6) == 0;
    } else if (strcmp(kind, "message") == 0 && state->has_call) {
        vector_format(ledger->problem,
                      "a message of stream %u after its "
                      "call; ",
                      state->stream);
    } else if (strcmp(kind, "frame") == 0) {
        state->has_headers |= strcmp(type, "HEADERS") == 0;
        state->is_promised |= strcmp(type, "PUSH_PROMISE") == 0;
    }
}

/* streams_check: each stream with HEADERS has a call, and no other has one,
 * promised streams (of even number) apart. */
static void
streams_check(struct ledger *ledger)
{
    struct stream_state *states =
        vector_alloc((ledger->lines->n + 1) * sizeof(*states));
    size_t n = 0;
    int any_promise = 0;

    for (size_t i = 0; i < ledger->lines->n; i++) {
        stream_note(ledger, ledger->lines->events[i], states, &n);
    }
    for (size_t i = 0; i < n; i++) {
        any_promise |= states[i].is_promised;
    }
    for (size_t i = 0; i < n && ledger->rules->has_frames; i++) {
        const struct stream_state *state = &states[i];

        if (state->has_headers && !state->has_call && state->stream != 0 &&
            ledger->rules->is_orderly) {
            vector_format(ledger->problem, "stream %u has no call; ",
                          state->stream);
        }
        if (state->has_call && !state->has_headers &&
            !(any_promise && state->stream % 2 == 0) &&
            !(state->stream == 1 && is_upgraded(ledger))) {
            vector_format(ledger->problem,
                          "stream %u has a call but no HEADERS; ",
                          state->stream);
        }
    }
    free(states);
}

static void
event_check(struct ledger *ledger, const cJSON *event)
{
    const char *kind = vector_lines_event(event);

    vector_names_check(event, ledger->problem);
    if (number(ledger, event, "conn") != VECTOR_TAP_CONN) {
        vector_format(ledger->problem, "conn is not %d; ", VECTOR_TAP_CONN);
    }
    if (strcmp(kind, "call") == 0) {
        ledger->n_calls++;
        direction_check(ledger, event, 0);
        direction_check(ledger, event, 1);
    } else if (strcmp(kind, "connection_close") == 0) {
        ledger->n_closes++;
        close_check(ledger, event);
    } else if (strcmp(kind, "message") == 0) {
        number(ledger, event, "length");
        number(ledger, event, "index");
    }
    if (ledger->n_closes > 0 && strcmp(kind, "connection_close") != 0) {
        vector_format(ledger->problem, "%s after connection_close; ", kind);
    }
}

int
vector_ledger_check(const struct vector_lines *lines,
                    const struct vector_ledger_rules *rules,
                    struct vector_buf *problem)
{
    struct ledger ledger;
    size_t start = problem->len;

    memset(&ledger, 0, sizeof(ledger));
    ledger.lines = lines;
    ledger.rules = rules;
    ledger.problem = problem;
    for (size_t i = 0; i < lines->n && problem->len == start; i++) {
        event_check(&ledger, lines->events[i]);
        if (problem->len != start) {
            char *text = cJSON_PrintUnformatted(lines->events[i]);

            vector_format(problem, "in %s", text);
            cJSON_free(text);
        }
    }
    if (problem->len == start && ledger.n_closes != 1 &&
        (!rules->is_lossy || ledger.n_closes > 1)) {
        vector_format(problem, "%" PRIu64 " connection_close events; ",
                      ledger.n_closes);
    }
    if (problem->len == start && !rules->is_lossy) {
        streams_check(&ledger);
    }
    return problem->len == start ? 0 : -1;
}
