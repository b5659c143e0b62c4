/* SPDX-License-Identifier: MIT */
/* Owns the measuring of one codec on one message.  Which messages, when and
 * how many is what_if.c's; the codecs themselves are grpcframe's. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "what_if_bench.h"

#include <stdlib.h>
#include <time.h>

/* CLOCK_TRIES is how often the clock is read to learn what reading it costs. */
#define CLOCK_TRIES 64

/* struct what_if_bench is the tools. */
struct what_if_bench {
    /* encoders stand in the order of the list, n of them. */
    struct grpcframe_encoder *encoders[WHAT_IF_CODECS_MAX];
    unsigned n;
    /* codecs are what the encoders write. */
    enum grpcframe_codec codecs[WHAT_IF_CODECS_MAX];
    /* pool has the decoders. */
    struct grpcframe_pool *pool;
    /* out takes what is compressed, out_cap bytes. */
    uint8_t *out;
    size_t out_cap;
    /* clock_ns is what a reading of the clock adds to what it measures. */
    uint64_t clock_ns;
};

uint64_t
what_if_bench_cpu(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A system call, which takes longer than snappy for a short message. */
static uint64_t
clock_cost(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t before = what_if_bench_cpu();
        uint64_t cost = what_if_bench_cpu() - before;

        least = cost < least ? cost : least;
    }
    return least;
}

static int
bench_make(struct what_if_bench *bench, const struct what_if_list *list)
{
    if (grpcframe_pool_new(&bench->pool, GRPCFRAME_POOL_DEFAULT_BYTES) != 0)
        return -1;
    for (unsigned i = 0; i < list->n; i++) {
        const struct what_if_choice *choice = &list->choices[i];

        if (grpcframe_encoder_new(&bench->encoders[i], choice->codec,
                                  choice->level) != 0)
            return -1;
        bench->codecs[i] = choice->codec;
        bench->n++;
    }
    return 0;
}

struct what_if_bench *
what_if_bench_new(const struct what_if_list *list)
{
    struct what_if_bench *bench = calloc(1, sizeof(*bench));

    if (bench == NULL)
        return NULL;
    if (bench_make(bench, list) != 0) {
        what_if_bench_free(bench);
        return NULL;
    }
    bench->clock_ns = clock_cost();
    return bench;
}

void
what_if_bench_free(struct what_if_bench *bench)
{
    if (bench == NULL)
        return;
    for (unsigned i = 0; i < bench->n; i++)
        grpcframe_encoder_free(bench->encoders[i]);
    grpcframe_pool_free(bench->pool);
    free(bench->out);
    free(bench);
}

static int
bench_make_room(struct what_if_bench *bench, size_t len)
{
    uint8_t *out;

    if (len <= bench->out_cap)
        return 0;
    out = malloc(len);
    if (out == NULL)
        return -1;
    free(bench->out);
    bench->out = out;
    bench->out_cap = len;
    return 0;
}

static uint64_t
bench_time(const struct what_if_bench *bench, uint64_t before_ns)
{
    uint64_t passed_ns = what_if_bench_cpu() - before_ns;

    return passed_ns > bench->clock_ns ? passed_ns - bench->clock_ns : 0;
}

/* That somebody looks makes a decoder put out bytes and not only count. */
static int
look(const uint8_t *data, size_t len, void *user)
{
    (void)data;
    (void)len;
    (void)user;
    return 0;
}

static enum what_if_skip
bench_decompress(struct what_if_bench *bench, unsigned i, size_t packed,
                 size_t len)
{
    struct grpcframe_decoder *decoder =
        grpcframe_decoder_get(bench->pool, bench->codecs[i], 0, look, NULL);
    enum grpcframe_result result;
    uint64_t length;

    if (decoder == NULL)
        return WHAT_IF_MEMORY;
    grpcframe_decoder_feed(decoder, bench->out, packed);
    result = grpcframe_decoder_finish(decoder);
    length = grpcframe_decoder_length(decoder);
    grpcframe_decoder_put(decoder);
    if (result == GRPCFRAME_RESULT_MEMORY)
        return WHAT_IF_MEMORY;
    return result == GRPCFRAME_RESULT_OK && length == len ? WHAT_IF_TAKEN
                                                          : WHAT_IF_FAILED;
}

enum what_if_skip
what_if_bench_run(struct what_if_bench *bench, unsigned i, const uint8_t *data,
                  size_t len, struct what_if_outcome *outcome)
{
    struct grpcframe_encoder *encoder = bench->encoders[i];
    enum what_if_skip skip;
    uint64_t before_ns;

    if (bench_make_room(bench, grpcframe_encoder_bound(encoder, len)) != 0)
        return WHAT_IF_MEMORY;
    before_ns = what_if_bench_cpu();
    if (grpcframe_encoder_run(encoder, data, len, bench->out,
                              &outcome->compressed) != 0)
        return WHAT_IF_MEMORY;
    outcome->compress_ns = bench_time(bench, before_ns);
    before_ns = what_if_bench_cpu();
    skip = bench_decompress(bench, i, outcome->compressed, len);
    outcome->decompress_ns = bench_time(bench, before_ns);
    return skip;
}
