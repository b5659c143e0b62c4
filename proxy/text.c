/* SPDX-License-Identifier: MIT */
/* Owns the rule by which bytes that are not UTF-8 are shown.  Escaping for
 * JSON is json.c's. */
#include "text.h"

#include <string.h>

/* The length and the least and highest second byte, by first byte
 * (RFC 3629, section 4). */
static size_t
sequence_of(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        return 2;
    }
    if (first >= 0xe0 && first <= 0xef) {
        *low = first == 0xe0 ? 0xa0 : 0x80;
        *high = first == 0xed ? 0x9f : 0xbf;
        return 3;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        *low = first == 0xf0 ? 0x90 : 0x80;
        *high = first == 0xf4 ? 0x8f : 0xbf;
        return 4;
    }
    return 0;
}

size_t
text_utf8_len(const unsigned char *in, size_t len)
{
    unsigned char low;
    unsigned char high;
    size_t n = sequence_of(in[0], &low, &high);

    if (n == 0 || n > len) {
        return 0;
    }
    if (n > 1 && (in[1] < low || in[1] > high)) {
        return 0;
    }
    for (size_t i = 2; i < n; i++) {
        if ((in[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return n;
}

static void
escape(char out[TEXT_GROWTH], unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";

    out[0] = '\\';
    out[1] = 'x';
    out[2] = digits[byte >> 4];
    out[3] = digits[byte & 15];
}

/* Whether |byte| is shown as \xNN although it is UTF-8. */
static int
is_hidden(unsigned char byte, int is_line)
{
    return byte == '\0' || (is_line && (byte < 0x20 || byte == 0x7f));
}

static size_t
copy(char *out, size_t cap, const char *in, size_t len, int is_line)
{
    size_t used = 0;
    size_t at = 0;

    if (cap == 0) {
        return 0;
    }
    while (at < len) {
        const unsigned char *byte = (const unsigned char *)in + at;
        size_t n =
            is_hidden(*byte, is_line) ? 0 : text_utf8_len(byte, len - at);
        size_t need = n == 0 ? TEXT_GROWTH : n;

        if (used + need >= cap) {
            break;
        }
        if (n == 0) {
            escape(out + used, *byte);
        } else {
            memcpy(out + used, byte, n);
        }
        used += need;
        at += n == 0 ? 1 : n;
    }
    out[used] = '\0';
    return used;
}

size_t
text_utf8(char *out, size_t cap, const char *in, size_t len)
{
    return copy(out, cap, in, len, 0);
}

size_t
text_line(char *out, size_t cap, const char *in, size_t len)
{
    return copy(out, cap, in, len, 1);
}
