/* SPDX-License-Identifier: MIT */
/*
 * Owns the codec `br` (RFC 7932).  The library's decoder cannot be reset, so
 * each body has a new one; an idle decoder here holds none.
 */
#include "inflate.h"

#include <brotli/decode.h>

struct brotli_decoder {
    struct grpcframe_decoder base;
    /* state is NULL between bodies. */
    BrotliDecoderState *state;
    /* done is 1 behind the end of the stream. */
    int done;
};

static void *
brotli_alloc(void *pool, size_t size)
{
    return grpcframe_inflate_alloc(pool, size);
}

static void
brotli_free(void *pool, void *block)
{
    grpcframe_inflate_free(pool, block);
}

static int
brotli_init(struct grpcframe_decoder *decoder)
{
    ((struct brotli_decoder *)decoder)->state = NULL;
    return 0;
}

static int
brotli_begin(struct grpcframe_decoder *decoder)
{
    struct brotli_decoder *b = (struct brotli_decoder *)decoder;

    b->done = 0;
    b->state =
        BrotliDecoderCreateInstance(brotli_alloc, brotli_free, decoder->pool);
    return b->state == NULL ? -1 : 0;
}

static void
brotli_end(struct grpcframe_decoder *decoder)
{
    struct brotli_decoder *b = (struct brotli_decoder *)decoder;

    if (b->state != NULL)
        BrotliDecoderDestroyInstance(b->state);
    b->state = NULL;
}

static enum grpcframe_result
brotli_fault(const struct brotli_decoder *b)
{
    switch (BrotliDecoderGetErrorCode(b->state)) {
    case BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES:
    case BROTLI_DECODER_ERROR_ALLOC_TREE_GROUPS:
    case BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MAP:
    case BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_1:
    case BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_2:
    case BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES:
        return GRPCFRAME_RESULT_MEMORY;
    default:
        return GRPCFRAME_RESULT_CORRUPT;
    }
}

static enum grpcframe_result
brotli_step(struct grpcframe_decoder *decoder, const uint8_t *data, size_t len)
{
    struct brotli_decoder *b = (struct brotli_decoder *)decoder;
    uint8_t *scratch = grpcframe_inflate_scratch(decoder);
    size_t left = len;
    enum grpcframe_result result;
    BrotliDecoderResult code;

    if (b->done)
        return GRPCFRAME_RESULT_TRAILING;
    do {
        size_t room = GRPCFRAME_SCRATCH;
        uint8_t *out = scratch;

        code = BrotliDecoderDecompressStream(b->state, &left, &data, &room,
                                             &out, NULL);
        result =
            grpcframe_inflate_emit(decoder, scratch, GRPCFRAME_SCRATCH - room);
    } while (code == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT &&
             result == GRPCFRAME_RESULT_OK);
    decoder->offset += len - left;
    if (result != GRPCFRAME_RESULT_OK)
        return result;
    if (code == BROTLI_DECODER_RESULT_ERROR)
        return brotli_fault(b);
    b->done = code == BROTLI_DECODER_RESULT_SUCCESS;
    if (b->done && left > 0)
        return GRPCFRAME_RESULT_TRAILING;
    return GRPCFRAME_RESULT_OK;
}

static enum grpcframe_result
brotli_finish(struct grpcframe_decoder *decoder)
{
    return ((struct brotli_decoder *)decoder)->done
               ? GRPCFRAME_RESULT_OK
               : GRPCFRAME_RESULT_TRUNCATED;
}

const struct grpcframe_inflate_ops grpcframe_brotli_ops = {
    .family = GRPCFRAME_FAMILY_BROTLI,
    .size = sizeof(struct brotli_decoder),
    .init = brotli_init,
    .begin = brotli_begin,
    .step = brotli_step,
    .finish = brotli_finish,
    .end = brotli_end,
    .destroy = brotli_end,
};
