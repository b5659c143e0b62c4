/* SPDX-License-Identifier: MIT */
/*
 * The lines a tap wrote, parsed; and the comparing of one with what a vector
 * expects.
 */
#ifndef VECTOR_LINES_H
#define VECTOR_LINES_H

#include <cjson/cJSON.h>

#include "vector_buf.h"

/* struct vector_lines holds the events of one run. */
struct vector_lines {
    /* events are n parsed lines in order. */
    cJSON **events;
    size_t n;
};

/*
 * vector_lines_parse splits |text| into lines and parses each.  Every line
 * must be one JSON object in UTF-8, without NUL and without a name given
 * twice.  Returns 0, or -1 after writing to |problem| what is wrong.
 */
int vector_lines_parse(struct vector_lines *lines,
                       const struct vector_buf *text,
                       struct vector_buf *problem);

/* vector_lines_clear frees what |lines| holds. */
void vector_lines_clear(struct vector_lines *lines);

/* vector_lines_event returns the value of `event` in |event|, or "". */
const char *vector_lines_event(const cJSON *event);

/* vector_lines_string returns the string |name| of |object|, or "". */
const char *vector_lines_string(const cJSON *object, const char *name);

/* vector_lines_matches returns 1 when every name in |want| is in |got| with
 * the same value; objects inside are compared the same way. */
int vector_lines_matches(const cJSON *want, const cJSON *got);

/* vector_lines_differ appends to |out| the names whose values in |got| are
 * not what |want| says, with both values. */
void vector_lines_differ(struct vector_buf *out, const char *path,
                         const cJSON *want, const cJSON *got);

/* vector_format appends formatted text. */
void vector_format(struct vector_buf *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
