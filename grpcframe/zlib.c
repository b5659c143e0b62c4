/* SPDX-License-Identifier: MIT */
/*
 * Owns the family of zlib: `gzip` (RFC 1952, any number of members) and
 * `deflate` (RFC 1950, or RFC 1951 without a wrapper).  Headers, trailers and
 * checksums are zlib's work; what is told apart by first bytes is done here.
 */
#define ZLIB_CONST
#include "inflate.h"

#include <string.h>
#include <zlib.h>

/* LEAD_LEN is how many first bytes tell what follows: the magic number of a
 * member of gzip, or CMF and FLG of RFC 1950. */
#define LEAD_LEN 2

/* enum zlib_state is where in the body a decoder stands. */
enum zlib_state {
    /* Before a member, or inside its first two bytes. */
    ZLIB_LEAD,
    /* Inside a member; zlib knows more. */
    ZLIB_MEMBER,
    /* Behind the one stream of `deflate`. */
    ZLIB_END
};

struct zlib_decoder {
    struct grpcframe_decoder base;
    /* stream is kept from body to body. */
    z_stream stream;
    /* state is where the body stands. */
    enum zlib_state state;
    /* any_member is 1 once a member has ended well. */
    int any_member;
    /* lead holds first bytes that a step boundary separated. */
    uint8_t lead[LEAD_LEN];
    size_t lead_len;
};

static const uint8_t gzip_magic[LEAD_LEN] = {0x1f, 0x8b};

static void *
zlib_alloc(void *pool, uInt items, uInt size)
{
    return grpcframe_inflate_alloc(pool, (size_t)items * size);
}

static void
zlib_free(void *pool, void *block)
{
    grpcframe_inflate_free(pool, block);
}

static int
zlib_init(struct grpcframe_decoder *decoder)
{
    struct zlib_decoder *z = (struct zlib_decoder *)decoder;

    memset(&z->stream, 0, sizeof(z->stream));
    z->stream.zalloc = zlib_alloc;
    z->stream.zfree = zlib_free;
    z->stream.opaque = decoder->pool;
    return inflateInit2(&z->stream, 15) == Z_OK ? 0 : -1;
}

static int
zlib_begin(struct grpcframe_decoder *decoder)
{
    struct zlib_decoder *z = (struct zlib_decoder *)decoder;

    z->state = ZLIB_LEAD;
    z->any_member = 0;
    z->lead_len = 0;
    return 0;
}

/* RFC 1950, section 2.2: method 8, a window of at most 32 KiB, and a header
 * that is a multiple of 31.  A raw stream begins like that only if its first
 * block is stored, not the last, and padded with a 1 bit. */
static int
lead_is_zlib(const uint8_t *lead)
{
    return (lead[0] & 0x0f) == 8 && lead[0] >> 4 <= 7 &&
           (lead[0] << 8 | lead[1]) % 31 == 0;
}

/* Sets zlib up for the wrapper that the first bytes announce. */
static void
zlib_begin_member(struct zlib_decoder *z, const uint8_t *lead)
{
    int window_bits = 15;

    if (z->base.codec == GRPCFRAME_CODEC_GZIP) {
        window_bits += 16;
    } else if (!lead_is_zlib(lead)) {
        z->base.form = GRPCFRAME_FORM_RAW_DEFLATE;
        window_bits = -15;
    }
    /* Cannot fail: the stream is sound and the window is in range. */
    (void)inflateReset2(&z->stream, window_bits);
    z->state = ZLIB_MEMBER;
    z->lead_len = 0;
}

static void
zlib_end_member(struct zlib_decoder *z)
{
    z->any_member = 1;
    z->state = z->base.codec == GRPCFRAME_CODEC_GZIP ? ZLIB_LEAD : ZLIB_END;
}

/* zlib tells kinds of faults apart only by its texts.  The offset is that of
 * the field that does not match. */
static enum grpcframe_result
zlib_fault(struct zlib_decoder *z)
{
    const char *text = z->stream.msg;

    if (text == NULL)
        return GRPCFRAME_RESULT_CORRUPT;
    if (strcmp(text, "incorrect data check") == 0 ||
        strcmp(text, "incorrect length check") == 0) {
        z->base.offset -= 4;
        return GRPCFRAME_RESULT_CHECKSUM;
    }
    if (strcmp(text, "header crc mismatch") == 0) {
        z->base.offset -= 2;
        return GRPCFRAME_RESULT_CHECKSUM;
    }
    return GRPCFRAME_RESULT_CORRUPT;
}

/*
 * Inflates up to the end of |data| or of the member, and sets |*used|.
 * Z_FINISH spares zlib the window when a message ends in its first call, as
 * short ones do; otherwise it is Z_NO_FLUSH under another return value.
 */
static enum grpcframe_result
zlib_run(struct zlib_decoder *z, const uint8_t *data, size_t len, size_t *used)
{
    uint8_t *scratch = grpcframe_inflate_scratch(&z->base);
    enum grpcframe_result result;
    int code;

    z->stream.next_in = data;
    z->stream.avail_in = (uInt)len;
    do {
        z->stream.next_out = scratch;
        z->stream.avail_out = GRPCFRAME_SCRATCH;
        code = inflate(&z->stream, Z_FINISH);
        result = grpcframe_inflate_emit(
            &z->base, scratch, GRPCFRAME_SCRATCH - z->stream.avail_out);
    } while ((code == Z_OK || code == Z_BUF_ERROR) &&
             result == GRPCFRAME_RESULT_OK &&
             (z->stream.avail_in > 0 || z->stream.avail_out == 0));
    *used = len - z->stream.avail_in;
    z->base.offset += *used;
    if (result != GRPCFRAME_RESULT_OK)
        return result;
    switch (code) {
    case Z_OK:
    case Z_BUF_ERROR: /* The member goes on. */
        return GRPCFRAME_RESULT_OK;
    case Z_STREAM_END:
        zlib_end_member(z);
        return GRPCFRAME_RESULT_OK;
    case Z_MEM_ERROR:
        return GRPCFRAME_RESULT_MEMORY;
    case Z_DATA_ERROR:
        return zlib_fault(z);
    default: /* Z_NEED_DICT: no dictionary is agreed on in gRPC or HTTP. */
        return GRPCFRAME_RESULT_CORRUPT;
    }
}

static int
lead_is_wrong(const struct zlib_decoder *z, const uint8_t *data, size_t len)
{
    return z->base.codec == GRPCFRAME_CODEC_GZIP &&
           memcmp(data, gzip_magic + z->lead_len, len) != 0;
}

/* Takes the first bytes of a member, which mostly come together. */
static enum grpcframe_result
zlib_lead(struct zlib_decoder *z, const uint8_t *data, size_t len, size_t *used)
{
    int together = z->lead_len == 0 && len >= LEAD_LEN;
    uint8_t lead[LEAD_LEN];
    size_t n;

    *used = 0;
    if (lead_is_wrong(z, data, together ? LEAD_LEN : 1))
        return z->any_member ? GRPCFRAME_RESULT_TRAILING
                             : GRPCFRAME_RESULT_CORRUPT;
    if (together) {
        zlib_begin_member(z, data);
        return GRPCFRAME_RESULT_OK;
    }
    *used = 1;
    z->lead[z->lead_len++] = data[0];
    if (z->lead_len < LEAD_LEN)
        return GRPCFRAME_RESULT_OK;
    memcpy(lead, z->lead, LEAD_LEN);
    zlib_begin_member(z, lead);
    return zlib_run(z, lead, LEAD_LEN, &n);
}

static enum grpcframe_result
zlib_step(struct grpcframe_decoder *decoder, const uint8_t *data, size_t len)
{
    struct zlib_decoder *z = (struct zlib_decoder *)decoder;
    enum grpcframe_result result = GRPCFRAME_RESULT_OK;

    while (len > 0 && result == GRPCFRAME_RESULT_OK) {
        size_t used = 0;

        switch (z->state) {
        case ZLIB_LEAD:
            result = zlib_lead(z, data, len, &used);
            break;
        case ZLIB_MEMBER:
            result = zlib_run(z, data, len, &used);
            break;
        case ZLIB_END:
            result = GRPCFRAME_RESULT_TRAILING;
            break;
        }
        data += used;
        len -= used;
    }
    return result;
}

static enum grpcframe_result
zlib_finish(struct grpcframe_decoder *decoder)
{
    const struct zlib_decoder *z = (const struct zlib_decoder *)decoder;

    if (z->state == ZLIB_END ||
        (z->any_member && z->state == ZLIB_LEAD && z->lead_len == 0))
        return GRPCFRAME_RESULT_OK;
    return GRPCFRAME_RESULT_TRUNCATED;
}

static void
zlib_end(struct grpcframe_decoder *decoder)
{
    (void)decoder;
}

static void
zlib_destroy(struct grpcframe_decoder *decoder)
{
    struct zlib_decoder *z = (struct zlib_decoder *)decoder;

    (void)inflateEnd(&z->stream);
}

const struct grpcframe_inflate_ops grpcframe_zlib_ops = {
    .family = GRPCFRAME_FAMILY_ZLIB,
    .size = sizeof(struct zlib_decoder),
    .init = zlib_init,
    .begin = zlib_begin,
    .step = zlib_step,
    .finish = zlib_finish,
    .end = zlib_end,
    .destroy = zlib_destroy,
};
