/* SPDX-License-Identifier: MIT */
/*
 * Owns the base64 of gRPC-Web-text bodies, undone as it passes.  Knows nothing
 * of what the bytes are; base64 in header values is value.c's.
 */
#include "grpcframe.h"

/* GROUP is how many characters stand for up to three bytes. */
#define GROUP 4

/* OUT_MAX is how many bytes are gathered for the output callback: 1 KiB of
 * characters make a call of it worth while and fit any stack. */
#define OUT_MAX 768

/* values holds the value of each character of the alphabet, plus 1. */
static const uint8_t values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,
    ['G'] = 7,  ['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12,
    ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18,
    ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30,
    ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36,
    ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
    ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54,
    ['2'] = 55, ['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60,
    ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

/* Writes what a complete group stands for and returns how many bytes. */
static size_t
group_end(struct grpcframe_base64 *decoder, uint8_t *out)
{
    uint32_t bits = decoder->bits << 6 * decoder->pads;
    size_t n = 3u - decoder->pads;

    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(bits >> (16 - 8 * i));
    decoder->taken += GROUP;
    decoder->decoded += n;
    decoder->pending = 0;
    decoder->pads = 0;
    decoder->bits = 0;
    return n;
}

/* Takes a character into the current group; 0 when it cannot stand there. */
static int
group_take(struct grpcframe_base64 *decoder, uint8_t character)
{
    uint8_t value = values[character];

    if (character == '=') {
        if (decoder->pending < 2)
            return 0;
        decoder->pads++;
    } else {
        if (value == 0 || decoder->pads > 0)
            return 0;
        decoder->bits = decoder->bits << 6 | (uint32_t)(value - 1);
    }
    decoder->pending++;
    return 1;
}

static int
emit(const uint8_t *out, size_t len, grpcframe_output_cb output, void *user)
{
    if (len == 0 || output == NULL || output(out, len, user) == 0)
        return GRPCFRAME_OK;
    return GRPCFRAME_ERR_CALLBACK;
}

int
grpcframe_base64_feed(struct grpcframe_base64 *decoder, const uint8_t *data,
                      size_t len, grpcframe_output_cb output, void *user)
{
    uint8_t out[OUT_MAX];
    size_t n = 0;
    int result;

    for (size_t i = 0; i < len && !decoder->is_faulty; i++) {
        decoder->is_faulty = !group_take(decoder, data[i]);
        if (decoder->pending < GROUP)
            continue;
        n += group_end(decoder, out + n);
        if (n > OUT_MAX - 3) {
            result = emit(out, n, output, user);
            if (result != GRPCFRAME_OK)
                return result;
            n = 0;
        }
    }
    result = emit(out, n, output, user);
    if (result != GRPCFRAME_OK)
        return result;
    return decoder->is_faulty ? GRPCFRAME_ERR_INVALID : GRPCFRAME_OK;
}

int
grpcframe_base64_finish(struct grpcframe_base64 *decoder)
{
    if (decoder->pending > 0)
        decoder->is_faulty = 1;
    return decoder->is_faulty ? GRPCFRAME_ERR_INVALID : GRPCFRAME_OK;
}
