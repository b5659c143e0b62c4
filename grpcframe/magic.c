/* SPDX-License-Identifier: MIT */
/*
 * Owns the guess at what the first bytes of a body are.  It is for a reader's
 * eyes: nothing is decoded on the strength of it.
 */
#include "grpcframe.h"

#include <string.h>

static int
begins_with(const uint8_t *data, size_t len, const void *magic,
            size_t magic_len)
{
    return len >= magic_len && memcmp(data, magic, magic_len) == 0;
}

/* RFC 1950 with the 32 KiB window that every encoder uses.  Smaller windows
 * would make hints of messages: a protobuf field 1 of value 29 is 08 1d. */
static int
looks_zlib(const uint8_t *data, size_t len)
{
    return len >= 2 && data[0] == 0x78 && (data[1] & 0x20) == 0 &&
           (data[0] << 8 | data[1]) % 31 == 0;
}

static uint8_t
to_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

/* The first tag of a page, in either case. */
static int
looks_html(const uint8_t *data, size_t len)
{
    static const char *const tags[] = {"<!doctype", "<html",  "<head",
                                       "<body",     "<title", "<!--"};

    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        size_t n = strlen(tags[i]);
        size_t same = 0;

        while (same < n && same < len &&
               to_lower(data[same]) == (uint8_t)tags[i][same])
            same++;
        if (same == n)
            return 1;
    }
    return 0;
}

static size_t
skip_blanks(const uint8_t *data, size_t len)
{
    size_t n = 0;

    while (n < len && (data[n] == ' ' || data[n] == '\t' || data[n] == '\r' ||
                       data[n] == '\n'))
        n++;
    return n;
}

/* An object or an array, and behind its bracket what may follow there. */
static int
looks_json(const uint8_t *data, size_t len)
{
    size_t n;

    if (len < 2 || (data[0] != '{' && data[0] != '['))
        return 0;
    n = 1 + skip_blanks(data + 1, len - 1);
    if (n == len)
        return 1;
    if (data[0] == '{')
        return data[n] == '"' || data[n] == '}';
    return data[n] != 0 && strchr("]{[\"-0123456789tfn", data[n]) != NULL;
}

const char *
grpcframe_magic(const uint8_t *data, size_t len)
{
    static const uint8_t gzip[] = {0x1f, 0x8b};
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t snappy[] = {0xff, 0x06, 0x00, 0x00, 's',
                                     'N',  'a',  'P',  'p',  'Y'};
    static const uint8_t bom[] = {0xef, 0xbb, 0xbf};
    size_t blanks;

    if (begins_with(data, len, gzip, sizeof(gzip)))
        return "gzip";
    if (begins_with(data, len, zstd, sizeof(zstd)))
        return "zstd";
    if (begins_with(data, len, snappy, sizeof(snappy)))
        return "snappy";
    if (looks_zlib(data, len))
        return "zlib";
    if (begins_with(data, len, bom, sizeof(bom))) {
        data += sizeof(bom);
        len -= sizeof(bom);
    }
    blanks = skip_blanks(data, len);
    if (looks_html(data + blanks, len - blanks))
        return "html";
    if (looks_json(data + blanks, len - blanks))
        return "json";
    return NULL;
}
