/* SPDX-License-Identifier: MIT */
/*
 * A writer of JSON objects straight into a lane: an event comes with every
 * call and message, and a tree of nodes for it would cost more than decoding.
 *
 * Keys need no escaping; the writer puts commas where they belong.  A failure
 * (memory) shows in the lane, which then drops the line.  Between json_begin
 * and json_end nothing else may be written to the lane.
 *
 * Most functions are inline for the sake of the keys: their lengths are known
 * to the compiler, which makes a few moves of each.
 */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lane.h"

/* JSON_DIGITS_MAX is the length of the largest integer. */
#define JSON_DIGITS_MAX 20

/* struct json is an object being written.  Each value is followed by a comma,
 * which the end of its object takes back. */
struct json {
    struct lane *lane;
    /* at is where the next byte goes, up to end; the same before there is any
     * room, and after a failure. */
    char *at;
    char *end;
};

/* json_begin and json_end write the outer braces. */
void json_begin(struct json *json, struct lane *lane);
void json_end(struct json *json);

/* ---- What the functions below are made of ---------------------------- */

/* json_grow makes room for |len| bytes; 0 when there is none to be had. */
int json_grow(struct json *json, size_t len);

/* json_digits writes |value| and a comma, and returns where they end. */
char *json_digits(char *at, uint64_t value);

/* json_quote writes a string and a comma. */
void json_quote(struct json *json, const char *text, size_t len);

/* json_shut writes a closing bracket and a comma. */
void json_shut(struct json *json, char bracket);

/* json_key writes a key (NULL: none, within an array), and returns where a
 * value of |room| bytes and a comma can go; NULL: nowhere. */
static inline char *
json_key(struct json *json, const char *key, size_t room)
{
    size_t len = key == NULL ? 0 : strlen(key);
    size_t need = len + sizeof("\"\":,") - 1 + room;
    char *at;

    if ((size_t)(json->end - json->at) < need && !json_grow(json, need)) {
        return NULL;
    }
    at = json->at;
    if (key != NULL) {
        *at++ = '"';
        memcpy(at, key, len);
        at += len;
        *at++ = '"';
        *at++ = ':';
    }
    return at;
}

/* json_copy writes a member whose value is |len| bytes of JSON text. */
static inline void
json_copy(struct json *json, const char *key, const char *text, size_t len)
{
    char *at = json_key(json, key, len);

    if (at != NULL) {
        memcpy(at, text, len);
        at[len] = ',';
        json->at = at + len + 1;
    }
}

/* json_nest begins an object or an array. */
static inline void
json_nest(struct json *json, const char *key, char bracket)
{
    char *at = json_key(json, key, 1);

    if (at != NULL) {
        *at++ = bracket;
        json->at = at;
    }
}

/* ---- Members; a NULL key makes an element of an array ---------------- */

/* json_open and json_close write `"key":{` and `}`. */
static inline void
json_open(struct json *json, const char *key)
{
    json_nest(json, key, '{');
}

static inline void
json_close(struct json *json)
{
    json_shut(json, '}');
}

/* json_array_open and json_array_close write `"key":[` and `]`. */
static inline void
json_array_open(struct json *json, const char *key)
{
    json_nest(json, key, '[');
}

static inline void
json_array_close(struct json *json)
{
    json_shut(json, ']');
}

static inline void
json_uint(struct json *json, const char *key, uint64_t value)
{
    char *at = json_key(json, key, JSON_DIGITS_MAX);

    if (at == NULL) {
        return;
    }
    if (value < 10) { /* most are */
        *at++ = (char)('0' + value);
        *at++ = ',';
        json->at = at;
    } else {
        json->at = json_digits(at, value);
    }
}

static inline void
json_bool(struct json *json, const char *key, int value)
{
    if (value) {
        json_copy(json, key, "true", 4);
    } else {
        json_copy(json, key, "false", 5);
    }
}

static inline void
json_null(struct json *json, const char *key)
{
    json_copy(json, key, "null", 4);
}

/* json_printed writes a value that is JSON text already. */
static inline void
json_printed(struct json *json, const char *key, const char *text)
{
    json_copy(json, key, text, strlen(text));
}

/* json_text writes a string of |len| bytes from a peer (NULL |text|: null);
 * what is not UTF-8 is written as text.h says. */
static inline void
json_text(struct json *json, const char *key, const char *text, size_t len)
{
    char *at;

    if (text == NULL) {
        json_null(json, key);
        return;
    }
    at = json_key(json, key, 0);
    if (at != NULL) {
        json->at = at;
        json_quote(json, text, len);
    }
}

/* json_string writes a NUL-terminated string; NULL: null. */
static inline void
json_string(struct json *json, const char *key, const char *text)
{
    json_text(json, key, text, text == NULL ? 0 : strlen(text));
}

/* json_literal writes a string known to need no escaping. */
static inline void
json_literal(struct json *json, const char *key, const char *text)
{
    size_t len = strlen(text);
    char *at = json_key(json, key, len + 2);

    if (at != NULL) {
        *at++ = '"';
        memcpy(at, text, len);
        at += len;
        *at++ = '"';
        *at++ = ',';
        json->at = at;
    }
}

#endif
