/* SPDX-License-Identifier: MIT */
/*
 * Owns the compressing side of the codecs, which the product itself does not
 * have.  It does not know gRPC framing.
 */
#include "vector_codec.h"

#include <brotli/encode.h>
#include <openssl/evp.h>
#include <snappy-c.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* SNAPPY_CHUNK is the most input one chunk of the framing format takes. */
#define SNAPPY_CHUNK 65536

static void
codec_zlib(struct vector_buf *out, int window_bits, const uint8_t *data,
           size_t len)
{
    z_stream z;
    uLong bound;

    memset(&z, 0, sizeof(z));
    if (deflateInit2(&z, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        vector_die("deflateInit2");
    }
    bound = deflateBound(&z, (uLong)len);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)len;
    z.next_out = vector_buf_room(out, bound);
    z.avail_out = (uInt)bound;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END) {
        vector_die("deflate");
    }
    out->len += z.total_out;
    deflateEnd(&z);
}

static void
codec_br(struct vector_buf *out, const uint8_t *data, size_t len)
{
    size_t size = BrotliEncoderMaxCompressedSize(len) + 16;

    if (!BrotliEncoderCompress(9, 18, BROTLI_MODE_GENERIC, len, data, &size,
                               vector_buf_room(out, size))) {
        vector_die("brotli");
    }
    out->len += size;
}

static void
codec_zstd(struct vector_buf *out, int checksum, const uint8_t *data,
           size_t len)
{
    ZSTD_CCtx *cctx = ZSTD_createCCtx();
    size_t size = ZSTD_compressBound(len);

    if (cctx == NULL) {
        vector_die("zstd");
    }
    ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, checksum);
    size = ZSTD_compress2(cctx, vector_buf_room(out, size), size, data, len);
    if (ZSTD_isError(size)) {
        vector_die("zstd: %s", ZSTD_getErrorName(size));
    }
    out->len += size;
    ZSTD_freeCCtx(cctx);
}

static void
codec_snappy_block(struct vector_buf *out, const uint8_t *data, size_t len)
{
    size_t size = snappy_max_compressed_length(len);

    if (snappy_compress((const char *)data, len,
                        (char *)vector_buf_room(out, size),
                        &size) != SNAPPY_OK) {
        vector_die("snappy");
    }
    out->len += size;
}

uint32_t
vector_codec_crc32c(const uint8_t *data, size_t len)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < len; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        }
    }
    return crc ^ 0xffffffffu;
}

/* codec_snappy_frame writes the format of snappy's framing_format.txt: the
 * stream identifier, then chunks with a masked checksum of their content. */
static void
codec_snappy_frame(struct vector_buf *out, const uint8_t *data, size_t len)
{
    struct vector_buf block = {0};

    vector_buf_add(out, "\xff\x06\x00\x00sNaPpY", 10);
    for (size_t at = 0; at < len; at += SNAPPY_CHUNK) {
        size_t n = len - at < SNAPPY_CHUNK ? len - at : SNAPPY_CHUNK;
        uint32_t crc = vector_codec_crc32c(data + at, n);

        crc = (crc >> 15 | crc << 17) + 0xa282ead8u;
        block.len = 0;
        codec_snappy_block(&block, data + at, n);
        vector_buf_be(out, 0, 1);
        vector_buf_le(out, block.len + 4, 3);
        vector_buf_le(out, crc, 4);
        vector_buf_add(out, block.data, block.len);
    }
    vector_buf_clear(&block);
}

static void
codec_base64(struct vector_buf *out, const uint8_t *data, size_t len)
{
    /* It writes a NUL behind what it returns the length of. */
    uint8_t *room = vector_buf_room(out, (len + 2) / 3 * 4 + 1);

    out->len += (size_t)EVP_EncodeBlock(room, data, (int)len);
}

int
vector_codec_encode(struct vector_buf *out, const char *name,
                    const uint8_t *data, size_t len)
{
    if (strcmp(name, "gzip") == 0) {
        codec_zlib(out, 15 + 16, data, len);
    } else if (strcmp(name, "zlib") == 0) {
        codec_zlib(out, 15, data, len);
    } else if (strcmp(name, "rawdeflate") == 0) {
        codec_zlib(out, -15, data, len);
    } else if (strcmp(name, "br") == 0) {
        codec_br(out, data, len);
    } else if (strcmp(name, "zstd") == 0) {
        codec_zstd(out, 0, data, len);
    } else if (strcmp(name, "zstd_checksum") == 0) {
        codec_zstd(out, 1, data, len);
    } else if (strcmp(name, "snappy") == 0) {
        codec_snappy_frame(out, data, len);
    } else if (strcmp(name, "snappy_block") == 0) {
        codec_snappy_block(out, data, len);
    } else if (strcmp(name, "base64") == 0) {
        codec_base64(out, data, len);
    } else {
        return -1;
    }
    return 0;
}
