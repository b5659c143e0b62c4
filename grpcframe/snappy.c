/* SPDX-License-Identifier: MIT */
/*
 * Owns the codec `snappy`: tells its two forms apart and reads the framing
 * format ("Snappy framing format description"), chunk by chunk.  The block
 * format is in snappy_block.c; a chunk is small enough to leave to libsnappy.
 */
#include "crc32c.h"
#include "snappy_block.h"

#include <snappy-c.h>
#include <string.h>

/* The framing format, section 4.2: no chunk holds more than this once
 * decoded, ... */
#define CHUNK_MAX 65536

/* ... which libsnappy never needs more for (snappy_max_compressed_length). */
#define CHUNK_CODED_MAX (32 + CHUNK_MAX + CHUNK_MAX / 6)

#define CHUNK_HEAD_LEN 4
#define CHECKSUM_LEN 4

/* STREAM_ID_LEN is the length of the chunk that begins a framed body. */
#define STREAM_ID_LEN 10

/* Chunk types (section 4); 0x02-0x7f must not be skipped, the others are. */
enum chunk_type {
    CHUNK_COMPRESSED = 0x00,
    CHUNK_PLAIN = 0x01,
    CHUNK_SKIPPABLE_MIN = 0x80,
    CHUNK_STREAM_ID = 0xff
};

/* enum snappy_state is where in the body a decoder stands. */
enum snappy_state {
    /* Inside what may be a stream identifier. */
    SNAPPY_DETECT,
    /* Before a chunk, or inside its first 4 bytes. */
    SNAPPY_HEAD,
    /* Inside a chunk that is gathered in body. */
    SNAPPY_BODY,
    /* Inside a chunk that is skipped. */
    SNAPPY_SKIP,
    /* Inside a bare block. */
    SNAPPY_BLOCK
};

struct snappy_decoder {
    struct grpcframe_decoder base;
    /* state is where the body stands. */
    enum snappy_state state;
    /* block reads a bare block. */
    struct grpcframe_snappy_block block;
    /* chunk is the offset of the current chunk. */
    uint64_t chunk;
    /* chunk_len is its length without its first 4 bytes. */
    size_t chunk_len;
    /* chunk_have counts how many of these came. */
    size_t chunk_have;
    /* head holds the first bytes of a chunk, or of the body. */
    uint8_t head[STREAM_ID_LEN];
    size_t head_len;
    /* crc32c is for the checksums. */
    struct grpcframe_crc32c crc32c;
    /* body holds one chunk; or the window of a block, whose output is wanted.
     */
    uint8_t body[CHECKSUM_LEN + CHUNK_CODED_MAX];
};

static const uint8_t stream_id[STREAM_ID_LEN] = {0xff, 0x06, 0x00, 0x00, 's',
                                                 'N',  'a',  'P',  'p',  'Y'};

/* ---- Chunks ---------------------------------------------------------- */

/* A fault counts from the begin of its chunk. */
static enum grpcframe_result
chunk_fault(struct snappy_decoder *s, enum grpcframe_result result)
{
    s->base.offset = s->chunk;
    return result;
}

static enum grpcframe_result
chunk_emit(struct snappy_decoder *s, const uint8_t *data, size_t len)
{
    const uint8_t *p = s->body;
    uint32_t want = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
                    (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

    if (grpcframe_crc32c_masked(&s->crc32c, data, len) != want)
        return chunk_fault(s, GRPCFRAME_RESULT_CHECKSUM);
    return grpcframe_inflate_emit(&s->base, data, len);
}

static enum grpcframe_result
chunk_inflate(struct snappy_decoder *s)
{
    const char *coded = (const char *)s->body + CHECKSUM_LEN;
    size_t coded_len = s->chunk_len - CHECKSUM_LEN;
    uint8_t *scratch = grpcframe_inflate_scratch(&s->base);
    size_t len = 0;

    if (snappy_uncompressed_length(coded, coded_len, &len) != SNAPPY_OK ||
        len > CHUNK_MAX)
        return chunk_fault(s, GRPCFRAME_RESULT_CORRUPT);
    len = GRPCFRAME_SCRATCH;
    if (snappy_uncompress(coded, coded_len, (char *)scratch, &len) != SNAPPY_OK)
        return chunk_fault(s, GRPCFRAME_RESULT_CORRUPT);
    return chunk_emit(s, scratch, len);
}

/* The chunk is complete in body. */
static enum grpcframe_result
chunk_end(struct snappy_decoder *s)
{
    s->state = SNAPPY_HEAD;
    s->head_len = 0;
    switch (s->head[0]) {
    case CHUNK_COMPRESSED:
        return chunk_inflate(s);
    case CHUNK_PLAIN:
        return chunk_emit(s, s->body + CHECKSUM_LEN,
                          s->chunk_len - CHECKSUM_LEN);
    default: /* CHUNK_STREAM_ID, which may be repeated (section 4.1). */
        if (memcmp(s->body, stream_id + CHUNK_HEAD_LEN, s->chunk_len) != 0)
            return chunk_fault(s, GRPCFRAME_RESULT_CORRUPT);
        return GRPCFRAME_RESULT_OK;
    }
}

/* Returns 1 when a chunk of |type| can have |len| bytes. */
static int
chunk_len_is_good(uint8_t type, size_t len)
{
    switch (type) {
    case CHUNK_COMPRESSED:
        return len >= CHECKSUM_LEN && len <= CHECKSUM_LEN + CHUNK_CODED_MAX;
    case CHUNK_PLAIN:
        return len >= CHECKSUM_LEN && len <= CHECKSUM_LEN + CHUNK_MAX;
    case CHUNK_STREAM_ID:
        return len == STREAM_ID_LEN - CHUNK_HEAD_LEN;
    default:
        return type >= CHUNK_SKIPPABLE_MIN;
    }
}

static int
chunk_is_skipped(uint8_t type)
{
    return type >= CHUNK_SKIPPABLE_MIN && type != CHUNK_STREAM_ID;
}

static enum grpcframe_result
take_head(struct snappy_decoder *s, uint8_t byte)
{
    const uint8_t *p = s->head;

    if (s->head_len == 0)
        s->chunk = s->base.offset;
    s->base.offset++;
    s->head[s->head_len++] = byte;
    if (s->head_len < CHUNK_HEAD_LEN)
        return GRPCFRAME_RESULT_OK;
    s->chunk_len = (size_t)p[1] | (size_t)p[2] << 8 | (size_t)p[3] << 16;
    s->chunk_have = 0;
    if (!chunk_len_is_good(p[0], s->chunk_len))
        return chunk_fault(s, GRPCFRAME_RESULT_CORRUPT);
    s->state = chunk_is_skipped(p[0]) ? SNAPPY_SKIP : SNAPPY_BODY;
    if (s->chunk_len == 0) {
        s->state = SNAPPY_HEAD;
        s->head_len = 0;
    }
    return GRPCFRAME_RESULT_OK;
}

/* Takes what |data| has of the current chunk, |len| bytes. */
static enum grpcframe_result
take_body(struct snappy_decoder *s, const uint8_t *data, size_t len)
{
    if (s->state == SNAPPY_BODY)
        memcpy(s->body + s->chunk_have, data, len);
    s->base.offset += len;
    s->chunk_have += len;
    if (s->chunk_have < s->chunk_len)
        return GRPCFRAME_RESULT_OK;
    if (s->state == SNAPPY_BODY)
        return chunk_end(s);
    s->state = SNAPPY_HEAD;
    s->head_len = 0;
    return GRPCFRAME_RESULT_OK;
}

/* ---- Forms ----------------------------------------------------------- */

/* The body turned out to be a bare block: gives it what looked like the begin
 * of a stream identifier. */
static enum grpcframe_result
begin_block(struct snappy_decoder *s)
{
    uint8_t *window = s->base.output != NULL ? s->body : NULL;

    s->state = SNAPPY_BLOCK;
    s->base.form = GRPCFRAME_FORM_SNAPPY_BLOCK;
    grpcframe_snappy_block_begin(&s->block, window);
    return grpcframe_snappy_block_step(&s->block, &s->base, s->head,
                                       s->head_len);
}

/* No block begins with a whole stream identifier: read as one, it copies from
 * further back than the 1 byte it has.  Nor is one complete inside it: it
 * would be 895 bytes long. */
static enum grpcframe_result
take_first(struct snappy_decoder *s, uint8_t byte)
{
    s->head[s->head_len++] = byte;
    if (memcmp(s->head, stream_id, s->head_len) != 0)
        return begin_block(s);
    if (s->head_len == STREAM_ID_LEN) {
        s->base.offset = STREAM_ID_LEN;
        s->state = SNAPPY_HEAD;
        s->head_len = 0;
    }
    return GRPCFRAME_RESULT_OK;
}

/* ---- Family ---------------------------------------------------------- */

static int
snappy_init(struct grpcframe_decoder *decoder)
{
    grpcframe_crc32c_init(&((struct snappy_decoder *)decoder)->crc32c);
    return 0;
}

static int
snappy_begin(struct grpcframe_decoder *decoder)
{
    struct snappy_decoder *s = (struct snappy_decoder *)decoder;

    s->state = SNAPPY_DETECT;
    s->head_len = 0;
    return 0;
}

static enum grpcframe_result
snappy_step(struct grpcframe_decoder *decoder, const uint8_t *data, size_t len)
{
    struct snappy_decoder *s = (struct snappy_decoder *)decoder;
    enum grpcframe_result result = GRPCFRAME_RESULT_OK;

    while (len > 0 && result == GRPCFRAME_RESULT_OK) {
        size_t n = 1;

        switch (s->state) {
        case SNAPPY_DETECT:
            result = take_first(s, data[0]);
            break;
        case SNAPPY_HEAD:
            result = take_head(s, data[0]);
            break;
        case SNAPPY_BODY:
        case SNAPPY_SKIP:
            n = s->chunk_len - s->chunk_have;
            n = n < len ? n : len;
            result = take_body(s, data, n);
            break;
        case SNAPPY_BLOCK:
            n = len;
            result = grpcframe_snappy_block_step(&s->block, decoder, data, n);
            break;
        }
        data += n;
        len -= n;
    }
    return result;
}

static enum grpcframe_result
snappy_finish(struct grpcframe_decoder *decoder)
{
    const struct snappy_decoder *s = (const struct snappy_decoder *)decoder;

    if (s->state == SNAPPY_BLOCK)
        return grpcframe_snappy_block_finish(&s->block);
    if (s->state == SNAPPY_HEAD && s->head_len == 0)
        return GRPCFRAME_RESULT_OK;
    return GRPCFRAME_RESULT_TRUNCATED;
}

static void
snappy_nothing(struct grpcframe_decoder *decoder)
{
    (void)decoder;
}

const struct grpcframe_inflate_ops grpcframe_snappy_ops = {
    .family = GRPCFRAME_FAMILY_SNAPPY,
    .size = sizeof(struct snappy_decoder),
    .init = snappy_init,
    .begin = snappy_begin,
    .step = snappy_step,
    .finish = snappy_finish,
    .end = snappy_nothing,
    .destroy = snappy_nothing,
};
