/* SPDX-License-Identifier: MIT */
/*
 * Owns the writing of snappy's framing format ("Snappy framing format
 * description") around blocks of libsnappy.  Bare blocks, which few stacks
 * send, are only read (snappy_block.c).
 */
#include "crc32c.h"
#include "encode.h"

#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

/* No chunk holds more than this (section 4.2). */
#define CHUNK_MAX 65536

/* The type and the length of a chunk, and the checksum of what it holds. */
#define CHUNK_HEAD_LEN 4
#define CHECKSUM_LEN 4

#define CHUNK_COMPRESSED 0x00
#define CHUNK_PLAIN 0x01

static const uint8_t stream_id[] = {0xff, 0x06, 0x00, 0x00, 's',
                                    'N',  'a',  'P',  'p',  'Y'};

static void
put_le(uint8_t *to, uint32_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* Writes one chunk; returns its length, or 0 when libsnappy fails. */
static size_t
chunk_encode(const struct grpcframe_crc32c *crc32c, const uint8_t *data,
             size_t len, uint8_t *out)
{
    uint8_t *body = out + CHUNK_HEAD_LEN + CHECKSUM_LEN;
    size_t packed = snappy_max_compressed_length(len);

    if (snappy_compress((const char *)data, len, (char *)body, &packed) !=
        SNAPPY_OK)
        return 0;
    out[0] = CHUNK_COMPRESSED;
    /* What does not save an eighth is sent plain, as golang/snappy does. */
    if (packed >= len - len / 8) {
        out[0] = CHUNK_PLAIN;
        memcpy(body, data, len);
        packed = len;
    }
    put_le(out + 1, (uint32_t)(packed + CHECKSUM_LEN), 3);
    put_le(out + CHUNK_HEAD_LEN, grpcframe_crc32c_masked(crc32c, data, len),
           CHECKSUM_LEN);
    return CHUNK_HEAD_LEN + CHECKSUM_LEN + packed;
}

static int
snappy_init(struct grpcframe_encoder *encoder)
{
    struct grpcframe_crc32c *crc32c = malloc(sizeof(*crc32c));

    if (crc32c == NULL)
        return GRPCFRAME_ERR_NOMEM;
    grpcframe_crc32c_init(crc32c);
    encoder->state = crc32c;
    return GRPCFRAME_OK;
}

static void
snappy_destroy(struct grpcframe_encoder *encoder)
{
    free(encoder->state);
}

static size_t
snappy_bound(const struct grpcframe_encoder *encoder, size_t len)
{
    size_t n_chunks = len / CHUNK_MAX + 1;
    size_t chunk = CHUNK_HEAD_LEN + CHECKSUM_LEN +
                   snappy_max_compressed_length(CHUNK_MAX);

    (void)encoder;
    return sizeof(stream_id) + n_chunks * chunk;
}

static int
snappy_run(struct grpcframe_encoder *encoder, const uint8_t *data, size_t len,
           uint8_t *out, size_t *out_len)
{
    size_t at = sizeof(stream_id);

    memcpy(out, stream_id, sizeof(stream_id));
    while (len > 0) {
        size_t n = len < CHUNK_MAX ? len : CHUNK_MAX;
        size_t written = chunk_encode(encoder->state, data, n, out + at);

        if (written == 0)
            return GRPCFRAME_ERR_NOMEM;
        at += written;
        data += n;
        len -= n;
    }
    *out_len = at;
    return GRPCFRAME_OK;
}

const struct grpcframe_encode_ops grpcframe_encode_snappy = {
    .levels = {.low = 0, .high = 0, .usual = 0},
    .init = snappy_init,
    .destroy = snappy_destroy,
    .bound = snappy_bound,
    .run = snappy_run,
};
