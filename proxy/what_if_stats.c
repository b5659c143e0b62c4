/* SPDX-License-Identifier: MIT */
/* Owns the sums of what codecs made of messages, and the figures derived from
 * them.  How they are measured is what_if_bench.c's, how they are written
 * event_what_if.c's. */
#include "what_if_stats.h"

#include <stdlib.h>

#define KIB 1024.0
#define NS_PER_US 1000.0
#define NS_PER_S 1e9
#define BITS 8.0

struct what_if_stats *
what_if_stats_new(unsigned n)
{
    struct what_if_stats *stats =
        calloc(1, sizeof(*stats) + n * sizeof(stats->results[0]));

    if (stats != NULL)
        stats->n = n;
    return stats;
}

static unsigned
class_of(size_t len)
{
    if (len < 256)
        return (unsigned)len / 8;
    if (len < 1024)
        return 32 + ((unsigned)len - 256) / 32;
    if (len < 4096)
        return 56 + ((unsigned)len - 1024) / 256;
    for (unsigned class = 68; class < WHAT_IF_CLASSES - 1; class++)
        if (len >> (class - 68) < 8192)
            return class;
    return WHAT_IF_CLASSES - 1;
}

void
what_if_stats_add(struct what_if_stats *stats, size_t len,
                  const struct what_if_outcome *outcomes)
{
    unsigned class = class_of(len);

    stats->messages++;
    stats->bytes += len;
    if (stats->smallest[class] == 0 || len < stats->smallest[class])
        stats->smallest[class] = len;
    if (len > stats->largest[class])
        stats->largest[class] = len;
    for (unsigned i = 0; i < stats->n; i++) {
        struct what_if_result *result = &stats->results[i];

        result->compressed_bytes += outcomes[i].compressed;
        result->grew += outcomes[i].compressed > len;
        result->compress_ns += outcomes[i].compress_ns;
        result->decompress_ns += outcomes[i].decompress_ns;
        result->saved[class] += (int64_t)len - (int64_t)outcomes[i].compressed;
    }
}

static int
gains_below(const struct what_if_stats *stats, unsigned i, unsigned class)
{
    while (class-- > 0)
        if (stats->results[i].saved[class] > 0)
            return 1;
    return 0;
}

/* From the long messages down, as far as each class gains on balance: a single
 * message that happens to fit the codec does not make a size that gains. */
static void
find_gaining(const struct what_if_stats *stats, unsigned i,
             struct what_if_figures *figures)
{
    for (unsigned class = WHAT_IF_CLASSES; class-- > 0;) {
        if (stats->smallest[class] == 0)
            continue;
        if (stats->results[i].saved[class] <= 0) {
            figures->largest_growing_bytes = stats->largest[class];
            figures->is_split = figures->smallest_gaining_bytes > 0 &&
                                !gains_below(stats, i, class);
            return;
        }
        figures->smallest_gaining_bytes = stats->smallest[class];
    }
}

static uint64_t
break_even(double saved_bytes, uint64_t ns)
{
    /* A clock that saw no time pass has not shown that none did. */
    double seconds = (double)(ns > 0 ? ns : 1) / NS_PER_S;

    return saved_bytes > 0 ? (uint64_t)(saved_bytes * BITS / seconds) : 0;
}

struct what_if_figures
what_if_stats_figures(const struct what_if_stats *stats, unsigned i)
{
    struct what_if_figures figures = {.known = 0};

    if (stats == NULL || stats->messages == 0)
        return figures;
    const struct what_if_result *result = &stats->results[i];
    double messages = (double)stats->messages;
    double bytes = (double)stats->bytes;
    double saved = bytes - (double)result->compressed_bytes;
    double compress_us = (double)result->compress_ns / NS_PER_US;
    double decompress_us = (double)result->decompress_ns / NS_PER_US;

    figures.known = 1;
    figures.compressed_bytes = result->compressed_bytes;
    figures.grew = result->grew;
    figures.ratio = (double)result->compressed_bytes / bytes;
    figures.saved_bytes_per_message = saved / messages;
    figures.compress_us_per_message = compress_us / messages;
    figures.compress_us_per_kib = compress_us / (bytes / KIB);
    figures.decompress_us_per_message = decompress_us / messages;
    figures.decompress_us_per_kib = decompress_us / (bytes / KIB);
    figures.break_even_bps =
        break_even(saved, result->compress_ns + result->decompress_ns);
    find_gaining(stats, i, &figures);
    return figures;
}
