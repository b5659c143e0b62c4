/* SPDX-License-Identifier: MIT */
/*
 * echo_grpc owns the length-prefixed message format and the header values that
 * gRPC defines.  What is in a message and how it travels is not its business.
 */
#include "echo_grpc.h"

#include <string.h>

/* Compressed-Flag (1 byte), Message-Length (4 bytes, big-endian). */
#define PREFIX_LEN 5u

static void
prefix_write(uint8_t *to, bool is_compressed, size_t len)
{
    to[0] = is_compressed ? 1 : 0;
    to[1] = (uint8_t)(len >> 24);
    to[2] = (uint8_t)(len >> 16);
    to[3] = (uint8_t)(len >> 8);
    to[4] = (uint8_t)len;
}

int
echo_grpc_message_put(struct echo_buf *out, enum echo_codec codec,
                      const struct echo_buf *plain)
{
    static const uint8_t prefix[PREFIX_LEN];
    size_t len = echo_buf_len(plain);

    if (len == 0)
        codec = ECHO_CODEC_IDENTITY;
    /* The length is known only after compressing: fill it in afterwards. */
    if (echo_buf_append(out, prefix, PREFIX_LEN) != 0)
        return -1;
    size_t before = echo_buf_len(out);
    if (echo_codec_encode(codec, echo_buf_bytes(plain), len, out) != 0)
        return -1;
    size_t wire_len = echo_buf_len(out) - before;
    prefix_write(out->data + out->end - wire_len - PREFIX_LEN,
                 codec != ECHO_CODEC_IDENTITY, wire_len);
    return 0;
}

static struct echo_take
take_failed(enum echo_status status, const char *why)
{
    return (struct echo_take){.status = status, .why = why};
}

static struct echo_take
take_decode(const uint8_t *data, size_t len, enum echo_codec codec,
            struct echo_buf *message)
{
    echo_buf_reset(message);
    int rc = len == 0 ? 0
                      : echo_codec_decode(codec, data, len, ECHO_MESSAGE_MAX,
                                          message);
    switch (rc) {
    case 0:
        return (struct echo_take){.done = true};
    case ECHO_CODEC_TOO_LARGE:
        return take_failed(ECHO_STATUS_RESOURCE_EXHAUSTED,
                           "message longer than 64 MiB");
    case ECHO_CODEC_NOMEM:
        return take_failed(ECHO_STATUS_RESOURCE_EXHAUSTED, "out of memory");
    default:
        return take_failed(ECHO_STATUS_INTERNAL, "cannot decompress message");
    }
}

struct echo_take
echo_grpc_message_take(struct echo_buf *in, enum echo_codec codec,
                       struct echo_buf *message)
{
    const uint8_t *p = echo_buf_bytes(in);

    if (echo_buf_len(in) < PREFIX_LEN)
        return (struct echo_take){0};
    size_t len = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 |
                 (size_t)p[4];
    if (p[0] > 1)
        return take_failed(ECHO_STATUS_INTERNAL, "reserved flag bits are set");
    if (p[0] == 1 && codec == ECHO_CODEC_IDENTITY)
        return take_failed(ECHO_STATUS_INTERNAL,
                           "compressed message without grpc-encoding");
    if (len > ECHO_WIRE_MAX)
        return take_failed(ECHO_STATUS_RESOURCE_EXHAUSTED,
                           "message longer than 64 MiB");
    if (echo_buf_len(in) - PREFIX_LEN < len)
        return (struct echo_take){0};
    struct echo_take take = take_decode(
        p + PREFIX_LEN, len, p[0] == 1 ? codec : ECHO_CODEC_IDENTITY, message);
    echo_buf_consume(in, PREFIX_LEN + len);
    return take;
}

int
echo_grpc_text_encode(const uint8_t *text, size_t len, struct echo_buf *out)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < len; i++) {
        uint8_t c = text[i];
        uint8_t coded[3] = {'%', (uint8_t)hex[c >> 4], (uint8_t)hex[c & 15]};
        bool is_plain = c >= ' ' && c <= '~' && c != '%';

        if (echo_buf_append(out, is_plain ? &c : coded, is_plain ? 1 : 3) != 0)
            return -1;
    }
    return 0;
}

static int
hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int
echo_grpc_text_decode(const uint8_t *text, size_t len, struct echo_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t c = text[i];

        if (c == '%' && len - i > 2 && hex_value(text[i + 1]) >= 0 &&
            hex_value(text[i + 2]) >= 0) {
            c = (uint8_t)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
            i += 2;
        }
        if (echo_buf_append(out, &c, 1) != 0)
            return -1;
    }
    return 0;
}

unsigned
echo_grpc_codecs_parse(const uint8_t *value, size_t len)
{
    const char *p = (const char *)value;
    const char *end = p + len;
    unsigned codecs = 0;
    enum echo_codec codec;

    while (p < end) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma == NULL ? end : comma;
        while (p < stop && (*p == ' ' || *p == '\t'))
            p++;
        const char *last = stop;
        while (last > p && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (echo_codec_find(p, (size_t)(last - p), &codec) == 0)
            codecs |= 1u << codec;
        p = comma == NULL ? end : comma + 1;
    }
    return codecs;
}

enum echo_status
echo_grpc_status_from_http(int http_status)
{
    switch (http_status) {
    case 400:
        return ECHO_STATUS_INTERNAL;
    case 401:
        return ECHO_STATUS_UNAUTHENTICATED;
    case 403:
        return ECHO_STATUS_PERMISSION_DENIED;
    case 404:
        return ECHO_STATUS_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return ECHO_STATUS_UNAVAILABLE;
    default:
        return ECHO_STATUS_UNKNOWN;
    }
}

enum echo_status
echo_grpc_status_from_reset(uint32_t error_code)
{
    switch (error_code) {
    case 0x7: /* REFUSED_STREAM */
        return ECHO_STATUS_UNAVAILABLE;
    case 0x8: /* CANCEL */
        return ECHO_STATUS_CANCELLED;
    case 0xb: /* ENHANCE_YOUR_CALM */
        return ECHO_STATUS_RESOURCE_EXHAUSTED;
    case 0xc: /* INADEQUATE_SECURITY */
        return ECHO_STATUS_PERMISSION_DENIED;
    default:
        return ECHO_STATUS_INTERNAL;
    }
}

int
echo_grpc_status_parse(const uint8_t *value, size_t len)
{
    int status = 0;

    if (len == 0 || len > 9)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9')
            return -1;
        status = status * 10 + (value[i] - '0');
    }
    return status;
}
