/* SPDX-License-Identifier: MIT */
/*
 * Owns the encoders: which codec has which levels, and the calls into zlib,
 * brotli and zstd.  The framing of snappy is encode_snappy.c's; how bodies are
 * read is inflate.c's.
 */
#include "encode.h"

#include <brotli/encode.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

/* The window of 32 KiB, and 16 more for a gzip wrapper: zlib's own way. */
#define WBITS_ZLIB 15
#define WBITS_GZIP (15 + 16)

/* MEM_LEVEL is zlib's default, which all stacks keep. */
#define MEM_LEVEL 8

/* ---- zlib ------------------------------------------------------------ */

static int
zlib_init(struct grpcframe_encoder *encoder)
{
    int wbits =
        encoder->codec == GRPCFRAME_CODEC_GZIP ? WBITS_GZIP : WBITS_ZLIB;
    z_stream *z = calloc(1, sizeof(*z));

    if (z == NULL)
        return GRPCFRAME_ERR_NOMEM;
    if (deflateInit2(z, encoder->level, Z_DEFLATED, wbits, MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(z);
        return GRPCFRAME_ERR_NOMEM;
    }
    encoder->state = z;
    return GRPCFRAME_OK;
}

static void
zlib_destroy(struct grpcframe_encoder *encoder)
{
    if (encoder->state != NULL)
        (void)deflateEnd(encoder->state);
    free(encoder->state);
}

static size_t
zlib_bound(const struct grpcframe_encoder *encoder, size_t len)
{
    return (size_t)deflateBound(encoder->state, (uLong)len);
}

static int
zlib_run(struct grpcframe_encoder *encoder, const uint8_t *data, size_t len,
         uint8_t *out, size_t *out_len)
{
    z_stream *z = encoder->state;
    int rv;

    z->next_in = (Bytef *)data;
    z->avail_in = (uInt)len;
    z->next_out = out;
    z->avail_out = (uInt)zlib_bound(encoder, len);
    rv = deflate(z, Z_FINISH);
    *out_len = (size_t)z->total_out;
    /* Now, not before the next: of a stream that has ended, deflateBound
     * forgets the wrapper. */
    (void)deflateReset(z);
    return rv == Z_STREAM_END ? GRPCFRAME_OK : GRPCFRAME_ERR_NOMEM;
}

/* ---- Brotli ---------------------------------------------------------- */

/* An encoder of brotli serves one body only. */
static int
brotli_init(struct grpcframe_encoder *encoder)
{
    (void)encoder;
    return GRPCFRAME_OK;
}

static void
brotli_destroy(struct grpcframe_encoder *encoder)
{
    (void)encoder;
}

static size_t
brotli_bound(const struct grpcframe_encoder *encoder, size_t len)
{
    (void)encoder;
    return BrotliEncoderMaxCompressedSize(len);
}

static int
brotli_run(struct grpcframe_encoder *encoder, const uint8_t *data, size_t len,
           uint8_t *out, size_t *out_len)
{
    *out_len = brotli_bound(encoder, len);
    return BrotliEncoderCompress(encoder->level, BROTLI_DEFAULT_WINDOW,
                                 BROTLI_DEFAULT_MODE, len, data, out_len, out)
               ? GRPCFRAME_OK
               : GRPCFRAME_ERR_NOMEM;
}

/* ---- zstd ------------------------------------------------------------ */

static int
zstd_init(struct grpcframe_encoder *encoder)
{
    encoder->state = ZSTD_createCCtx();
    return encoder->state != NULL ? GRPCFRAME_OK : GRPCFRAME_ERR_NOMEM;
}

static void
zstd_destroy(struct grpcframe_encoder *encoder)
{
    (void)ZSTD_freeCCtx(encoder->state);
}

static size_t
zstd_bound(const struct grpcframe_encoder *encoder, size_t len)
{
    (void)encoder;
    return ZSTD_compressBound(len);
}

static int
zstd_run(struct grpcframe_encoder *encoder, const uint8_t *data, size_t len,
         uint8_t *out, size_t *out_len)
{
    size_t n = ZSTD_compressCCtx(encoder->state, out, zstd_bound(encoder, len),
                                 data, len, encoder->level);

    *out_len = n;
    return ZSTD_isError(n) ? GRPCFRAME_ERR_NOMEM : GRPCFRAME_OK;
}

/* ---- All ------------------------------------------------------------- */

static const struct grpcframe_encode_ops zlib_ops = {
    .levels = {.low = 1, .high = 9, .usual = 6},
    .init = zlib_init,
    .destroy = zlib_destroy,
    .bound = zlib_bound,
    .run = zlib_run,
};

/* The library's own default is 11, which takes seconds a megabyte: nobody
 * answers calls with that. */
static const struct grpcframe_encode_ops brotli_ops = {
    .levels = {.low = 0, .high = 11, .usual = 4},
    .init = brotli_init,
    .destroy = brotli_destroy,
    .bound = brotli_bound,
    .run = brotli_run,
};

static const struct grpcframe_encode_ops zstd_ops = {
    .levels = {.low = 1, .high = 22, .usual = 3},
    .init = zstd_init,
    .destroy = zstd_destroy,
    .bound = zstd_bound,
    .run = zstd_run,
};

static const struct grpcframe_encode_ops *
codec_ops(enum grpcframe_codec codec)
{
    switch (codec) {
    case GRPCFRAME_CODEC_GZIP:
    case GRPCFRAME_CODEC_DEFLATE:
        return &zlib_ops;
    case GRPCFRAME_CODEC_BR:
        return &brotli_ops;
    case GRPCFRAME_CODEC_ZSTD:
        return &zstd_ops;
    case GRPCFRAME_CODEC_SNAPPY:
        return &grpcframe_encode_snappy;
    case GRPCFRAME_CODEC_NONE:
    case GRPCFRAME_CODEC_IDENTITY:
    case GRPCFRAME_CODEC_UNKNOWN:
        break;
    }
    return NULL;
}

int
grpcframe_encoder_levels(enum grpcframe_codec codec,
                         struct grpcframe_levels *levels)
{
    const struct grpcframe_encode_ops *ops = codec_ops(codec);

    if (ops == NULL)
        return GRPCFRAME_ERR_INVALID;
    *levels = ops->levels;
    return GRPCFRAME_OK;
}

int
grpcframe_encoder_new(struct grpcframe_encoder **encoder,
                      enum grpcframe_codec codec, int level)
{
    const struct grpcframe_encode_ops *ops = codec_ops(codec);
    struct grpcframe_encoder *e;

    *encoder = NULL;
    if (ops == NULL || level < ops->levels.low || level > ops->levels.high)
        return GRPCFRAME_ERR_INVALID;
    e = calloc(1, sizeof(*e));
    if (e == NULL)
        return GRPCFRAME_ERR_NOMEM;
    e->ops = ops;
    e->codec = codec;
    e->level = level;
    if (ops->init(e) != GRPCFRAME_OK) {
        free(e);
        return GRPCFRAME_ERR_NOMEM;
    }
    *encoder = e;
    return GRPCFRAME_OK;
}

void
grpcframe_encoder_free(struct grpcframe_encoder *encoder)
{
    if (encoder == NULL)
        return;
    encoder->ops->destroy(encoder);
    free(encoder);
}

size_t
grpcframe_encoder_bound(const struct grpcframe_encoder *encoder, size_t len)
{
    return encoder->ops->bound(encoder, len);
}

int
grpcframe_encoder_run(struct grpcframe_encoder *encoder, const uint8_t *data,
                      size_t len, uint8_t *out, size_t *out_len)
{
    return encoder->ops->run(encoder, data, len, out, out_len);
}
