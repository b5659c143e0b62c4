/* SPDX-License-Identifier: MIT */
/*
 * big_source makes the bytes of a long message, compressed or not, from
 * nothing but their offset.  It knows neither gRPC nor sockets.
 */
#include "big_message.h"

#include <assert.h>
#include <string.h>

/* LEVEL is the fastest that still looks for matches. */
#define LEVEL 1
/* GZIP is added to the window bits for a gzip header and trailer. */
#define GZIP 16
#define MEM_LEVEL 8

/* mix is the output function of splitmix64. */
static uint64_t
mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t
word_at(uint64_t index)
{
    return mix((index + 1) * 0x9e3779b97f4a7c15u);
}

static void
chunk_fill_random(uint8_t *chunk, uint64_t offset)
{
    for (size_t i = 0; i < BIG_CHUNK; i += 8) {
        uint64_t word = word_at((offset + i) / 8);

        memcpy(chunk + i, &word, sizeof word);
    }
}

/* A digit for each 4 bits of a word. */
static void
chunk_fill_hex(uint8_t *chunk, uint64_t offset)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t word = 0;

    for (size_t i = 0; i < BIG_CHUNK; i++) {
        if (i % 16 == 0)
            word = word_at((offset + i) / 16);
        chunk[i] = (uint8_t)digits[word & 15];
        word >>= 4;
    }
}

/* Makes the next chunk; an empty one at the end. */
static void
chunk_make(struct big_source *source)
{
    uint64_t left = source->size - source->made;

    source->chunk_at = 0;
    source->chunk_len = left < BIG_CHUNK ? (size_t)left : BIG_CHUNK;
    if (source->text == BIG_RANDOM)
        chunk_fill_random(source->chunk, source->made);
    else if (source->text == BIG_HEX)
        chunk_fill_hex(source->chunk, source->made);
    source->made += source->chunk_len;
}

int
big_source_init(struct big_source *source, enum big_text text, uint64_t size,
                bool is_gzip)
{
    memset(source, 0, sizeof *source);
    source->text = text;
    source->size = size;
    source->is_gzip = is_gzip;
    if (is_gzip && deflateInit2(&source->z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP,
                                MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return -1;
    return 0;
}

static size_t
plain_read(struct big_source *source, uint8_t *to, size_t room)
{
    size_t n;

    if (source->chunk_at == source->chunk_len)
        chunk_make(source);
    n = source->chunk_len - source->chunk_at;
    if (n > room)
        n = room;
    memcpy(to, source->chunk + source->chunk_at, n);
    source->chunk_at += n;
    return n;
}

/* The input comes in the same pieces whatever `room` is: the output then is
 * the same in every pass. */
static size_t
gzip_read(struct big_source *source, uint8_t *to, size_t room)
{
    z_stream *z = &source->z;

    z->next_out = to;
    z->avail_out = (uInt)room;
    while (z->avail_out == room && !source->is_ended) {
        if (z->avail_in == 0 && source->made < source->size) {
            chunk_make(source);
            z->next_in = source->chunk;
            z->avail_in = (uInt)source->chunk_len;
        }
        int flush = source->made == source->size ? Z_FINISH : Z_NO_FLUSH;
        int result = deflate(z, flush);
        assert(result == Z_OK || result == Z_STREAM_END);
        source->is_ended = result == Z_STREAM_END;
    }
    return room - z->avail_out;
}

size_t
big_source_read(struct big_source *source, uint8_t *to, size_t room)
{
    return source->is_gzip ? gzip_read(source, to, room)
                           : plain_read(source, to, room);
}

uint64_t
big_source_rest(struct big_source *source)
{
    static uint8_t sink[BIG_CHUNK];
    uint64_t total = 0;
    size_t n;

    if (!source->is_gzip)
        return source->size - source->made + source->chunk_len -
               source->chunk_at;
    do {
        n = big_source_read(source, sink, sizeof sink);
        total += n;
    } while (n > 0);
    return total;
}

void
big_source_clear(struct big_source *source)
{
    if (source->is_gzip)
        (void)deflateEnd(&source->z);
}

void
big_digest_final(EVP_MD_CTX *hash, char text[BIG_DIGEST])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    EVP_DigestFinal_ex(hash, bytes, &n);
    assert(n == (BIG_DIGEST - 1) / 2);
    for (unsigned i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[BIG_DIGEST - 1] = '\0';
}
