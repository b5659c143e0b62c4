/* SPDX-License-Identifier: MIT */
/*
 * echo_codec: the gRPC message encodings, one whole message at a time.  It
 * knows nothing of gRPC framing or of HTTP/2.
 */
#ifndef ECHO_CODEC_H
#define ECHO_CODEC_H

#include "echo_buf.h"

enum echo_codec {
    ECHO_CODEC_IDENTITY,
    ECHO_CODEC_GZIP,
    ECHO_CODEC_DEFLATE, /* the zlib form, RFC 1950, as gRPC defines it */
    ECHO_CODEC_BR,
    ECHO_CODEC_ZSTD,
    ECHO_CODEC_SNAPPY, /* the framing format, as golang/snappy writes it */
    ECHO_CODEC_COUNT
};

/* What both programs put into grpc-accept-encoding. */
#define ECHO_CODEC_ALL "identity,gzip,deflate,br,zstd,snappy"

enum echo_codec_error {
    ECHO_CODEC_CORRUPT = -1,   /* not what the codec calls a message */
    ECHO_CODEC_TOO_LARGE = -2, /* decodes to more than the limit */
    ECHO_CODEC_NOMEM = -3      /* out of memory, or the library failed */
};

/* echo_codec_name returns the name used in grpc-encoding. */
const char *echo_codec_name(enum echo_codec codec);

/*
 * echo_codec_find looks a name of `len` bytes up.  Returns 0 and sets *codec,
 * or -1 when the name is unknown.
 */
int echo_codec_find(const char *name, size_t len, enum echo_codec *codec);

/*
 * echo_codec_encode appends the encoded form of `in` to `out`.
 * Returns 0 or ECHO_CODEC_NOMEM; on failure `out` may hold part of it.
 */
int echo_codec_encode(enum echo_codec codec, const uint8_t *in, size_t len,
                      struct echo_buf *out);

/*
 * echo_codec_decode appends the decoded form of `in` to `out`, which may reach
 * `max` bytes in all.  The input must be exactly one message: a missing end or
 * bytes after it are ECHO_CODEC_CORRUPT.
 */
int echo_codec_decode(enum echo_codec codec, const uint8_t *in, size_t len,
                      size_t max, struct echo_buf *out);

/* The same for snappy; in a file of its own because the framing is ours. */
int echo_snappy_encode(const uint8_t *in, size_t len, struct echo_buf *out);
int echo_snappy_decode(const uint8_t *in, size_t len, size_t max,
                       struct echo_buf *out);

#endif
