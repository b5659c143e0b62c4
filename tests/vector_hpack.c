/* SPDX-License-Identifier: MIT */
/*
 * Owns the bytes of header fields in vectors.  It does not decode, and has
 * no state.
 */
#include "vector_hpack.h"

/*
 * The Huffman code of RFC 7541, appendix B, is canonical: the lengths, in
 * bits, of the codes for 0..255 and end-of-string determine it.
 */
static const uint8_t huffman_bits[257] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28,
    28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6,  10, 10, 12, 13, 6,
    8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,
    6,  7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
    7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14,
    6,  15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,
    6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22,
    22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23,
    23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22,
    24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22,
    22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21,
    22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27,
    27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
};

/* huffman_code returns the code of |symbol|: canonical codes count up within
 * a length and double from one length to the next. */
static uint32_t
huffman_code(unsigned symbol)
{
    uint32_t code = 0;
    unsigned bits;

    for (bits = 1; bits < huffman_bits[symbol]; bits++) {
        for (unsigned i = 0; i < 257; i++) {
            code += huffman_bits[i] == bits;
        }
        code <<= 1;
    }
    for (unsigned i = 0; i < symbol; i++) {
        code += huffman_bits[i] == bits;
    }
    return code;
}

static void
huffman_encode(struct vector_buf *out, const uint8_t *text, size_t len)
{
    uint64_t acc = 0;
    unsigned n_bits = 0;

    for (size_t i = 0; i < len; i++) {
        acc = acc << huffman_bits[text[i]] | huffman_code(text[i]);
        n_bits += huffman_bits[text[i]];
        while (n_bits >= 8) {
            n_bits -= 8;
            vector_buf_be(out, acc >> n_bits, 1);
        }
    }
    if (n_bits > 0) {
        /* The rest is filled with the first bits of end-of-string: ones. */
        acc = acc << (8 - n_bits) | (0xffu >> n_bits);
        vector_buf_be(out, acc, 1);
    }
}

static void
hpack_integer(struct vector_buf *out, unsigned first, unsigned prefix_bits,
              uint64_t value)
{
    unsigned max = (1u << prefix_bits) - 1;

    if (value < max) {
        vector_buf_be(out, first | value, 1);
        return;
    }
    vector_buf_be(out, first | max, 1);
    value -= max;
    while (value >= 128) {
        vector_buf_be(out, value % 128 + 128, 1);
        value /= 128;
    }
    vector_buf_be(out, value, 1);
}

void
vector_hpack_string(struct vector_buf *out, const void *text, size_t len,
                    int huffman)
{
    struct vector_buf coded = {0};

    if (!huffman) {
        hpack_integer(out, 0, 7, len);
        vector_buf_add(out, text, len);
        return;
    }
    huffman_encode(&coded, text, len);
    hpack_integer(out, 0x80, 7, coded.len);
    vector_buf_add(out, coded.data, coded.len);
    vector_buf_clear(&coded);
}

void
vector_hpack_field(struct vector_buf *out, enum vector_hpack_form form,
                   int huffman, const char *name, size_t name_len,
                   const char *value, size_t value_len)
{
    vector_buf_be(out, form, 1);
    vector_hpack_string(out, name, name_len, huffman);
    vector_hpack_string(out, value, value_len, huffman);
}

void
vector_hpack_name(struct vector_buf *out, enum vector_hpack_form form,
                  int huffman, uint32_t index, const char *value,
                  size_t value_len)
{
    hpack_integer(out, form, form == VECTOR_HPACK_INCREMENTAL ? 6 : 4, index);
    vector_hpack_string(out, value, value_len, huffman);
}

void
vector_hpack_indexed(struct vector_buf *out, uint32_t index)
{
    hpack_integer(out, 0x80, 7, index);
}

void
vector_hpack_size(struct vector_buf *out, uint32_t size)
{
    hpack_integer(out, 0x20, 5, size);
}
