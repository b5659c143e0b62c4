/* SPDX-License-Identifier: MIT */
/*
 * A writer of JSON objects straight into a lane: an event comes with every
 * call and message, and a tree of nodes for it would cost more than decoding.
 *
 * Keys are string literals; the writer puts commas where they belong.  A
 * failure (memory) shows in the lane, which then drops the line.
 */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdint.h>

#include "lane.h"

/* struct json is an object being written. */
struct json {
    struct lane *lane;
    /* first is 1 when no comma is needed before what comes next. */
    int first;
};

/* json_begin and json_end write the outer braces. */
void json_begin(struct json *json, struct lane *lane);
void json_end(struct json *json);

/* json_open and json_close write `"key":{` and `}`. */
void json_open(struct json *json, const char *key);
void json_close(struct json *json);

/* json_array_open and json_array_close write `"key":[` (`[` for a NULL key,
 * within an array) and `]`. */
void json_array_open(struct json *json, const char *key);
void json_array_close(struct json *json);

/* json_uint, json_int, json_bool and json_null write one member; a NULL key
 * writes an array element. */
void json_uint(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, int value);
void json_null(struct json *json, const char *key);

/* json_text writes a string of |len| bytes from a peer (NULL |text|: null);
 * what is not UTF-8 is written as text.h says. */
void json_text(struct json *json, const char *key, const char *text,
               size_t len);

/* json_string writes a NUL-terminated string; NULL: null. */
void json_string(struct json *json, const char *key, const char *text);

/* json_literal writes a string known to need no escaping. */
void json_literal(struct json *json, const char *key, const char *text);

/* json_printed writes a member that is JSON text already. */
void json_printed(struct json *json, const char *key, const char *text);

#endif
