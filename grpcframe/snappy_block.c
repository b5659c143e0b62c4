/* SPDX-License-Identifier: MIT */
/*
 * Owns the walk along a block of snappy ("Snappy compressed format
 * description": a length, then literals and copies).  libsnappy wants a whole
 * block in memory; what comes out can be counted and checked without that.
 */
#include "snappy_block.h"

#include <string.h>

/* The preamble is a length below 2^32: 5 groups of 7 bits. */
#define PREAMBLE_MAX 5

void
grpcframe_snappy_block_begin(struct grpcframe_snappy_block *block,
                             uint8_t *window)
{
    memset(block, 0, sizeof(*block));
    block->window = window;
    block->state = GRPCFRAME_SNAPPY_PREAMBLE;
}

/* A fault counts from the begin of its element. */
static enum grpcframe_result
block_fault(struct grpcframe_snappy_block *block,
            struct grpcframe_decoder *decoder, enum grpcframe_result result)
{
    decoder->offset = block->element;
    return result;
}

static void
window_append(struct grpcframe_snappy_block *block, const uint8_t *data,
              size_t len)
{
    /* |len| is at most a step, so that it wraps around once at most. */
    size_t at = (size_t)(block->produced % GRPCFRAME_SNAPPY_WINDOW);
    size_t room = GRPCFRAME_SNAPPY_WINDOW - at;
    size_t n = len < room ? len : room;

    memcpy(block->window + at, data, n);
    memcpy(block->window, data + n, len - n);
}

static enum grpcframe_result
take_preamble(struct grpcframe_snappy_block *block,
              struct grpcframe_decoder *decoder, uint8_t byte)
{
    block->value |= (uint64_t)(byte & 0x7f) << (7 * block->have);
    block->have++;
    if (block->value > UINT32_MAX)
        return block_fault(block, decoder, GRPCFRAME_RESULT_CORRUPT);
    decoder->offset++;
    if ((byte & 0x80) == 0) {
        block->declared = block->value;
        block->state = GRPCFRAME_SNAPPY_TAG;
    } else if (block->have == PREAMBLE_MAX) {
        return block_fault(block, decoder, GRPCFRAME_RESULT_CORRUPT);
    }
    return GRPCFRAME_RESULT_OK;
}

/* Lets out |len| bytes of the copy that begins |distance| bytes back; the two
 * may overlap. */
static enum grpcframe_result
copy_out(struct grpcframe_snappy_block *block,
         struct grpcframe_decoder *decoder, size_t len, uint64_t distance)
{
    uint8_t *out = grpcframe_inflate_scratch(decoder);
    uint64_t to = block->produced;

    block->produced += len;
    if (block->window == NULL)
        return grpcframe_inflate_emit(decoder, NULL, len);
    for (size_t i = 0; i < len; i++) {
        uint64_t from = to - distance;

        out[i] = block->window[from % GRPCFRAME_SNAPPY_WINDOW];
        block->window[to % GRPCFRAME_SNAPPY_WINDOW] = out[i];
        to++;
    }
    return grpcframe_inflate_emit(decoder, out, len);
}

static enum grpcframe_result
do_copy(struct grpcframe_snappy_block *block, struct grpcframe_decoder *decoder)
{
    uint64_t distance = block->value;
    size_t len = (size_t)(block->tag >> 2) + 1;

    if ((block->tag & 3) == 1) {
        len = (size_t)(block->tag >> 2 & 7) + 4;
        distance |= (uint64_t)(block->tag >> 5) << 8;
    }
    if (distance == 0 || distance > block->produced ||
        len > block->declared - block->produced)
        return block_fault(block, decoder, GRPCFRAME_RESULT_CORRUPT);
    if (block->window != NULL && distance > GRPCFRAME_SNAPPY_WINDOW) {
        if (!decoder->may_lose)
            return block_fault(block, decoder, GRPCFRAME_RESULT_MEMORY);
        block->window = NULL;
        decoder->output = NULL;
    }
    block->state = GRPCFRAME_SNAPPY_TAG;
    return copy_out(block, decoder, len, distance);
}

static enum grpcframe_result
begin_literal(struct grpcframe_snappy_block *block,
              struct grpcframe_decoder *decoder, uint64_t len)
{
    if (len > block->declared - block->produced)
        return block_fault(block, decoder, GRPCFRAME_RESULT_CORRUPT);
    block->left = len;
    block->state = GRPCFRAME_SNAPPY_LITERAL;
    return GRPCFRAME_RESULT_OK;
}

static enum grpcframe_result
take_tag(struct grpcframe_snappy_block *block,
         struct grpcframe_decoder *decoder, uint8_t tag)
{
    static const uint8_t copy_need[] = {0, 1, 2, 4};
    uint8_t upper = tag >> 2;

    block->element = decoder->offset;
    if (block->produced == block->declared)
        return GRPCFRAME_RESULT_TRAILING;
    decoder->offset++;
    block->tag = tag;
    block->value = 0;
    block->have = 0;
    block->need = copy_need[tag & 3];
    if ((tag & 3) == 0) {
        if (upper < 60)
            return begin_literal(block, decoder, (uint64_t)upper + 1);
        block->need = (uint8_t)(upper - 59);
    }
    block->state = GRPCFRAME_SNAPPY_EXTRA;
    return GRPCFRAME_RESULT_OK;
}

/* The bytes behind a tag: the length of a long literal, the distance of a
 * copy. */
static enum grpcframe_result
take_extra(struct grpcframe_snappy_block *block,
           struct grpcframe_decoder *decoder, uint8_t byte)
{
    decoder->offset++;
    block->value |= (uint64_t)byte << (8 * block->have);
    block->have++;
    if (block->have < block->need)
        return GRPCFRAME_RESULT_OK;
    if ((block->tag & 3) == 0)
        return begin_literal(block, decoder, block->value + 1);
    return do_copy(block, decoder);
}

static enum grpcframe_result
take_literal(struct grpcframe_snappy_block *block,
             struct grpcframe_decoder *decoder, const uint8_t *data, size_t len)
{
    if (block->window != NULL)
        window_append(block, data, len);
    decoder->offset += len;
    block->produced += len;
    block->left -= len;
    if (block->left == 0)
        block->state = GRPCFRAME_SNAPPY_TAG;
    return grpcframe_inflate_emit(decoder, data, len);
}

enum grpcframe_result
grpcframe_snappy_block_step(struct grpcframe_snappy_block *block,
                            struct grpcframe_decoder *decoder,
                            const uint8_t *data, size_t len)
{
    enum grpcframe_result result = GRPCFRAME_RESULT_OK;

    while (len > 0 && result == GRPCFRAME_RESULT_OK) {
        size_t n = 1;

        switch (block->state) {
        case GRPCFRAME_SNAPPY_PREAMBLE:
            result = take_preamble(block, decoder, data[0]);
            break;
        case GRPCFRAME_SNAPPY_TAG:
            result = take_tag(block, decoder, data[0]);
            break;
        case GRPCFRAME_SNAPPY_EXTRA:
            result = take_extra(block, decoder, data[0]);
            break;
        case GRPCFRAME_SNAPPY_LITERAL:
            n = block->left < len ? (size_t)block->left : len;
            result = take_literal(block, decoder, data, n);
            break;
        }
        data += n;
        len -= n;
    }
    return result;
}

enum grpcframe_result
grpcframe_snappy_block_finish(const struct grpcframe_snappy_block *block)
{
    if (block->state == GRPCFRAME_SNAPPY_TAG &&
        block->produced == block->declared)
        return GRPCFRAME_RESULT_OK;
    return GRPCFRAME_RESULT_TRUNCATED;
}
