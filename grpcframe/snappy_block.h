/* SPDX-License-Identifier: MIT */
/*
 * Internal: the block format of snappy, read as it passes.  Not installed.
 */
#ifndef GRPCFRAME_SNAPPY_BLOCK_H
#define GRPCFRAME_SNAPPY_BLOCK_H

#include "inflate.h"

/*
 * GRPCFRAME_SNAPPY_WINDOW is how far back a copy may reach where the decoded
 * bytes themselves are wanted.  The format knows no limit; Google's encoders
 * cut their input into blocks of this length, others do not.
 */
#define GRPCFRAME_SNAPPY_WINDOW 65536

/* enum grpcframe_snappy_state is what the next byte of a block is. */
enum grpcframe_snappy_state {
    GRPCFRAME_SNAPPY_PREAMBLE,
    GRPCFRAME_SNAPPY_TAG,
    GRPCFRAME_SNAPPY_EXTRA,
    GRPCFRAME_SNAPPY_LITERAL
};

/* struct grpcframe_snappy_block reads one block. */
struct grpcframe_snappy_block {
    /* window holds the last bytes that came out; NULL when they only count. */
    uint8_t *window;
    /* state is what the next byte is. */
    enum grpcframe_snappy_state state;
    /* declared is the length that the preamble states. */
    uint64_t declared;
    /* produced counts the bytes of the elements so far. */
    uint64_t produced;
    /* element is the offset of the current element. */
    uint64_t element;
    /* left counts the bytes of the current literal still to come. */
    uint64_t left;
    /* value gathers the varint of the preamble or the bytes behind a tag. */
    uint64_t value;
    /* have counts the bytes gathered in value, need how many there are. */
    uint8_t have;
    uint8_t need;
    /* tag is the first byte of the element. */
    uint8_t tag;
};

/* grpcframe_snappy_block_begin sets |block| up.  |window| (may be NULL) is
 * memory of GRPCFRAME_SNAPPY_WINDOW bytes. */
void grpcframe_snappy_block_begin(struct grpcframe_snappy_block *block,
                                  uint8_t *window);

/* grpcframe_snappy_block_step reads the next |len| bytes. */
enum grpcframe_result
grpcframe_snappy_block_step(struct grpcframe_snappy_block *block,
                            struct grpcframe_decoder *decoder,
                            const uint8_t *data, size_t len);

/* grpcframe_snappy_block_finish returns 0 when the block is complete. */
enum grpcframe_result
grpcframe_snappy_block_finish(const struct grpcframe_snappy_block *block);

#endif
