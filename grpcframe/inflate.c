/* SPDX-License-Identifier: MIT */
/*
 * Owns the pool: memory accounting, idle decoders, the scratch buffer; and
 * what all decoders have in common: steps, ceiling, sticky result.  Knows no
 * compressed format; those are behind struct grpcframe_inflate_ops.
 */
#include "inflate.h"

#include <stdlib.h>
#include <string.h>

struct grpcframe_pool {
    /* max_bytes is the most that used may become. */
    size_t max_bytes;
    /* used counts the bytes of all decoders, idle ones included. */
    size_t used;
    /* idle holds returned decoders, by family. */
    struct grpcframe_decoder *idle[GRPCFRAME_FAMILIES];
    /* n_idle counts them. */
    unsigned n_idle[GRPCFRAME_FAMILIES];
    /* depth counts the output callbacks that run now. */
    unsigned depth;
    /* scratch takes what comes out; one for each depth. */
    uint8_t scratch[GRPCFRAME_NEST_MAX][GRPCFRAME_SCRATCH];
};

/* union block is what precedes each counted allocation: codec libraries do
 * not say how much they free. */
union block {
    /* size is the whole allocation. */
    size_t size;
    /* align keeps what follows aligned for anything. */
    max_align_t align;
};

/* ---- Pool ------------------------------------------------------------ */

int
grpcframe_pool_new(struct grpcframe_pool **pool, size_t max_bytes)
{
    struct grpcframe_pool *p = malloc(sizeof(*p));

    *pool = p;
    if (p == NULL)
        return GRPCFRAME_ERR_NOMEM;
    /* All but the scratch buffers, untouched memory until they are used. */
    memset(p, 0, offsetof(struct grpcframe_pool, scratch));
    p->max_bytes = max_bytes;
    return GRPCFRAME_OK;
}

static void
decoder_destroy(struct grpcframe_decoder *decoder)
{
    struct grpcframe_pool *pool = decoder->pool;

    decoder->ops->destroy(decoder);
    grpcframe_inflate_discharge(pool, decoder->ops->size);
    free(decoder);
}

/* Takes a decoder from an idle list; NULL when that is empty. */
static struct grpcframe_decoder *
pool_take_idle(struct grpcframe_pool *pool, unsigned family)
{
    struct grpcframe_decoder *decoder = pool->idle[family];

    if (decoder != NULL) {
        pool->idle[family] = decoder->next;
        pool->n_idle[family]--;
    }
    return decoder;
}

/* Frees one idle decoder; returns 0 when there is none. */
static int
pool_evict(struct grpcframe_pool *pool)
{
    for (unsigned i = 0; i < GRPCFRAME_FAMILIES; i++) {
        struct grpcframe_decoder *decoder = pool_take_idle(pool, i);

        if (decoder != NULL) {
            decoder_destroy(decoder);
            return 1;
        }
    }
    return 0;
}

void
grpcframe_pool_free(struct grpcframe_pool *pool)
{
    if (pool == NULL)
        return;
    while (pool_evict(pool))
        continue;
    free(pool);
}

size_t
grpcframe_pool_bytes(const struct grpcframe_pool *pool)
{
    return pool->used;
}

int
grpcframe_inflate_charge(struct grpcframe_pool *pool, size_t size)
{
    if (size > pool->max_bytes)
        return -1;
    while (pool->used > pool->max_bytes - size) {
        if (!pool_evict(pool))
            return -1;
    }
    pool->used += size;
    return 0;
}

void
grpcframe_inflate_discharge(struct grpcframe_pool *pool, size_t size)
{
    pool->used -= size;
}

void *
grpcframe_inflate_alloc(struct grpcframe_pool *pool, size_t size)
{
    union block *block;

    if (size > SIZE_MAX - sizeof(*block))
        return NULL;
    size += sizeof(*block);
    if (grpcframe_inflate_charge(pool, size) != 0)
        return NULL;
    block = malloc(size);
    if (block == NULL) {
        grpcframe_inflate_discharge(pool, size);
        return NULL;
    }
    block->size = size;
    return block + 1;
}

void
grpcframe_inflate_free(struct grpcframe_pool *pool, void *block)
{
    union block *head;

    if (block == NULL)
        return;
    head = (union block *)block - 1;
    grpcframe_inflate_discharge(pool, head->size);
    free(head);
}

/* ---- Decoders -------------------------------------------------------- */

static const struct grpcframe_inflate_ops *
codec_ops(enum grpcframe_codec codec)
{
    switch (codec) {
    case GRPCFRAME_CODEC_GZIP:
    case GRPCFRAME_CODEC_DEFLATE:
        return &grpcframe_zlib_ops;
    case GRPCFRAME_CODEC_BR:
        return &grpcframe_brotli_ops;
    case GRPCFRAME_CODEC_ZSTD:
        return &grpcframe_zstd_ops;
    case GRPCFRAME_CODEC_SNAPPY:
        return &grpcframe_snappy_ops;
    case GRPCFRAME_CODEC_NONE:
    case GRPCFRAME_CODEC_IDENTITY:
    case GRPCFRAME_CODEC_UNKNOWN:
        break;
    }
    return NULL;
}

static struct grpcframe_decoder *
decoder_new(struct grpcframe_pool *pool,
            const struct grpcframe_inflate_ops *ops)
{
    struct grpcframe_decoder *decoder;

    if (grpcframe_inflate_charge(pool, ops->size) != 0)
        return NULL;
    decoder = malloc(ops->size);
    if (decoder == NULL) {
        grpcframe_inflate_discharge(pool, ops->size);
        return NULL;
    }
    memset(decoder, 0, offsetof(struct grpcframe_decoder, stage));
    decoder->ops = ops;
    decoder->pool = pool;
    if (ops->init(decoder) != 0) {
        decoder_destroy(decoder);
        return NULL;
    }
    return decoder;
}

struct grpcframe_decoder *
grpcframe_decoder_get(struct grpcframe_pool *pool, enum grpcframe_codec codec,
                      uint64_t ceiling, grpcframe_output_cb output, void *user)
{
    const struct grpcframe_inflate_ops *ops = codec_ops(codec);
    struct grpcframe_decoder *decoder;

    if (ops == NULL)
        return NULL;
    decoder = pool_take_idle(pool, ops->family);
    if (decoder == NULL)
        decoder = decoder_new(pool, ops);
    if (decoder == NULL)
        return NULL;
    decoder->output = output;
    decoder->user = user;
    decoder->may_lose = 0;
    decoder->ceiling = ceiling == 0 ? UINT64_MAX : ceiling;
    decoder->ratio_free = GRPCFRAME_RATIO_FREE;
    decoder->length = 0;
    decoder->offset = 0;
    decoder->fed = 0;
    decoder->codec = codec;
    decoder->result = GRPCFRAME_RESULT_OK;
    decoder->form = GRPCFRAME_FORM_REGULAR;
    decoder->staged = 0;
    if (ops->begin(decoder) != 0) {
        decoder_destroy(decoder);
        return NULL;
    }
    return decoder;
}

void
grpcframe_decoder_put(struct grpcframe_decoder *decoder)
{
    struct grpcframe_pool *pool;
    unsigned family;

    if (decoder == NULL)
        return;
    pool = decoder->pool;
    family = decoder->ops->family;
    decoder->ops->end(decoder);
    if (pool->n_idle[family] == GRPCFRAME_IDLE_MAX) {
        decoder_destroy(decoder);
        return;
    }
    decoder->next = pool->idle[family];
    pool->idle[family] = decoder;
    pool->n_idle[family]++;
}

uint8_t *
grpcframe_inflate_scratch(struct grpcframe_decoder *decoder)
{
    return decoder->pool->scratch[decoder->pool->depth];
}

/* The step under way counts as consumed: how much of it really is depends on
 * the codec. */
static int
is_bomb(const struct grpcframe_decoder *decoder)
{
    return decoder->length > decoder->ratio_free &&
           decoder->length / GRPCFRAME_RATIO_MAX >
               decoder->offset + GRPCFRAME_STEP;
}

void
grpcframe_decoder_set_free(struct grpcframe_decoder *decoder, uint64_t bytes)
{
    decoder->ratio_free = bytes;
}

enum grpcframe_result
grpcframe_inflate_emit(struct grpcframe_decoder *decoder, const uint8_t *data,
                       size_t len)
{
    enum grpcframe_result result = GRPCFRAME_RESULT_OK;
    uint64_t room = decoder->ceiling - decoder->length;

    if (len > room) {
        len = (size_t)room;
        result = GRPCFRAME_RESULT_LIMIT;
    }
    decoder->length += len;
    if (is_bomb(decoder))
        result = GRPCFRAME_RESULT_LIMIT;
    if (len > 0 && data != NULL && decoder->output != NULL) {
        /* |data| may be the scratch buffer of this depth: what the callback
         * inflates in its turn must go elsewhere. */
        decoder->pool->depth++;
        if (decoder->output(data, len, decoder->user) != 0)
            result = GRPCFRAME_RESULT_LIMIT;
        decoder->pool->depth--;
    }
    return result;
}

/* ---- Feeding --------------------------------------------------------- */

/* Returns 1 while the result is OK and there is a scratch buffer. */
static int
decoder_may_work(struct grpcframe_decoder *decoder)
{
    if (decoder->result == GRPCFRAME_RESULT_OK &&
        decoder->pool->depth == GRPCFRAME_NEST_MAX)
        decoder->result = GRPCFRAME_RESULT_MEMORY;
    return decoder->result == GRPCFRAME_RESULT_OK;
}

static void
decoder_step(struct grpcframe_decoder *decoder, const uint8_t *data, size_t len)
{
    if (len > 0 && decoder_may_work(decoder))
        decoder->result = decoder->ops->step(decoder, data, len);
}

/* Copies into the stage what fits and returns how much that was. */
static size_t
decoder_stage(struct grpcframe_decoder *decoder, const uint8_t *data,
              size_t len)
{
    size_t n = GRPCFRAME_STEP - decoder->staged;

    if (n > len)
        n = len;
    memcpy(decoder->stage + decoder->staged, data, n);
    decoder->staged += n;
    if (decoder->staged == GRPCFRAME_STEP) {
        decoder_step(decoder, decoder->stage, GRPCFRAME_STEP);
        decoder->staged = 0;
    }
    return n;
}

enum grpcframe_result
grpcframe_inflate_feed(struct grpcframe_decoder *decoder, const uint8_t *data,
                       size_t len, int last)
{
    decoder->fed += len;
    while (len > 0 && decoder->result == GRPCFRAME_RESULT_OK) {
        size_t n = GRPCFRAME_STEP;

        if (decoder->staged > 0 || (len < n && !last)) {
            n = decoder_stage(decoder, data, len);
        } else {
            if (len < n)
                n = len;
            decoder_step(decoder, data, n);
        }
        data += n;
        len -= n;
    }
    return decoder->result;
}

enum grpcframe_result
grpcframe_decoder_feed(struct grpcframe_decoder *decoder, const uint8_t *data,
                       size_t len)
{
    return grpcframe_inflate_feed(decoder, data, len, 0);
}

enum grpcframe_result
grpcframe_decoder_finish(struct grpcframe_decoder *decoder)
{
    decoder_step(decoder, decoder->stage, decoder->staged);
    decoder->staged = 0;
    /* A body of no bytes stands for no bytes in any coding. */
    if (decoder->fed > 0 && decoder_may_work(decoder))
        decoder->result = decoder->ops->finish(decoder);
    if (decoder->result == GRPCFRAME_RESULT_TRUNCATED)
        decoder->offset = decoder->fed;
    return decoder->result;
}

uint64_t
grpcframe_decoder_length(const struct grpcframe_decoder *decoder)
{
    return decoder->length;
}

uint64_t
grpcframe_decoder_offset(const struct grpcframe_decoder *decoder)
{
    return decoder->offset;
}

enum grpcframe_form
grpcframe_decoder_form(const struct grpcframe_decoder *decoder)
{
    return decoder->form;
}
