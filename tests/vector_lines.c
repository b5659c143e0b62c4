/* SPDX-License-Identifier: MIT */
/*
 * Owns parsed events and their comparing.  It does not know what an event
 * means.
 */
#include "vector_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
vector_format(struct vector_buf *out, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) {
        vector_die("vsnprintf");
    }
    va_start(args, format);
    vsnprintf((char *)vector_buf_room(out, (size_t)n + 1), (size_t)n + 1,
              format, args);
    va_end(args);
    out->len += (size_t)n;
}

/* utf8_length returns how many bytes the sequence at |p| has, or 0 when it
 * is none (RFC 3629: no surrogates, no overlong forms). */
static size_t
utf8_length(const uint8_t *p, size_t len)
{
    static const struct {
        /* A first byte has the bits lead under mask; a code below least
         * has a shorter form. */
        uint8_t mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0},
                 {0xe0, 0xc0, 0x80},
                 {0xf0, 0xe0, 0x800},
                 {0xf8, 0xf0, 0x10000}};

    for (size_t i = 0; i < 4; i++) {
        uint32_t code = p[0] & (uint32_t)(uint8_t)~forms[i].mask;

        if ((p[0] & forms[i].mask) != forms[i].lead || i >= len) {
            continue;
        }
        for (size_t k = 1; k <= i; k++) {
            if ((p[k] & 0xc0) != 0x80) {
                return 0;
            }
            code = code << 6 | (p[k] & 0x3fu);
        }
        return code < forms[i].least || code > 0x10ffff ||
                       (code >= 0xd800 && code < 0xe000)
                   ? 0
                   : i + 1;
    }
    return 0;
}

static int
is_utf8(const uint8_t *p, size_t len)
{
    while (len > 0) {
        size_t n = utf8_length(p, len);

        if (n == 0) {
            return 0;
        }
        p += n;
        len -= n;
    }
    return 1;
}

/* twice returns a name that stands twice in an object of |value|, or NULL. */
static const char *
twice(const cJSON *value)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, value)
    {
        const char *name = twice(item);

        for (const cJSON *other = value->child;
             cJSON_IsObject(value) && name == NULL && other != item;
             other = other->next) {
            if (strcmp(other->string, item->string) == 0) {
                name = item->string;
            }
        }
        if (name != NULL) {
            return name;
        }
    }
    return NULL;
}

static int
line_parse(struct vector_lines *lines, const uint8_t *line, size_t len,
           struct vector_buf *problem)
{
    const char *end = NULL;
    const char *name;
    cJSON *event;

    if (!is_utf8(line, len) || memchr(line, 0, len) != NULL) {
        vector_format(problem, "not UTF-8: %.*s", (int)len, line);
        return -1;
    }
    event = cJSON_ParseWithLengthOpts((const char *)line, len, &end, 0);
    if (!cJSON_IsObject(event) || end != (const char *)line + len) {
        vector_format(problem, "not a JSON object: %.*s", (int)len, line);
        cJSON_Delete(event);
        return -1;
    }
    lines->events =
        vector_grow(lines->events, lines->n + 1, sizeof(*lines->events));
    lines->events[lines->n++] = event;
    name = twice(event);
    if (name != NULL) {
        vector_format(problem, "\"%s\" stands twice: %.*s", name, (int)len,
                      line);
        return -1;
    }
    return 0;
}

int
vector_lines_parse(struct vector_lines *lines, const struct vector_buf *text,
                   struct vector_buf *problem)
{
    const uint8_t *p = text->data;
    size_t left = text->len;

    memset(lines, 0, sizeof(*lines));
    while (left > 0) {
        const uint8_t *end = memchr(p, '\n', left);

        if (end == NULL) {
            vector_format(problem, "the last line does not end: %.*s",
                          (int)left, p);
            return -1;
        }
        if (line_parse(lines, p, (size_t)(end - p), problem) != 0) {
            return -1;
        }
        left -= (size_t)(end - p) + 1;
        p = end + 1;
    }
    return 0;
}

void
vector_lines_clear(struct vector_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        cJSON_Delete(lines->events[i]);
    }
    free(lines->events);
    memset(lines, 0, sizeof(*lines));
}

const char *
vector_lines_string(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsString(value) ? value->valuestring : "";
}

const char *
vector_lines_event(const cJSON *event)
{
    return vector_lines_string(event, "event");
}

int
vector_lines_matches(const cJSON *want, const cJSON *got)
{
    const cJSON *item;

    if (got == NULL || !cJSON_IsObject(want) || !cJSON_IsObject(got)) {
        return got != NULL && cJSON_Compare(want, got, 1);
    }
    cJSON_ArrayForEach(item, want)
    {
        if (!vector_lines_matches(
                item, cJSON_GetObjectItemCaseSensitive(got, item->string))) {
            return 0;
        }
    }
    return 1;
}

static void
value_print(struct vector_buf *out, const cJSON *value)
{
    char *text = value == NULL ? NULL : cJSON_PrintUnformatted(value);

    vector_buf_text(out, text == NULL ? "(absent)" : text);
    cJSON_free(text);
}

void
vector_lines_differ(struct vector_buf *out, const char *path, const cJSON *want,
                    const cJSON *got)
{
    const cJSON *item;

    if (vector_lines_matches(want, got)) {
        return;
    }
    if (!cJSON_IsObject(want) || !cJSON_IsObject(got)) {
        vector_format(out, "      %s: expected ", path);
        value_print(out, want);
        vector_buf_text(out, ", got ");
        value_print(out, got);
        vector_buf_text(out, "\n");
        return;
    }
    cJSON_ArrayForEach(item, want)
    {
        char name[256];

        snprintf(name, sizeof(name), "%s%s%s", path, *path ? "." : "",
                 item->string);
        vector_lines_differ(
            out, name, item,
            cJSON_GetObjectItemCaseSensitive(got, item->string));
    }
}
