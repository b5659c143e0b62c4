/* SPDX-License-Identifier: MIT */
/*
 * Owns rule 7: the first cause is the one reported.  What is a cause and what
 * a consequence is a table here.
 */
#include "vector_rules.h"

#include <string.h>

/* After one of these nothing that its side sends is understood, so nothing
 * more can be its fault. */
static const char *const ends[] = {"framing_lost", "h1_parse_error",
                                   "protocol_mismatch", NULL};

/* Each of these a side does once at most. */
static const char *const once[] = {
    "framing_lost",          "h1_parse_error",    "hpack_error",
    "protocol_mismatch",     "tap_limit",         "tap_failed",
    "joined_mid_connection", "first_frame_not_settings",
    "h2c_upgrade",           NULL};

/* Of each row one at most, for a side of a stream: they are ways to see one
 * and the same fault. */
static const char *const chains[][5] = {
    {"missing_grpc_status", "status_invalid", NULL},
    {"missing_grpc_status", "non_grpc_response", "content_type_mismatch",
     NULL},
    {"truncated_message", "closed_early", "content_length_mismatch", NULL},
    {"content_encoding_mismatch", "http_layer_compression", NULL},
};

/* STOPPED is how the notice begins after which neither side is decoded. */
#define STOPPED "decoding of this connection stopped"

/* CHAINS is how many there are. */
#define CHAINS (sizeof(chains) / sizeof(chains[0]))

static const cJSON *
get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static int
is_in(const char *const *list, const char *code)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, code) == 0) {
            return 1;
        }
    }
    return 0;
}

static int
is_same(const cJSON *a, const cJSON *b, const char *name)
{
    return cJSON_Compare(get(a, name), get(b, name), 1);
}

/* is_chain returns 1 when both codes are in one row. */
static int
is_chain(const char *a, const char *b)
{
    for (size_t i = 0; i < CHAINS; i++) {
        if (strcmp(a, b) != 0 && is_in(chains[i], a) && is_in(chains[i], b)) {
            return 1;
        }
    }
    return 0;
}

/* is_blind returns 1 when a server is blamed for answering what could not be
 * read: nobody knows what was asked for. */
static int
is_blind(const cJSON *before, const cJSON *after)
{
    return strcmp(vector_lines_string(before, "code"), "h1_parse_error") ==
               0 &&
           strcmp(vector_lines_string(before, "from"), "client") == 0 &&
           strcmp(vector_lines_string(after, "reason"),
                  "a response without a request") == 0;
}

/* is_repeated returns 1 when two errors say the same. */
static int
is_repeated(const cJSON *a, const cJSON *b)
{
    const cJSON *member;

    cJSON_ArrayForEach(member, a)
    {
        if (strcmp(member->string, "time") != 0 &&
            !is_same(a, b, member->string)) {
            return 0;
        }
    }
    return 1;
}

/* rule_of returns which rule the error |after| breaks, coming after the
 * notice |before|; NULL for none. */
static const char *
rule_of(const cJSON *before, const cJSON *after)
{
    const char *first = vector_lines_string(before, "code");
    const char *code = vector_lines_string(after, "code");
    int same_side = is_same(before, after, "from");

    /* The notices of tap_fail: there are others with the same code. */
    if (strncmp(vector_lines_string(before, "detail"), STOPPED,
                sizeof(STOPPED) - 1) == 0) {
        return "an error after both sides were given up";
    }
    if (is_in(ends, first) && same_side) {
        return "an error of a side that was given up";
    }
    if (is_blind(before, after)) {
        return "an answer to what could not be read";
    }
    if (is_in(once, first) && same_side && strcmp(first, code) == 0) {
        return "a second one";
    }
    if (same_side && is_same(before, after, "stream") &&
        is_chain(first, code)) {
        return "a consequence";
    }
    return is_repeated(before, after) ? "the same again" : NULL;
}

void
vector_rules_cause(const struct vector_lines *lines,
                   struct vector_buf *problem)
{
    for (size_t i = 0; i < lines->n; i++) {
        const cJSON *after = lines->events[i];

        if (strcmp(vector_lines_string(after, "severity"), "error") != 0) {
            continue;
        }
        for (size_t k = 0; k < i; k++) {
            const cJSON *before = lines->events[k];
            const char *rule;

            if (strcmp(vector_lines_event(before), "notice") != 0) {
                continue;
            }
            rule = rule_of(before, after);
            if (rule != NULL) {
                vector_format(problem, "rule 7: %s after %s: %s; ",
                              vector_lines_string(after, "code"),
                              vector_lines_string(before, "code"), rule);
                return;
            }
        }
    }
}
