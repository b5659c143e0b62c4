/* SPDX-License-Identifier: MIT */
/*
 * Compresses payloads for vectors with the codec libraries themselves, so
 * that no compressed bytes are written down by hand.
 */
#ifndef VECTOR_CODEC_H
#define VECTOR_CODEC_H

#include "vector_buf.h"

/*
 * vector_codec_encode appends to |out| the |len| bytes at |data| compressed
 * by |name|: gzip, zlib (what gRPC calls deflate), rawdeflate, br, zstd,
 * zstd_checksum, snappy (framing format), snappy_block.  Returns 0, or -1
 * for a name that is none of these.
 */
int vector_codec_encode(struct vector_buf *out, const char *name,
                        const uint8_t *data, size_t len);

/* vector_codec_crc32c returns the CRC of |data| with the polynomial that the
 * framing format of snappy uses. */
uint32_t vector_codec_crc32c(const uint8_t *data, size_t len);

#endif
