/* SPDX-License-Identifier: MIT */
/* Owns the syntax of JSON as written into lanes: commas, numbers, escapes.
 * Which members an event has is event*.c's. */
#include "json.h"

#include "text.h"

/* ROOM is what is asked of the lane at least, so that members need not ask one
 * by one. */
#define ROOM 1024

/* DIGITS_MAX is the length of the largest integer. */
#define DIGITS_MAX 20

/* KEY_ROOM is what a key takes beside its text: `,"":`. */
#define KEY_ROOM 4

/* ---- Room ------------------------------------------------------------ */

/* nowhere is where a writer stands that has no room; nothing is put there. */
static char nowhere[1];

/* Gives what has been written to the lane. */
static void
settle(struct json *json)
{
    if (json->at != nowhere) {
        json->lane->len = (size_t)(json->at - json->lane->data);
    }
}

static int
grow(struct json *json, size_t len)
{
    size_t room = len > ROOM ? len : ROOM;

    settle(json);
    json->at = lane_reserve(json->lane, room);
    if (json->at == NULL) {
        json->at = nowhere;
        json->end = nowhere;
        return 0;
    }
    json->end = json->at + room;
    return 1;
}

/* Returns 1 when |len| more bytes can be written. */
static inline int
has_room(struct json *json, size_t len)
{
    return (size_t)(json->end - json->at) >= len || grow(json, len);
}

/* ---- Pieces, for which there must be room ---------------------------- */

static inline void
put(struct json *json, const char *bytes, size_t len)
{
    memcpy(json->at, bytes, len);
    json->at += len;
}

static inline void
put_key(struct json *json, struct json_key key)
{
    char *at = json->at;

    if (json->comma) {
        *at++ = ',';
    }
    json->comma = 1;
    if (key.text != NULL) {
        *at++ = '"';
        memcpy(at, key.text, key.len);
        at += key.len;
        *at++ = '"';
        *at++ = ':';
    }
    json->at = at;
}

static void
put_bracket(struct json *json, char bracket)
{
    if (has_room(json, 1)) {
        *json->at++ = bracket;
    }
}

/* ---- Objects and arrays ---------------------------------------------- */

void
json_begin(struct json *json, struct lane *lane)
{
    json->lane = lane;
    json->at = nowhere;
    json->end = nowhere;
    json->comma = 0;
    put_bracket(json, '{');
}

void
json_end(struct json *json)
{
    put_bracket(json, '}');
    settle(json);
}

void
json_put_nest(struct json *json, struct json_key key, char bracket)
{
    if (has_room(json, key.len + KEY_ROOM + 1)) {
        put_key(json, key);
        *json->at++ = bracket;
        json->comma = 0;
    }
}

void
json_close(struct json *json)
{
    put_bracket(json, '}');
    json->comma = 1;
}

void
json_array_close(struct json *json)
{
    put_bracket(json, ']');
    json->comma = 1;
}

/* ---- Values ---------------------------------------------------------- */

void
json_put_uint(struct json *json, struct json_key key, uint64_t value)
{
    char digits[DIGITS_MAX];
    size_t at = sizeof(digits);

    if (!has_room(json, key.len + KEY_ROOM + DIGITS_MAX)) {
        return;
    }
    put_key(json, key);
    while (value > 9) {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    }
    *json->at++ = (char)('0' + value);
    put(json, digits + at, sizeof(digits) - at);
}

void
json_put_plain(struct json *json, struct json_key key, const char *text,
               size_t len)
{
    if (has_room(json, key.len + KEY_ROOM + len)) {
        put_key(json, key);
        put(json, text, len);
    }
}

void
json_put_literal(struct json *json, struct json_key key, const char *text,
                 size_t len)
{
    if (has_room(json, key.len + KEY_ROOM + len + 2)) {
        put_key(json, key);
        *json->at++ = '"';
        put(json, text, len);
        *json->at++ = '"';
    }
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

static int
is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* 1 when eight bytes are plain, found by arithmetic on all at once: each term
 * sets the high bit of a byte that is not.  A subtraction may borrow from the
 * next byte, but only out of one that has set its own. */
static int
are_plain(const unsigned char *text)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t bytes;
    uint64_t quote;
    uint64_t backslash;

    memcpy(&bytes, text, sizeof(bytes));
    quote = bytes ^ ones * '"';
    backslash = bytes ^ ones * '\\';
    return ((bytes | (bytes - ones * 0x20) | (quote - ones) |
             (backslash - ones)) & ones * 0x80) == 0;
}

/* How many bytes from |at| on need no escape. */
static size_t
plain_run(const unsigned char *text, size_t len, size_t at)
{
    size_t start = at;

    while (at < len) {
        size_t n = 1;

        while (len - at >= 8 && are_plain(text + at)) {
            at += 8;
        }
        if (at == len) {
            break;
        }
        if (!is_plain(text[at])) {
            n = text[at] < 0x80 ? 0 : text_utf8_len(text + at, len - at);
        }
        if (n == 0) {
            break;
        }
        at += n;
    }
    return at - start;
}

static void
put_escaped(struct json *json, const char *text, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;

    while (at < len) {
        size_t run = plain_run(bytes, len, at);
        char escaped[6];

        if (!has_room(json, run + sizeof(escaped))) {
            return;
        }
        put(json, text + at, run);
        at += run;
        if (at < len) {
            put(json, escaped, escape(escaped, bytes[at]));
            at++;
        }
    }
}

void
json_put_text(struct json *json, struct json_key key, const char *text,
              size_t len)
{
    if (text == NULL) {
        json_put_plain(json, key, "null", 4);
        return;
    }
    if (!has_room(json, key.len + KEY_ROOM + 1)) {
        return;
    }
    put_key(json, key);
    *json->at++ = '"';
    put_escaped(json, text, len);
    put_bracket(json, '"');
}
