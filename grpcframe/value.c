/* SPDX-License-Identifier: MIT */
/*
 * Owns the values of header fields that gRPC defines: status, message text,
 * timeout, lists of encodings, binary metadata.  Knows no headers: a value
 * comes as bytes, and what it means for a call is the caller's business.
 */
#include "grpcframe.h"

#include <string.h>

/* ---- Text ------------------------------------------------------------ */

static int
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char
to_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Takes the blanks off both ends. */
static void
trim(const char **value, size_t *len)
{
    while (*len > 0 && is_blank(**value)) {
        ++*value;
        --*len;
    }
    while (*len > 0 && is_blank((*value)[*len - 1]))
        --*len;
}

static int
equal_nocase(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len != b_len)
        return 0;
    for (size_t i = 0; i < a_len; i++) {
        if (to_lower(a[i]) != to_lower(b[i]))
            return 0;
    }
    return 1;
}

/* Cuts the next element off a comma-separated list and trims it.  Returns 0
 * when there is none; an empty list has one, empty element. */
static int
next_element(const char **list, size_t *list_len, const char **element,
             size_t *len)
{
    const char *comma;

    if (*list == NULL)
        return 0;
    *element = *list;
    comma = *list_len > 0 ? memchr(*list, ',', *list_len) : NULL;
    if (comma == NULL) {
        *len = *list_len;
        *list = NULL;
    } else {
        *len = (size_t)(comma - *list);
        *list_len -= *len + 1;
        *list = comma + 1;
    }
    trim(element, len);
    return 1;
}

/* ---- Encodings ------------------------------------------------------- */

enum grpcframe_codec
grpcframe_codec_parse(const char *name, size_t len)
{
    static const struct {
        /* name is the token on the wire. */
        const char *name;
        /* codec is what it stands for. */
        enum grpcframe_codec codec;
    } codecs[] = {
        {"identity", GRPCFRAME_CODEC_IDENTITY},
        {"gzip", GRPCFRAME_CODEC_GZIP},
        {"x-gzip", GRPCFRAME_CODEC_GZIP},
        {"deflate", GRPCFRAME_CODEC_DEFLATE},
        {"br", GRPCFRAME_CODEC_BR},
        {"zstd", GRPCFRAME_CODEC_ZSTD},
        {"snappy", GRPCFRAME_CODEC_SNAPPY},
    };

    trim(&name, &len);
    if (len == 0)
        return GRPCFRAME_CODEC_NONE;
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
        if (equal_nocase(name, len, codecs[i].name, strlen(codecs[i].name)))
            return codecs[i].codec;
    }
    return GRPCFRAME_CODEC_UNKNOWN;
}

int
grpcframe_list_has(const char *list, size_t list_len, const char *name,
                   size_t name_len)
{
    const char *element;
    size_t len;

    trim(&name, &name_len);
    while (next_element(&list, &list_len, &element, &len)) {
        if (len > 0 && equal_nocase(element, len, name, name_len))
            return 1;
    }
    return 0;
}

/* ---- Status ---------------------------------------------------------- */

int
grpcframe_status_parse(const char *value, size_t len, int *status)
{
    int n = 0;

    if (len == 0 || len > 2 || (len == 2 && value[0] == '0'))
        return GRPCFRAME_ERR_INVALID;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(value[i]))
            return GRPCFRAME_ERR_INVALID;
        n = n * 10 + (value[i] - '0');
    }
    if (n > GRPCFRAME_STATUS_MAX)
        return GRPCFRAME_ERR_INVALID;
    *status = n;
    return GRPCFRAME_OK;
}

const char *
grpcframe_status_name(int status)
{
    static const char *const names[GRPCFRAME_STATUS_MAX + 1] = {
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };

    if (status < 0 || status > GRPCFRAME_STATUS_MAX)
        return NULL;
    return names[status];
}

static int
hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c = to_lower(c);
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

size_t
grpcframe_percent_decode(char *out, const char *value, size_t len,
                         int *malformed)
{
    size_t n = 0;
    int bad = 0;

    for (size_t i = 0; i < len; i++) {
        int high = -1;
        int low = -1;

        if (value[i] == '%' && len - i > 2) {
            high = hex_value(value[i + 1]);
            low = hex_value(value[i + 2]);
        }
        if (high >= 0 && low >= 0) {
            out[n++] = (char)(unsigned char)(high << 4 | low);
            i += 2;
            continue;
        }
        if (value[i] == '%')
            bad = 1;
        out[n++] = value[i];
    }
    if (malformed != NULL)
        *malformed = bad;
    return n;
}

/* ---- Timeout --------------------------------------------------------- */

/* Returns how many nanoseconds |unit| is, or 0. */
static uint64_t
timeout_unit_ns(char unit)
{
    switch (unit) {
    case 'H':
        return UINT64_C(3600000000000);
    case 'M':
        return UINT64_C(60000000000);
    case 'S':
        return UINT64_C(1000000000);
    case 'm':
        return UINT64_C(1000000);
    case 'u':
        return UINT64_C(1000);
    case 'n':
        return 1;
    default:
        return 0;
    }
}

int
grpcframe_timeout_parse(const char *value, size_t len, uint64_t *timeout_us)
{
    uint64_t unit;
    uint64_t n = 0;

    if (len < 2 || len > 9)
        return GRPCFRAME_ERR_INVALID;
    for (size_t i = 0; i < len - 1; i++) {
        if (!is_digit(value[i]))
            return GRPCFRAME_ERR_INVALID;
        n = n * 10 + (uint64_t)(value[i] - '0');
    }
    unit = timeout_unit_ns(value[len - 1]);
    if (unit == 0)
        return GRPCFRAME_ERR_INVALID;
    /* 8 digits of hours would not fit into 64 bits as nanoseconds. */
    if (unit >= 1000)
        *timeout_us = n * (unit / 1000);
    else
        *timeout_us = (n + 999) / 1000;
    return GRPCFRAME_OK;
}

/* ---- Binary metadata ------------------------------------------------- */

static int
is_base64(char c)
{
    char lower = to_lower(c);

    return (lower >= 'a' && lower <= 'z') || is_digit(c) || c == '+' ||
           c == '/';
}

static int
base64_one_valid(const char *value, size_t len)
{
    size_t n = 0;

    while (n < len && is_base64(value[n]))
        n++;
    /* 6 bits alone are no byte, padded or not. */
    if (n % 4 == 1)
        return 0;
    if (n == len)
        return 1;
    if (n % 4 == 0 || len != n + (4 - n % 4))
        return 0;
    for (; n < len; n++) {
        if (value[n] != '=')
            return 0;
    }
    return 1;
}

int
grpcframe_base64_valid(const char *value, size_t len)
{
    const char *element;
    size_t element_len;

    while (next_element(&value, &len, &element, &element_len)) {
        if (!base64_one_valid(element, element_len))
            return 0;
    }
    return 1;
}
