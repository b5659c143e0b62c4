/* SPDX-License-Identifier: MIT */
/* Owns the comparison of what a vector expects with what came.  When that is
 * due, and what must hold besides, is run_vectors.c's. */
#include "vector_match.h"

#include <stdio.h>
#include <string.h>

#include "../proxy/kind.h"
#include "vector_rules.h"

void
vector_fail(const struct vector *vector, unsigned line, const char *what)
{
    printf("%s:%u: %s: %s\n", vector->file, line, vector->name, what);
}

/* is_strict returns 1 when an event of |kind| must be listed. */
static int
is_strict(const struct vector *vector, const char *kind)
{
    static const enum event_kind kinds[] = {EVENT_CALL, EVENT_MESSAGE,
                                            EVENT_NOTICE, EVENT_GOAWAY};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kind, event_kind_name(kinds[i])) == 0) {
            return (vector->loose >> kinds[i] & 1) == 0;
        }
    }
    return 0;
}

static void
json_print(const char *label, const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);

    printf("    %s %s\n", label, text);
    cJSON_free(text);
}

static const struct vector_want *
want_next(const struct vector *vector, size_t *at, int is_notice)
{
    for (; *at < vector->n_wants; (*at)++) {
        const char *kind = vector_lines_event(vector->wants[*at].event);

        if ((strcmp(kind, "notice") == 0) == is_notice) {
            return &vector->wants[*at];
        }
    }
    return NULL;
}

static int
match_fail(const struct vector *vector, const struct vector_want *want,
           const cJSON *event)
{
    struct vector_buf differ = {0};

    if (want == NULL) {
        vector_fail(vector, vector->line, "an event that is not listed");
        json_print("got     ", event);
        return -1;
    }
    vector_fail(vector, want->line,
                event == NULL ? "an event did not come"
                              : "an event is different");
    json_print("expected", want->event);
    if (event != NULL) {
        json_print("got     ", event);
        vector_lines_differ(&differ, "", want->event, event);
        printf("%s", (const char *)differ.data);
        vector_buf_clear(&differ);
    }
    return -1;
}

int
vector_match(const struct vector *vector, const struct vector_lines *lines)
{
    size_t at[2] = {0, 0};

    for (size_t i = 0; i < lines->n; i++) {
        const char *kind = vector_lines_event(lines->events[i]);
        int is_notice = strcmp(kind, "notice") == 0;
        const struct vector_want *want =
            want_next(vector, &at[is_notice], is_notice);

        if (want != NULL &&
            vector_lines_matches(want->event, lines->events[i])) {
            at[is_notice]++;
        } else if (is_strict(vector, kind)) {
            return match_fail(vector, want, lines->events[i]);
        }
    }
    for (int is_notice = 0; is_notice < 2; is_notice++) {
        const struct vector_want *want =
            want_next(vector, &at[is_notice], is_notice);

        if (want != NULL) {
            return match_fail(vector, want, NULL);
        }
    }
    return 0;
}

int
vector_match_texts(const struct vector *vector, const struct vector_run *run)
{
    for (size_t i = 0; i < vector->n_texts; i++) {
        const struct vector_text *text = &vector->texts[i];
        int is_there = strstr((const char *)run->text.data,
                              (const char *)text->text.data) != NULL;

        if (is_there == text->is_absent) {
            vector_fail(vector, text->line,
                        is_there ? "a text is in the output"
                                 : "a text is not in the output");
            return -1;
        }
    }
    return 0;
}

int
vector_match_controls(const struct vector *vector,
                      const struct vector_lines *lines)
{
    for (size_t i = 0; i < vector->n_controls; i++) {
        if (rules_notice(lines, vector->controls[i], NULL)) {
            vector_fail(vector, vector->line, vector->controls[i]);
            printf("    came, but this is its control\n");
            return -1;
        }
    }
    return 0;
}
