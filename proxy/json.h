/* SPDX-License-Identifier: MIT */
/*
 * A writer of JSON objects straight into a lane: an event comes with every
 * call and message, and a tree of nodes for it would cost more than decoding.
 *
 * Keys need no escaping; the writer puts commas where they belong.  A failure
 * (memory) shows in the lane, which then drops the line.  Between json_begin
 * and json_end nothing else may be written to the lane.
 *
 * The functions that take a key are inline for the sake of its length alone,
 * which the compiler knows.
 */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lane.h"

/* struct json is an object being written. */
struct json {
    struct lane *lane;
    /* at is where the next byte goes, up to end; the same before there is any
     * room, and after a failure. */
    char *at;
    char *end;
    /* comma is 1 when a comma is needed before what comes next. */
    int comma;
};

/* struct json_key is the name of a member; NULL text: an array element. */
struct json_key {
    const char *text;
    size_t len;
};

static inline struct json_key
json_key(const char *text)
{
    struct json_key key = {text, text == NULL ? 0 : strlen(text)};

    return key;
}

/* json_begin and json_end write the outer braces. */
void json_begin(struct json *json, struct lane *lane);
void json_end(struct json *json);

/* What the inline functions below call. */
void json_put_nest(struct json *json, struct json_key key, char bracket);
void json_put_uint(struct json *json, struct json_key key, uint64_t value);
void json_put_plain(struct json *json, struct json_key key, const char *text,
                    size_t len);
void json_put_literal(struct json *json, struct json_key key,
                      const char *text, size_t len);
void json_put_text(struct json *json, struct json_key key, const char *text,
                   size_t len);

/* json_open and json_close write `"key":{` and `}`. */
static inline void
json_open(struct json *json, const char *key)
{
    json_put_nest(json, json_key(key), '{');
}
void json_close(struct json *json);

/* json_array_open and json_array_close write `"key":[` (`[` for a NULL key,
 * within an array) and `]`. */
static inline void
json_array_open(struct json *json, const char *key)
{
    json_put_nest(json, json_key(key), '[');
}
void json_array_close(struct json *json);

/* json_uint, json_bool and json_null write one member; a NULL key writes an
 * array element. */
static inline void
json_uint(struct json *json, const char *key, uint64_t value)
{
    json_put_uint(json, json_key(key), value);
}

static inline void
json_bool(struct json *json, const char *key, int value)
{
    json_put_plain(json, json_key(key), value ? "true" : "false",
                   value ? 4 : 5);
}

static inline void
json_null(struct json *json, const char *key)
{
    json_put_plain(json, json_key(key), "null", 4);
}

/* json_printed writes a value that is JSON text already. */
static inline void
json_printed(struct json *json, const char *key, const char *text)
{
    json_put_plain(json, json_key(key), text, strlen(text));
}

/* json_text writes a string of |len| bytes from a peer (NULL |text|: null);
 * what is not UTF-8 is written as text.h says. */
static inline void
json_text(struct json *json, const char *key, const char *text, size_t len)
{
    json_put_text(json, json_key(key), text, len);
}

/* json_string writes a NUL-terminated string; NULL: null. */
static inline void
json_string(struct json *json, const char *key, const char *text)
{
    json_put_text(json, json_key(key), text, text == NULL ? 0 : strlen(text));
}

/* json_literal writes a string known to need no escaping. */
static inline void
json_literal(struct json *json, const char *key, const char *text)
{
    json_put_literal(json, json_key(key), text, strlen(text));
}

#endif
