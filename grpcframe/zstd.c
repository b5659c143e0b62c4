/* SPDX-License-Identifier: MIT */
/*
 * Owns the codec `zstd` (RFC 8878): any number of frames, skippable ones
 * among them.  Finds where frames begin and end, and leaves their content to
 * libzstd.
 *
 * libzstd is fed in the pieces it asks for (a frame header, then one block at
 * a time) and never a whole frame at once.  It would otherwise decode a frame
 * that fits in one go by another path, which does not look at the window, and
 * reports a fault in the last block with nothing decoded.
 */
#include "inflate.h"

#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

/* RFC 8878, section 3.1.1: magic number, descriptor, at most 13 bytes more. */
#define HEADER_MAX 18
#define MAGIC_LEN 4
#define DESCRIPTOR_LEN 1

/* RFC 8878, section 3.1.2: a skippable frame is a magic number, a length. */
#define SKIPPABLE_LEN 8

/* NO_CONTENT_SIZE stands for a frame that does not store its size. */
#define NO_CONTENT_SIZE UINT64_MAX

/* enum zstd_state is where in the body a decoder stands. */
enum zstd_state {
    /* Before a frame, or inside its header. */
    ZSTD_STATE_HEADER,
    /* Inside a frame, behind its header. */
    ZSTD_STATE_FRAME,
    /* Inside the content of a skippable frame. */
    ZSTD_STATE_SKIP
};

struct zstd_decoder {
    struct grpcframe_decoder base;
    /* dctx is kept from body to body; NULL after it grew too large. */
    ZSTD_DCtx *dctx;
    /* dctx_bytes is what of it the pool has been told. */
    size_t dctx_bytes;
    /* state is where the body stands. */
    enum zstd_state state;
    /* any_frame is 1 once a frame has ended well. */
    int any_frame;
    /* header holds what came of a header. */
    uint8_t header[HEADER_MAX];
    size_t header_len;
    /* content_size is what the frame says it holds, or NO_CONTENT_SIZE. */
    uint64_t content_size;
    /* frame_length counts what came out of the frame. */
    uint64_t frame_length;
    /* left is what libzstd still asks for before it can go on with the
     * current piece, or what is left to skip. */
    uint64_t left;
    /* piece_offset and piece_length are the offset and the length that came
     * out at the begin of the current piece. */
    uint64_t piece_offset;
    uint64_t piece_length;
};

/* ---- Memory ---------------------------------------------------------- */

static void
zstd_drop(struct zstd_decoder *z)
{
    (void)ZSTD_freeDCtx(z->dctx);
    z->dctx = NULL;
    grpcframe_inflate_discharge(z->base.pool, z->dctx_bytes);
    z->dctx_bytes = 0;
}

/* Tells the pool what the context has grown or shrunk to.  Returns -1, and
 * drops the context, when that is too much. */
static int
zstd_account(struct zstd_decoder *z)
{
    size_t bytes = ZSTD_sizeof_DCtx(z->dctx);

    if (bytes < z->dctx_bytes)
        grpcframe_inflate_discharge(z->base.pool, z->dctx_bytes - bytes);
    else if (bytes > z->dctx_bytes &&
             grpcframe_inflate_charge(z->base.pool, bytes - z->dctx_bytes) !=
                 0) {
        zstd_drop(z);
        return -1;
    }
    z->dctx_bytes = bytes;
    return 0;
}

static int
zstd_open(struct zstd_decoder *z)
{
    z->dctx = ZSTD_createDCtx();
    if (z->dctx == NULL)
        return -1;
    /* Cannot fail: the value is in range and no frame has begun. */
    (void)ZSTD_DCtx_setParameter(z->dctx, ZSTD_d_windowLogMax,
                                 GRPCFRAME_WINDOW_LOG_MAX);
    return zstd_account(z);
}

static int
zstd_init(struct grpcframe_decoder *decoder)
{
    struct zstd_decoder *z = (struct zstd_decoder *)decoder;

    z->dctx = NULL;
    z->dctx_bytes = 0;
    return zstd_open(z);
}

static int
zstd_begin(struct grpcframe_decoder *decoder)
{
    struct zstd_decoder *z = (struct zstd_decoder *)decoder;

    z->state = ZSTD_STATE_HEADER;
    z->any_frame = 0;
    z->header_len = 0;
    if (z->dctx == NULL)
        return zstd_open(z);
    (void)ZSTD_DCtx_reset(z->dctx, ZSTD_reset_session_only);
    return 0;
}

static void
zstd_end(struct grpcframe_decoder *decoder)
{
    (void)decoder;
}

static void
zstd_destroy(struct grpcframe_decoder *decoder)
{
    zstd_drop((struct zstd_decoder *)decoder);
}

/* ---- Frame headers --------------------------------------------------- */

static uint64_t
read_le(const uint8_t *p, size_t n)
{
    uint64_t value = 0;

    while (n-- > 0)
        value = value << 8 | p[n];
    return value;
}

/* The two kinds of magic numbers differ from their first byte on. */
static int
magic_is_skippable(const uint8_t *p)
{
    return p[0] >= 0x50 && p[0] <= 0x5f;
}

/* Returns 1 when the first bytes in |header| can begin a frame. */
static int
magic_is_good(const uint8_t *header, size_t len)
{
    static const uint8_t frame[MAGIC_LEN] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t skippable[MAGIC_LEN] = {0x50, 0x2a, 0x4d, 0x18};

    if (len > MAGIC_LEN)
        len = MAGIC_LEN;
    if (magic_is_skippable(header))
        return memcmp(header + 1, skippable + 1, len - 1) == 0;
    return memcmp(header, frame, len) == 0;
}

/* The length of the field that holds the size of the content, by
 * descriptor. */
static size_t
size_field_len(uint8_t descriptor)
{
    unsigned flag = descriptor >> 6;

    if (flag == 0)
        return descriptor >> 5 & 1;
    return (size_t)1 << flag;
}

/* Returns how long the header is, as far as |len| bytes (not 0) of it tell. */
static size_t
header_need(const uint8_t *header, size_t len)
{
    static const uint8_t id_len[] = {0, 1, 2, 4};
    size_t need = MAGIC_LEN + DESCRIPTOR_LEN;
    uint8_t descriptor;

    if (magic_is_skippable(header))
        return SKIPPABLE_LEN;
    if (len < need)
        return need;
    descriptor = header[MAGIC_LEN];
    if ((descriptor >> 5 & 1) == 0)
        need++; /* Not a single segment: the window is stored. */
    return need + id_len[descriptor & 3] + size_field_len(descriptor);
}

static uint64_t
header_content_size(const uint8_t *header, size_t len)
{
    size_t n = size_field_len(header[MAGIC_LEN]);
    uint64_t size;

    if (n == 0)
        return NO_CONTENT_SIZE;
    size = read_le(header + len - n, n);
    return n == 2 ? size + 256 : size;
}

/* ---- Frames ---------------------------------------------------------- */

static enum grpcframe_result
zstd_result(size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_checksum_wrong:
        return GRPCFRAME_RESULT_CHECKSUM;
    case ZSTD_error_memory_allocation:
    case ZSTD_error_frameParameter_windowTooLarge:
        return GRPCFRAME_RESULT_MEMORY;
    default:
        return GRPCFRAME_RESULT_CORRUPT;
    }
}

/* A fault counts from the piece that holds it, and so does what came out:
 * how much of the piece libzstd lets out first depends on the buffers that
 * earlier frames left behind. */
static enum grpcframe_result
zstd_fault(struct zstd_decoder *z, enum grpcframe_result result)
{
    z->base.offset = z->piece_offset;
    z->base.length = z->piece_length;
    return result;
}

static void
zstd_begin_piece(struct zstd_decoder *z, uint64_t hint)
{
    z->left = hint;
    z->piece_offset = z->base.offset;
    z->piece_length = z->base.length;
}

static void
zstd_end_frame(struct zstd_decoder *z)
{
    z->any_frame = 1;
    z->state = ZSTD_STATE_HEADER;
}

/* Gives libzstd |len| bytes, no more than it asked for, and sets |*hint| to
 * what it asks for next: 0 at the end of a frame. */
static enum grpcframe_result
zstd_run(struct zstd_decoder *z, const uint8_t *data, size_t len, size_t *hint)
{
    uint8_t *scratch = grpcframe_inflate_scratch(&z->base);
    enum grpcframe_result result = GRPCFRAME_RESULT_OK;
    ZSTD_inBuffer in = {data, len, 0};
    ZSTD_outBuffer out = {scratch, GRPCFRAME_SCRATCH, 0};

    do {
        out.pos = 0;
        *hint = ZSTD_decompressStream(z->dctx, &out, &in);
        if (ZSTD_isError(*hint))
            return zstd_fault(z, zstd_result(*hint));
        z->frame_length += out.pos;
        if (z->frame_length > z->content_size)
            return zstd_fault(z, GRPCFRAME_RESULT_CORRUPT);
        /* At the ceiling the rest of the block is still looked at (128 KiB at
         * most): whether it is sound is not to depend on the ceiling. */
        if (result == GRPCFRAME_RESULT_OK)
            result = grpcframe_inflate_emit(&z->base, scratch, out.pos);
    } while (*hint != 0 && (in.pos < in.size || out.pos == out.size));
    z->base.offset += in.pos;
    return result;
}

/* Starts on the frame whose header is complete. */
static enum grpcframe_result
zstd_begin_frame(struct zstd_decoder *z)
{
    enum grpcframe_result result;
    size_t len = z->header_len;
    size_t hint = 0;

    z->header_len = 0;
    zstd_begin_piece(z, 0);
    if (magic_is_skippable(z->header)) {
        z->base.offset += len;
        z->left = read_le(z->header + MAGIC_LEN, 4);
        z->state = ZSTD_STATE_SKIP;
        if (z->left == 0)
            zstd_end_frame(z);
        return GRPCFRAME_RESULT_OK;
    }
    z->content_size = header_content_size(z->header, len);
    z->frame_length = 0;
    result = zstd_run(z, z->header, len, &hint);
    /* Here the window has been allocated. */
    if (zstd_account(z) != 0)
        result = GRPCFRAME_RESULT_MEMORY;
    zstd_begin_piece(z, hint);
    z->state = ZSTD_STATE_FRAME;
    return result;
}

static enum grpcframe_result
zstd_take_header(struct zstd_decoder *z, uint8_t byte)
{
    z->header[z->header_len++] = byte;
    if (!magic_is_good(z->header, z->header_len))
        return z->any_frame ? GRPCFRAME_RESULT_TRAILING
                            : GRPCFRAME_RESULT_CORRUPT;
    if (z->header_len < header_need(z->header, z->header_len))
        return GRPCFRAME_RESULT_OK;
    return zstd_begin_frame(z);
}

static enum grpcframe_result
zstd_take_frame(struct zstd_decoder *z, const uint8_t *data, size_t len,
                size_t *used)
{
    uint64_t before = z->base.offset;
    size_t hint = 0;
    enum grpcframe_result result = zstd_run(z, data, len, &hint);

    if (result != GRPCFRAME_RESULT_OK)
        return result;
    *used = (size_t)(z->base.offset - before);
    z->left -= *used;
    /* libzstd forgets to compare where the last block is empty. */
    if (hint == 0 && z->content_size != NO_CONTENT_SIZE &&
        z->frame_length != z->content_size)
        return zstd_fault(z, GRPCFRAME_RESULT_CORRUPT);
    if (hint == 0)
        zstd_end_frame(z);
    else if (z->left == 0)
        zstd_begin_piece(z, hint);
    return GRPCFRAME_RESULT_OK;
}

static enum grpcframe_result
zstd_step(struct grpcframe_decoder *decoder, const uint8_t *data, size_t len)
{
    struct zstd_decoder *z = (struct zstd_decoder *)decoder;
    enum grpcframe_result result = GRPCFRAME_RESULT_OK;

    while (len > 0 && result == GRPCFRAME_RESULT_OK) {
        size_t n = z->left < len ? (size_t)z->left : len;

        switch (z->state) {
        case ZSTD_STATE_HEADER:
            n = 1;
            result = zstd_take_header(z, data[0]);
            break;
        case ZSTD_STATE_FRAME:
            result = zstd_take_frame(z, data, n, &n);
            break;
        case ZSTD_STATE_SKIP:
            z->base.offset += n;
            z->left -= n;
            if (z->left == 0)
                zstd_end_frame(z);
            break;
        }
        data += n;
        len -= n;
    }
    return result;
}

static enum grpcframe_result
zstd_finish(struct grpcframe_decoder *decoder)
{
    const struct zstd_decoder *z = (const struct zstd_decoder *)decoder;

    if (z->state == ZSTD_STATE_HEADER && z->header_len == 0)
        return GRPCFRAME_RESULT_OK;
    return GRPCFRAME_RESULT_TRUNCATED;
}

const struct grpcframe_inflate_ops grpcframe_zstd_ops = {
    .family = GRPCFRAME_FAMILY_ZSTD,
    .size = sizeof(struct zstd_decoder),
    .init = zstd_init,
    .begin = zstd_begin,
    .step = zstd_step,
    .finish = zstd_finish,
    .end = zstd_end,
    .destroy = zstd_destroy,
};
