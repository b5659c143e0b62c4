/* SPDX-License-Identifier: MIT */
/*
 * Owns the language of payloads: hex, text, repetition and functions.  It
 * does not know frames.
 */
#include "vector_expr.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vector_codec.h"

void
vector_cursor_fail(const struct vector_cursor *cursor, const char *what)
{
    vector_die("%s:%u: %s near \"%.*s\"", cursor->file, cursor->line, what,
               (int)(cursor->end - cursor->p), cursor->p);
}

int
vector_cursor_space(struct vector_cursor *cursor)
{
    while (cursor->p < cursor->end &&
           (*cursor->p == ' ' || *cursor->p == '\t')) {
        cursor->p++;
    }
    if (cursor->p < cursor->end && *cursor->p == '#') {
        cursor->p = cursor->end;
    }
    return cursor->p == cursor->end;
}

static int
is_word(char c)
{
    return isalnum((unsigned char)c) || (c != 0 && strchr("_./:,+-", c));
}

size_t
vector_cursor_word(struct vector_cursor *cursor, char *word, size_t size)
{
    size_t n = 0;

    vector_cursor_space(cursor);
    while (cursor->p < cursor->end && is_word(*cursor->p)) {
        if (n + 1 >= size) {
            vector_cursor_fail(cursor, "a word is too long");
        }
        word[n++] = *cursor->p++;
    }
    word[n] = 0;
    return n;
}

int
vector_cursor_is(struct vector_cursor *cursor, const char *text)
{
    size_t n = strlen(text);

    if ((size_t)(cursor->end - cursor->p) < n ||
        memcmp(cursor->p, text, n) != 0) {
        return 0;
    }
    cursor->p += n;
    return 1;
}

uint64_t
vector_cursor_number(struct vector_cursor *cursor)
{
    char word[64];
    char *end;
    uint64_t value;

    vector_cursor_word(cursor, word, sizeof(word));
    value = strtoull(word, &end, strncmp(word, "0x", 2) == 0 ? 16 : 10);
    if (word[0] == 0 || *end != 0) {
        vector_cursor_fail(cursor, "a number is missing");
    }
    return value;
}

static unsigned
expr_hex_digit(struct vector_cursor *cursor)
{
    static const char digits[] = "0123456789abcdef";
    const char *at;

    if (cursor->p == cursor->end || *cursor->p == 0) {
        vector_cursor_fail(cursor, "a hex digit is missing");
    }
    at = strchr(digits, tolower((unsigned char)*cursor->p));
    if (at == NULL) {
        vector_cursor_fail(cursor, "not a hex digit");
    }
    cursor->p++;
    return (unsigned)(at - digits);
}

static uint8_t
expr_hex_byte(struct vector_cursor *cursor)
{
    unsigned high = expr_hex_digit(cursor);

    return (uint8_t)(high << 4 | expr_hex_digit(cursor));
}

uint8_t
vector_expr_escape(struct vector_cursor *cursor)
{
    char c = *cursor->p++;

    if (c != '\\') {
        return (uint8_t)c;
    }
    if (cursor->p == cursor->end) {
        vector_cursor_fail(cursor, "nothing after a backslash");
    }
    c = *cursor->p++;
    switch (c) {
    case 'x':
        return expr_hex_byte(cursor);
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case '\\':
    case '"':
        return (uint8_t)c;
    default:
        vector_cursor_fail(cursor, "an unknown escape");
    }
}

static void
expr_string(struct vector_cursor *cursor, struct vector_buf *out)
{
    cursor->p++;
    while (cursor->p < cursor->end && *cursor->p != '"') {
        uint8_t byte = vector_expr_escape(cursor);

        vector_buf_add(out, &byte, 1);
    }
    if (!vector_cursor_is(cursor, "\"")) {
        vector_cursor_fail(cursor, "a string does not end");
    }
}

/* expr_grpc makes a length-prefixed message; flag= and length= override. */
static void
expr_grpc(struct vector_cursor *cursor, struct vector_buf *out)
{
    struct vector_buf body = {0};
    uint64_t flag = 0;
    uint64_t length = UINT64_MAX;

    for (;;) {
        vector_cursor_space(cursor);
        if (vector_cursor_is(cursor, "flag=")) {
            flag = vector_cursor_number(cursor);
        } else if (vector_cursor_is(cursor, "length=")) {
            length = vector_cursor_number(cursor);
        } else {
            break;
        }
    }
    vector_expr_read(cursor, &body);
    vector_buf_be(out, flag, 1);
    vector_buf_be(out, length == UINT64_MAX ? body.len : length, 4);
    vector_buf_add(out, body.data, body.len);
    vector_buf_clear(&body);
}

/* expr_noise appends |len| bytes that no codec can make shorter. */
static void
expr_noise(struct vector_buf *out, uint64_t len)
{
    uint32_t state = 2463534242u;

    for (uint64_t i = 0; i < len; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        vector_buf_be(out, state >> 8 & 0xff, 1);
    }
}

/* expr_change applies cut, drop, skip, flip and flipback, whose first argument
 * is a number, to the |body| that follows it. */
static void
expr_change(struct vector_cursor *cursor, const char *name, uint64_t number,
            struct vector_buf *body)
{
    if (number > body->len) {
        vector_cursor_fail(cursor, "a number is past the bytes");
    }
    if (strcmp(name, "cut") == 0) {
        body->len = number;
    } else if (strcmp(name, "drop") == 0) {
        body->len -= number;
    } else if (strcmp(name, "skip") == 0) {
        body->len -= number;
        memmove(body->data, body->data + number, body->len);
    } else if (strcmp(name, "flipback") == 0 && number > 0) {
        body->data[body->len - number] ^= 0xff;
    } else if (strcmp(name, "flip") == 0 && number < body->len) {
        body->data[number] ^= 0xff;
    } else {
        vector_cursor_fail(cursor, "nothing to flip there");
    }
}

static void
expr_function(struct vector_cursor *cursor, const char *name,
              struct vector_buf *out)
{
    struct vector_buf body = {0};

    if (strcmp(name, "grpc") == 0) {
        expr_grpc(cursor, out);
    } else if (strcmp(name, "noise") == 0) {
        expr_noise(out, vector_cursor_number(cursor));
    } else if (strcmp(name, "cut") == 0 || strcmp(name, "drop") == 0 ||
               strcmp(name, "skip") == 0 || strncmp(name, "flip", 4) == 0) {
        uint64_t number = vector_cursor_number(cursor);

        vector_expr_read(cursor, &body);
        expr_change(cursor, name, number, &body);
        vector_buf_add(out, body.data, body.len);
    } else {
        vector_expr_read(cursor, &body);
        if (vector_codec_encode(out, name, body.data, body.len) != 0) {
            vector_cursor_fail(cursor, "an unknown function");
        }
    }
    vector_buf_clear(&body);
    vector_cursor_space(cursor);
    if (!vector_cursor_is(cursor, ")")) {
        vector_cursor_fail(cursor, "a ) is missing");
    }
}

static void
expr_item(struct vector_cursor *cursor, struct vector_buf *out)
{
    const char *start = cursor->p;
    char name[32];

    if (*cursor->p == '"') {
        expr_string(cursor, out);
        return;
    }
    while (cursor->p < cursor->end &&
           (isalnum((unsigned char)*cursor->p) || *cursor->p == '_')) {
        cursor->p++;
    }
    if (cursor->p < cursor->end && *cursor->p == '(' &&
        (size_t)(cursor->p - start) < sizeof(name)) {
        snprintf(name, sizeof(name), "%.*s", (int)(cursor->p - start), start);
        cursor->p++;
        expr_function(cursor, name, out);
        return;
    }
    if (cursor->p == start) {
        vector_cursor_fail(cursor, "hex, text or a function is missing");
    }
    cursor->p = start;
    while (cursor->p < cursor->end && isxdigit((unsigned char)*cursor->p)) {
        uint8_t byte = expr_hex_byte(cursor);

        vector_buf_add(out, &byte, 1);
    }
}

void
vector_expr_read(struct vector_cursor *cursor, struct vector_buf *out)
{
    while (!vector_cursor_space(cursor) && *cursor->p != ')' &&
           *cursor->p != ']') {
        struct vector_buf item = {0};
        uint64_t times = 1;

        expr_item(cursor, &item);
        if (vector_cursor_is(cursor, "*")) {
            times = vector_cursor_number(cursor);
        }
        while (times > 0) {
            vector_buf_add(out, item.data, item.len);
            times--;
        }
        vector_buf_clear(&item);
    }
}
