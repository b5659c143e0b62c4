/* SPDX-License-Identifier: MIT */
/*
 * echo_codec owns the calls into zlib, brotli and zstd.  Levels are the ones
 * servers use in practice, not the strongest: a call waits for the result.
 */
#include "echo_codec.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* zlib's own way to say "gzip wrapper": 16 more than the window bits. */
#define WBITS_ZLIB 15
#define WBITS_GZIP (15 + 16)

/* Brotli's default of 11 takes seconds per megabyte. */
#define BROTLI_QUALITY 5

/* Room offered to a decoder in each step, at least. */
#define DECODE_STEP (16u << 10)

static const char *const codec_names[ECHO_CODEC_COUNT] = {
    [ECHO_CODEC_IDENTITY] = "identity", [ECHO_CODEC_GZIP] = "gzip",
    [ECHO_CODEC_DEFLATE] = "deflate",   [ECHO_CODEC_BR] = "br",
    [ECHO_CODEC_ZSTD] = "zstd",         [ECHO_CODEC_SNAPPY] = "snappy",
};

const char *
echo_codec_name(enum echo_codec codec)
{
    return codec_names[codec];
}

int
echo_codec_find(const char *name, size_t len, enum echo_codec *codec)
{
    for (int i = 0; i < ECHO_CODEC_COUNT; i++) {
        if (strlen(codec_names[i]) == len &&
            memcmp(codec_names[i], name, len) == 0) {
            *codec = (enum echo_codec)i;
            return 0;
        }
    }
    return -1;
}

/* decode_room gives a decoder space to write to: one byte past the limit, so
 * that "exactly the limit" and "more" can be told apart. */
static uint8_t *
decode_room(struct echo_buf *out, size_t max, size_t *room)
{
    size_t len = echo_buf_len(out);
    size_t want = len < DECODE_STEP ? DECODE_STEP : len;

    if (want > max - len + 1)
        want = max - len + 1;
    *room = want;
    return echo_buf_reserve(out, want);
}

static int
zlib_encode(int wbits, const uint8_t *in, size_t len, struct echo_buf *out)
{
    z_stream z = {0};

    if (len > UINT_MAX || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                       wbits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return ECHO_CODEC_NOMEM;
    size_t bound = deflateBound(&z, (uLong)len);
    uint8_t *to = bound > UINT_MAX ? NULL : echo_buf_reserve(out, bound);
    int rc = Z_MEM_ERROR;
    if (to != NULL) {
        z.next_in = (Bytef *)in;
        z.avail_in = (uInt)len;
        z.next_out = to;
        z.avail_out = (uInt)bound;
        rc = deflate(&z, Z_FINISH);
        echo_buf_commit(out, (size_t)z.total_out);
    }
    (void)deflateEnd(&z);
    return rc == Z_STREAM_END ? 0 : ECHO_CODEC_NOMEM;
}

/* Returns 1 when the message is complete, 0 for "go on", or an error. */
static int
zlib_step(z_stream *z, int wbits, size_t max, struct echo_buf *out)
{
    size_t room;
    uint8_t *to = decode_room(out, max, &room);

    if (to == NULL)
        return ECHO_CODEC_NOMEM;
    z->next_out = to;
    z->avail_out = (uInt)room;
    int rc = inflate(z, Z_NO_FLUSH);
    echo_buf_commit(out, room - z->avail_out);
    if (echo_buf_len(out) > max)
        return ECHO_CODEC_TOO_LARGE;
    if (rc == Z_OK)
        return 0;
    if (rc != Z_STREAM_END)
        return rc == Z_MEM_ERROR ? ECHO_CODEC_NOMEM : ECHO_CODEC_CORRUPT;
    if (z->avail_in == 0)
        return 1;
    /* RFC 1952: a gzip file may have several members, one after another. */
    if (wbits == WBITS_GZIP && inflateReset(z) == Z_OK)
        return 0;
    return ECHO_CODEC_CORRUPT;
}

static int
zlib_decode(int wbits, const uint8_t *in, size_t len, size_t max,
            struct echo_buf *out)
{
    z_stream z = {0};
    int rc = 0;

    if (len > UINT_MAX || inflateInit2(&z, wbits) != Z_OK)
        return ECHO_CODEC_NOMEM;
    z.next_in = (Bytef *)in;
    z.avail_in = (uInt)len;
    while (rc == 0)
        rc = zlib_step(&z, wbits, max, out);
    (void)inflateEnd(&z);
    return rc == 1 ? 0 : rc;
}

static int
brotli_encode(const uint8_t *in, size_t len, struct echo_buf *out)
{
    size_t n = BrotliEncoderMaxCompressedSize(len);
    uint8_t *to = n == 0 ? NULL : echo_buf_reserve(out, n);

    if (to == NULL ||
        !BrotliEncoderCompress(BROTLI_QUALITY, BROTLI_DEFAULT_WINDOW,
                               BROTLI_MODE_GENERIC, len, in, &n, to))
        return ECHO_CODEC_NOMEM;
    echo_buf_commit(out, n);
    return 0;
}

static int
brotli_step(BrotliDecoderState *state, const uint8_t **in, size_t *len,
            size_t max, struct echo_buf *out)
{
    size_t room;
    uint8_t *to = decode_room(out, max, &room);

    if (to == NULL)
        return ECHO_CODEC_NOMEM;
    size_t left = room;
    BrotliDecoderResult rc =
        BrotliDecoderDecompressStream(state, len, in, &left, &to, NULL);
    echo_buf_commit(out, room - left);
    if (echo_buf_len(out) > max)
        return ECHO_CODEC_TOO_LARGE;
    if (rc == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT)
        return 0;
    if (rc == BROTLI_DECODER_RESULT_SUCCESS && *len == 0)
        return 1;
    return ECHO_CODEC_CORRUPT;
}

static int
brotli_decode(const uint8_t *in, size_t len, size_t max, struct echo_buf *out)
{
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    int rc = 0;

    if (state == NULL)
        return ECHO_CODEC_NOMEM;
    while (rc == 0)
        rc = brotli_step(state, &in, &len, max, out);
    BrotliDecoderDestroyInstance(state);
    return rc == 1 ? 0 : rc;
}

static int
zstd_encode(const uint8_t *in, size_t len, struct echo_buf *out)
{
    size_t bound = ZSTD_compressBound(len);
    uint8_t *to = ZSTD_isError(bound) ? NULL : echo_buf_reserve(out, bound);

    if (to == NULL)
        return ECHO_CODEC_NOMEM;
    size_t n = ZSTD_compress(to, bound, in, len, ZSTD_CLEVEL_DEFAULT);
    if (ZSTD_isError(n))
        return ECHO_CODEC_NOMEM;
    echo_buf_commit(out, n);
    return 0;
}

static int
zstd_step(ZSTD_DCtx *ctx, ZSTD_inBuffer *in, size_t max, struct echo_buf *out)
{
    ZSTD_outBuffer to = {0};

    to.dst = decode_room(out, max, &to.size);
    if (to.dst == NULL)
        return ECHO_CODEC_NOMEM;
    size_t rc = ZSTD_decompressStream(ctx, &to, in);
    echo_buf_commit(out, to.pos);
    if (ZSTD_isError(rc))
        return ECHO_CODEC_CORRUPT;
    if (echo_buf_len(out) > max)
        return ECHO_CODEC_TOO_LARGE;
    if (in->pos < in->size || to.pos == to.size)
        return rc == 0 && in->pos == in->size ? 1 : 0;
    /* All input read and room left: either the frame ended or it is cut. */
    return rc == 0 ? 1 : ECHO_CODEC_CORRUPT;
}

static int
zstd_decode(const uint8_t *in, size_t len, size_t max, struct echo_buf *out)
{
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    ZSTD_inBuffer from = {in, len, 0};
    int rc = 0;

    if (ctx == NULL)
        return ECHO_CODEC_NOMEM;
    while (rc == 0)
        rc = zstd_step(ctx, &from, max, out);
    (void)ZSTD_freeDCtx(ctx);
    return rc == 1 ? 0 : rc;
}

int
echo_codec_encode(enum echo_codec codec, const uint8_t *in, size_t len,
                  struct echo_buf *out)
{
    switch (codec) {
    case ECHO_CODEC_GZIP:
        return zlib_encode(WBITS_GZIP, in, len, out);
    case ECHO_CODEC_DEFLATE:
        return zlib_encode(WBITS_ZLIB, in, len, out);
    case ECHO_CODEC_BR:
        return brotli_encode(in, len, out);
    case ECHO_CODEC_ZSTD:
        return zstd_encode(in, len, out);
    case ECHO_CODEC_SNAPPY:
        return echo_snappy_encode(in, len, out);
    case ECHO_CODEC_IDENTITY:
    case ECHO_CODEC_COUNT:
        break;
    }
    return echo_buf_append(out, in, len) == 0 ? 0 : ECHO_CODEC_NOMEM;
}

int
echo_codec_decode(enum echo_codec codec, const uint8_t *in, size_t len,
                  size_t max, struct echo_buf *out)
{
    switch (codec) {
    case ECHO_CODEC_GZIP:
        return zlib_decode(WBITS_GZIP, in, len, max, out);
    case ECHO_CODEC_DEFLATE:
        return zlib_decode(WBITS_ZLIB, in, len, max, out);
    case ECHO_CODEC_BR:
        return brotli_decode(in, len, max, out);
    case ECHO_CODEC_ZSTD:
        return zstd_decode(in, len, max, out);
    case ECHO_CODEC_SNAPPY:
        return echo_snappy_decode(in, len, max, out);
    case ECHO_CODEC_IDENTITY:
    case ECHO_CODEC_COUNT:
        break;
    }
    if (len > max)
        return ECHO_CODEC_TOO_LARGE;
    return echo_buf_append(out, in, len) == 0 ? 0 : ECHO_CODEC_NOMEM;
}
