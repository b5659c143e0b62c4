/* SPDX-License-Identifier: MIT */
/* Owns the syntax of JSON as written into lanes: commas, numbers, escapes.
 * Which members an event has is event.c's. */
#include "json.h"

#include <string.h>

#include "text.h"

static void
put(struct json *json, const char *bytes, size_t len)
{
    lane_append(json->lane, bytes, len);
}

static void
put_key(struct json *json, const char *key)
{
    size_t len = key == NULL ? 0 : strlen(key);
    char *out = lane_reserve(json->lane, len + 4);
    size_t at = 0;

    if (out == NULL) {
        return;
    }
    if (!json->first) {
        out[at++] = ',';
    }
    json->first = 0;
    if (key != NULL) {
        out[at++] = '"';
        memcpy(out + at, key, len);
        at += len;
        out[at++] = '"';
        out[at++] = ':';
    }
    json->lane->len += at;
}

static void
nest(struct json *json, const char *key, const char *bracket)
{
    put_key(json, key);
    put(json, bracket, 1);
    json->first = 1;
}

void
json_begin(struct json *json, struct lane *lane)
{
    json->lane = lane;
    json->first = 1;
    put(json, "{", 1);
}

void
json_end(struct json *json)
{
    put(json, "}", 1);
}

void
json_open(struct json *json, const char *key)
{
    nest(json, key, "{");
}

void
json_close(struct json *json)
{
    put(json, "}", 1);
    json->first = 0;
}

void
json_array_open(struct json *json, const char *key)
{
    nest(json, key, "[");
}

void
json_array_close(struct json *json)
{
    put(json, "]", 1);
    json->first = 0;
}

void
json_uint(struct json *json, const char *key, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    put_key(json, key);
    put(json, digits + at, sizeof(digits) - at);
}

void
json_int(struct json *json, const char *key, int64_t value)
{
    if (value >= 0) {
        json_uint(json, key, (uint64_t)value);
        return;
    }
    put_key(json, key);
    put(json, "-", 1);
    json->first = 1;
    json_uint(json, NULL, 0 - (uint64_t)value);
}

void
json_bool(struct json *json, const char *key, int value)
{
    json_printed(json, key, value ? "true" : "false");
}

void
json_null(struct json *json, const char *key)
{
    json_printed(json, key, "null");
}

/* The escape of a character that JSON does not allow as it is (RFC 8259,
 * section 7), or that is not UTF-8; returns its length. */
static size_t
escape(char out[6], unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    static const char shorts[] = "\bb\ff\nn\rr\tt\"\"\\\\";

    for (size_t i = 0; byte != 0 && i < sizeof(shorts) - 1; i += 2) {
        if ((unsigned char)shorts[i] == byte) {
            out[0] = '\\';
            out[1] = shorts[i + 1];
            return 2;
        }
    }
    /* NUL as text.c writes it, for whom it ends a string. */
    if (byte < 0x20 && byte != 0) {
        memcpy(out, "\\u00", 4);
    } else {
        memcpy(out, "\\\\x", 3);
        out[3] = digits[byte >> 4];
        out[4] = digits[byte & 15];
        return 5;
    }
    out[4] = digits[byte >> 4];
    out[5] = digits[byte & 15];
    return 6;
}

/* How many bytes from |at| on need no escape. */
static size_t
plain_run(const unsigned char *text, size_t len, size_t at)
{
    size_t start = at;

    while (at < len) {
        unsigned char byte = text[at];

        if (byte >= 0x80) {
            size_t n = text_utf8_len(text + at, len - at);

            if (n == 0) {
                break;
            }
            at += n;
        } else if (byte < 0x20 || byte == '"' || byte == '\\') {
            break;
        } else {
            at++;
        }
    }
    return at - start;
}

void
json_text(struct json *json, const char *key, const char *text, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;

    if (text == NULL) {
        json_null(json, key);
        return;
    }
    put_key(json, key);
    put(json, "\"", 1);
    while (at < len) {
        size_t run = plain_run(bytes, len, at);
        char escaped[6];

        put(json, text + at, run);
        at += run;
        if (at < len) {
            put(json, escaped, escape(escaped, bytes[at]));
            at++;
        }
    }
    put(json, "\"", 1);
}

void
json_string(struct json *json, const char *key, const char *text)
{
    json_text(json, key, text, text == NULL ? 0 : strlen(text));
}

void
json_literal(struct json *json, const char *key, const char *text)
{
    put_key(json, key);
    put(json, "\"", 1);
    put(json, text, strlen(text));
    put(json, "\"", 1);
}

void
json_printed(struct json *json, const char *key, const char *text)
{
    put_key(json, key);
    put(json, text, strlen(text));
}
