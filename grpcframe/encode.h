/* SPDX-License-Identifier: MIT */
/*
 * Internal: what encoders share.  Not installed.
 */
#ifndef GRPCFRAME_ENCODE_H
#define GRPCFRAME_ENCODE_H

#include "grpcframe.h"

/* struct grpcframe_encode_ops is what a codec does for an encoder; functions
 * return 0 or GRPCFRAME_ERR_NOMEM. */
struct grpcframe_encode_ops {
    /* levels is what it can be told. */
    struct grpcframe_levels levels;
    /* init makes encoder->state, which may be NULL when all is in place. */
    int (*init)(struct grpcframe_encoder *encoder);
    /* destroy frees it. */
    void (*destroy)(struct grpcframe_encoder *encoder);
    /* bound and run are those of the encoder. */
    size_t (*bound)(const struct grpcframe_encoder *encoder, size_t len);
    int (*run)(struct grpcframe_encoder *encoder, const uint8_t *data,
               size_t len, uint8_t *out, size_t *out_len);
};

/* struct grpcframe_encoder is a codec at a level. */
struct grpcframe_encoder {
    /* ops is the codec's. */
    const struct grpcframe_encode_ops *ops;
    /* codec and level are as asked for. */
    enum grpcframe_codec codec;
    int level;
    /* state is what the codec keeps; the codec knows its type. */
    void *state;
};

/* grpcframe_encode_snappy is the framing format of snappy. */
extern const struct grpcframe_encode_ops grpcframe_encode_snappy;

#endif
