/* SPDX-License-Identifier: MIT */
/*
 * Internal: what the codec families share with inflate.c, which owns the pool
 * and the decoders.  Not installed, and no part of the contract.
 *
 * Cuts.  inflate.c hands a body to its codec in steps of exactly
 * GRPCFRAME_STEP bytes (the last one may be shorter), whatever the cuts it
 * arrived in.  The calls into a codec library are then a function of the body
 * alone, and so are the lengths and offsets reported, even where a library
 * flushes its output, or notices a fault, at times of its own choosing.
 */
#ifndef GRPCFRAME_INFLATE_H
#define GRPCFRAME_INFLATE_H

#include "grpcframe.h"

/*
 * GRPCFRAME_STEP is how much of a body a codec is given at once.  Every
 * decoder in use holds one step; below 4 KiB the calls into the codec
 * libraries begin to show in the CPU cost, above it little is won.
 */
#define GRPCFRAME_STEP 4096

/*
 * GRPCFRAME_SCRATCH is the size of the output buffer that the decoders of a
 * pool share:
 * the most that a chunk of snappy holds (65,536), and small enough for the
 * second-level cache.
 */
#define GRPCFRAME_SCRATCH 65536

/*
 * GRPCFRAME_NEST_MAX is how deep decoders may work inside the output callbacks
 * of others: two content codings around compressed messages make 3.
 */
#define GRPCFRAME_NEST_MAX 4

/* GRPCFRAME_IDLE_MAX is how many decoders of a family a pool keeps for reuse:
 * more than a thread ever has half-way through a message, usually. */
#define GRPCFRAME_IDLE_MAX 8

/* enum grpcframe_family numbers the codec families, whose decoders can stand
 * in for each other. */
enum grpcframe_family {
    GRPCFRAME_FAMILY_ZLIB,
    GRPCFRAME_FAMILY_BROTLI,
    GRPCFRAME_FAMILY_ZSTD,
    GRPCFRAME_FAMILY_SNAPPY,
    GRPCFRAME_FAMILIES
};

/*
 * struct grpcframe_inflate_ops is a codec family.  A decoder is made once
 * (init), serves any number of bodies (begin, step..., finish, end), and is
 * freed (destroy).  Functions that return a result leave the offset of a
 * fault in the decoder.
 */
struct grpcframe_inflate_ops {
    /* family is the idle list its decoders go to. */
    enum grpcframe_family family;
    /* size is that of the family's struct, whose first member is a struct
     * grpcframe_decoder. */
    size_t size;
    /* init sets up a decoder whose base is set and the rest is not; returns
     * 0, or -1 when out of memory (destroy is called all the same). */
    int (*init)(struct grpcframe_decoder *decoder);
    /* begin prepares for a body of decoder->codec; returns 0, or -1 when out
     * of memory. */
    int (*begin)(struct grpcframe_decoder *decoder);
    /* step inflates the next |len| bytes (never 0), counting those it is done
     * with in decoder->offset. */
    enum grpcframe_result (*step)(struct grpcframe_decoder *decoder,
                                  const uint8_t *data, size_t len);
    /* finish says whether the coded stream is complete: OK, TRUNCATED, or a
     * fault that shows only now. */
    enum grpcframe_result (*finish)(struct grpcframe_decoder *decoder);
    /* end drops what is not worth keeping between bodies. */
    void (*end)(struct grpcframe_decoder *decoder);
    /* destroy frees what init and begin made, but not the decoder. */
    void (*destroy)(struct grpcframe_decoder *decoder);
};

/* The families. */
extern const struct grpcframe_inflate_ops grpcframe_zlib_ops;
extern const struct grpcframe_inflate_ops grpcframe_brotli_ops;
extern const struct grpcframe_inflate_ops grpcframe_zstd_ops;
extern const struct grpcframe_inflate_ops grpcframe_snappy_ops;

/* struct grpcframe_decoder is the base of each family's decoder. */
struct grpcframe_decoder {
    /* ops is the family. */
    const struct grpcframe_inflate_ops *ops;
    /* pool is where the decoder came from and its memory is counted. */
    struct grpcframe_pool *pool;
    /* next links idle decoders. */
    struct grpcframe_decoder *next;
    /* output (may be NULL) sees what comes out; user goes with it. */
    grpcframe_output_cb output;
    void *user;
    /* may_lose is 1 when to count is more important than to show: where only
     * the former can go on, output becomes NULL. */
    uint8_t may_lose;
    /* ceiling is the most that may come out; UINT64_MAX for no ceiling. */
    uint64_t ceiling;
    /* ratio_free is what may come out before the ratio counts. */
    uint64_t ratio_free;
    /* length counts what came out. */
    uint64_t length;
    /* offset counts what was consumed; that of the fault once there is one. */
    uint64_t offset;
    /* fed counts the bytes of the body so far, staged ones included. */
    uint64_t fed;
    /* codec is the one that was asked for. */
    enum grpcframe_codec codec;
    /* result is sticky. */
    enum grpcframe_result result;
    /* form is which of two forms the body takes. */
    enum grpcframe_form form;
    /* staged counts the bytes that wait in stage for the step to fill. */
    size_t staged;
    uint8_t stage[GRPCFRAME_STEP];
};

/* grpcframe_inflate_feed is grpcframe_decoder_feed for a caller that knows
 * that the body ends with this data (|last|): it then need not be staged. */
enum grpcframe_result grpcframe_inflate_feed(struct grpcframe_decoder *decoder,
                                             const uint8_t *data, size_t len,
                                             int last);

/* grpcframe_inflate_scratch returns the GRPCFRAME_SCRATCH bytes that a codec
 * may use until it returns. */
uint8_t *grpcframe_inflate_scratch(struct grpcframe_decoder *decoder);

/*
 * grpcframe_inflate_emit counts |len| bytes that came out and shows them to
 * the output callback; |data| may be NULL when there is none.  Returns OK, or
 * LIMIT when that is more than the ceiling allows (the length is the ceiling
 * then), or the callback wants no more.
 */
enum grpcframe_result grpcframe_inflate_emit(struct grpcframe_decoder *decoder,
                                             const uint8_t *data, size_t len);

/* grpcframe_inflate_charge counts |size| bytes as used by decoders of |pool|,
 * and frees idle ones if it must.  Returns 0, or -1 when that is too much. */
int grpcframe_inflate_charge(struct grpcframe_pool *pool, size_t size);

/* grpcframe_inflate_discharge takes |size| bytes off the count. */
void grpcframe_inflate_discharge(struct grpcframe_pool *pool, size_t size);

/* grpcframe_inflate_alloc allocates |size| bytes on the count of |pool|, for
 * codec libraries that take an allocator.  NULL when that is too much. */
void *grpcframe_inflate_alloc(struct grpcframe_pool *pool, size_t size);

/* grpcframe_inflate_free frees what grpcframe_inflate_alloc returned (NULL is
 * fine). */
void grpcframe_inflate_free(struct grpcframe_pool *pool, void *block);

#endif
