/* SPDX-License-Identifier: MIT */
/* Owns the syntax of JSON as written into lanes: commas, numbers, escapes.
 * Which members an event has is event*.c's. */
#include "json.h"

#include "text.h"

/* ROOM is what is asked of the lane at least, so that members need not ask one
 * by one. */
#define ROOM 1024

/* ESCAPE_MAX is the length of the longest escape, with a quote and a comma
 * behind it. */
#define ESCAPE_MAX 8

/* nowhere is where a writer stands that has no room; nothing is put there. */
static char nowhere[1];

/* ---- Room ------------------------------------------------------------ */

/* Gives what has been written to the lane. */
static void
settle(struct json *json)
{
    if (json->at != nowhere) {
        json->lane->len = (size_t)(json->at - json->lane->data);
    }
}

int
json_grow(struct json *json, size_t len)
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
    return (size_t)(json->end - json->at) >= len || json_grow(json, len);
}

/* ---- Objects and arrays ---------------------------------------------- */

void
json_begin(struct json *json, struct lane *lane)
{
    json->lane = lane;
    json->at = nowhere;
    json->end = nowhere;
    if (has_room(json, 1)) {
        *json->at++ = '{';
    }
}

void
json_shut(struct json *json, char bracket)
{
    if (!has_room(json, 2)) {
        return;
    }
    if (json->at[-1] == ',') {
        json->at--;
    }
    *json->at++ = bracket;
    *json->at++ = ',';
}

void
json_end(struct json *json)
{
    json_shut(json, '}');
    if (json->at != nowhere) {
        json->at--;
    }
    settle(json);
}

/* ---- Values ---------------------------------------------------------- */

char *
json_digits(char *at, uint64_t value)
{
    char digits[JSON_DIGITS_MAX];
    size_t first = sizeof(digits);

    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (first < sizeof(digits)) {
        *at++ = digits[first++];
    }
    *at++ = ',';
    return at;
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

void
json_quote(struct json *json, const char *text, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;

    if (!has_room(json, len + ESCAPE_MAX)) {
        return;
    }
    *json->at++ = '"';
    while (at < len) {
        size_t run = plain_run(bytes, len, at);

        memcpy(json->at, text + at, run);
        json->at += run;
        at += run;
        if (at == len) {
            break;
        }
        json->at += escape(json->at, bytes[at]);
        at++;
        /* For what is left as it is, and one more escape. */
        if (!has_room(json, len - at + ESCAPE_MAX)) {
            return;
        }
    }
    *json->at++ = '"';
    *json->at++ = ',';
}
