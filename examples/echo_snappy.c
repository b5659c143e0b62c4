/* SPDX-License-Identifier: MIT */
/*
 * echo_snappy owns the snappy framing format (stream identifier, chunks of at
 * most 64 KiB, masked CRC32C) around libsnappy's raw blocks.  The raw block
 * format itself is not a gRPC encoding and is not offered.
 */
#include "echo_codec.h"

#include <snappy-c.h>
#include <string.h>

#define CHUNK_HEAD 4u          /* type and a 24-bit little-endian length */
#define CHUNK_MAX 65536u       /* uncompressed bytes a chunk may hold */
#define CHUNK_COMPRESSED 0x00u /* checksum, then a raw snappy block */
#define CHUNK_PLAIN 0x01u      /* checksum, then the bytes */
#define CHUNK_SKIP_FROM 0x80u  /* from here on unknown chunks are skipped */
#define CHUNK_IDENTIFIER 0xffu /* "sNaPpY", first in every stream */
#define CHECKSUM_LEN 4u

static const uint8_t identifier[] = {0xff, 6,   0,   0,   's',
                                     'N',  'a', 'P', 'p', 'Y'};

/* CRC32C (Castagnoli), reflected, four bits a step: small and fast enough for
 * an example. */
static uint32_t
crc32c(const uint8_t *p, size_t len)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < len; i++) {
        crc ^= p[i];
        crc = table[crc & 15] ^ (crc >> 4);
        crc = table[crc & 15] ^ (crc >> 4);
    }
    return ~crc;
}

/* The format stores checksums masked: a CRC over data that holds CRCs would be
 * weak. */
static uint32_t
checksum_of(const uint8_t *p, size_t len)
{
    uint32_t crc = crc32c(p, len);

    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static void
put_le(uint8_t *to, uint32_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t
get_le(const uint8_t *from, size_t n_bytes)
{
    uint32_t value = 0;

    for (size_t i = 0; i < n_bytes; i++)
        value |= (uint32_t)from[i] << (8 * i);
    return value;
}

static int
chunk_encode(const uint8_t *in, size_t len, struct echo_buf *out)
{
    size_t packed = snappy_max_compressed_length(len);
    uint8_t *to = echo_buf_reserve(out, CHUNK_HEAD + CHECKSUM_LEN + packed);

    if (to == NULL)
        return ECHO_CODEC_NOMEM;
    char *body = (char *)to + CHUNK_HEAD + CHECKSUM_LEN;
    if (snappy_compress((const char *)in, len, body, &packed) != SNAPPY_OK)
        return ECHO_CODEC_NOMEM;
    to[0] = CHUNK_COMPRESSED;
    /* The same rule as golang/snappy: save an eighth or send it plain. */
    if (packed >= len - len / 8) {
        to[0] = CHUNK_PLAIN;
        memcpy(body, in, len);
        packed = len;
    }
    put_le(to + 1, (uint32_t)(packed + CHECKSUM_LEN), 3);
    put_le(to + CHUNK_HEAD, checksum_of(in, len), CHECKSUM_LEN);
    echo_buf_commit(out, CHUNK_HEAD + CHECKSUM_LEN + packed);
    return 0;
}

int
echo_snappy_encode(const uint8_t *in, size_t len, struct echo_buf *out)
{
    if (echo_buf_append(out, identifier, sizeof identifier) != 0)
        return ECHO_CODEC_NOMEM;
    while (len > 0) {
        size_t n = len < CHUNK_MAX ? len : CHUNK_MAX;
        int rc = chunk_encode(in, n, out);
        if (rc != 0)
            return rc;
        in += n;
        len -= n;
    }
    return 0;
}

/* The body of a data chunk, checksum first. */
static int
chunk_decode(uint8_t type, const uint8_t *in, size_t len, size_t max,
             struct echo_buf *out)
{
    if (len < CHECKSUM_LEN)
        return ECHO_CODEC_CORRUPT;
    const char *body = (const char *)in + CHECKSUM_LEN;
    size_t body_len = len - CHECKSUM_LEN;
    size_t plain_len = body_len;

    if (type == CHUNK_COMPRESSED &&
        snappy_uncompressed_length(body, body_len, &plain_len) != SNAPPY_OK)
        return ECHO_CODEC_CORRUPT;
    if (plain_len > CHUNK_MAX)
        return ECHO_CODEC_CORRUPT;
    if (plain_len > max - echo_buf_len(out))
        return ECHO_CODEC_TOO_LARGE;
    uint8_t *to = echo_buf_reserve(out, plain_len);
    if (to == NULL)
        return ECHO_CODEC_NOMEM;
    if (type == CHUNK_PLAIN)
        memcpy(to, body, body_len);
    else if (snappy_uncompress(body, body_len, (char *)to, &plain_len) !=
             SNAPPY_OK)
        return ECHO_CODEC_CORRUPT;
    if (get_le(in, CHECKSUM_LEN) != checksum_of(to, plain_len))
        return ECHO_CODEC_CORRUPT;
    echo_buf_commit(out, plain_len);
    return 0;
}

static int
chunk_dispatch(uint8_t type, const uint8_t *in, size_t len, size_t max,
               struct echo_buf *out)
{
    if (type == CHUNK_COMPRESSED || type == CHUNK_PLAIN)
        return chunk_decode(type, in, len, max, out);
    if (type == CHUNK_IDENTIFIER)
        return len == sizeof identifier - CHUNK_HEAD &&
                       memcmp(in, identifier + CHUNK_HEAD, len) == 0
                   ? 0
                   : ECHO_CODEC_CORRUPT;
    return type >= CHUNK_SKIP_FROM ? 0 : ECHO_CODEC_CORRUPT;
}

int
echo_snappy_decode(const uint8_t *in, size_t len, size_t max,
                   struct echo_buf *out)
{
    if (len < sizeof identifier ||
        memcmp(in, identifier, sizeof identifier) != 0)
        return ECHO_CODEC_CORRUPT;
    while (len > 0) {
        if (len < CHUNK_HEAD)
            return ECHO_CODEC_CORRUPT;
        size_t chunk = get_le(in + 1, 3);
        if (chunk > len - CHUNK_HEAD)
            return ECHO_CODEC_CORRUPT;
        int rc = chunk_dispatch(in[0], in + CHUNK_HEAD, chunk, max, out);
        if (rc != 0)
            return rc;
        in += CHUNK_HEAD + chunk;
        len -= CHUNK_HEAD + chunk;
    }
    return 0;
}
