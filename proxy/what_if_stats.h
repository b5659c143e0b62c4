/* SPDX-License-Identifier: MIT */
/*
 * What trying the codecs of a list has shown for the messages of one method
 * and direction, and the figures that follow from it.
 */
#ifndef WHAT_IF_STATS_H
#define WHAT_IF_STATS_H

#include <stddef.h>
#include <stdint.h>

/* WHAT_IF_CLASSES is how many classes of message sizes are told apart: 8 bytes
 * wide below 256, 32 below 1,024, 256 below 4,096, then doubling up to 4 MiB.
 * Where codecs begin to gain lies in the first hundreds of bytes. */
#define WHAT_IF_CLASSES (32 + 24 + 12 + 10)

/* struct what_if_outcome is what one codec made of one message. */
struct what_if_outcome {
    /* compressed is its length then. */
    size_t compressed;
    /* CPU time of this thread. */
    uint64_t compress_ns;
    uint64_t decompress_ns;
};

/* struct what_if_result is what one codec made of all messages. */
struct what_if_result {
    /* compressed_bytes is the sum of their lengths then. */
    uint64_t compressed_bytes;
    /* grew counts those that became longer. */
    uint64_t grew;
    /* CPU time, summed up. */
    uint64_t compress_ns;
    uint64_t decompress_ns;
    /* saved is by how much the messages of each class became shorter. */
    int64_t saved[WHAT_IF_CLASSES];
};

/* struct what_if_stats is what the messages of one entry came to. */
struct what_if_stats {
    /* messages and bytes were tried, before compression. */
    uint64_t messages;
    uint64_t bytes;
    /* smallest and largest are the shortest and the longest message of each
     * class; 0: it has none. */
    uint64_t smallest[WHAT_IF_CLASSES];
    uint64_t largest[WHAT_IF_CLASSES];
    /* results has an entry a codec, n of them. */
    unsigned n;
    struct what_if_result results[];
};

/* struct what_if_figures is what to say of one codec. */
struct what_if_figures {
    /* known is 0 when nothing was tried: the rest means nothing then. */
    int known;
    uint64_t compressed_bytes;
    uint64_t grew;
    /* ratio is compressed bytes by bytes. */
    double ratio;
    /* saved_bytes_per_message is below 0 when messages became longer. */
    double saved_bytes_per_message;
    /* CPU time; a KiB is one before compression. */
    double compress_us_per_message;
    double compress_us_per_kib;
    double decompress_us_per_message;
    double decompress_us_per_kib;
    /* break_even_bps is the speed of link in bit/s below which compression
     * makes the transfer shorter; 0: it never does. */
    uint64_t break_even_bps;
    /* A class of sizes gains when its messages together get shorter.
     * smallest_gaining_bytes is the shortest message from whose class on all
     * gain, 0: that of the longest does not; largest_growing_bytes the longest
     * one of the next class below that, which does not gain, 0: there is
     * none. */
    uint64_t smallest_gaining_bytes;
    uint64_t largest_growing_bytes;
    /* is_split is 1 when these two divide the sizes: there are both, and no
     * class below the one of largest_growing_bytes gains either. */
    int is_split;
};

/* what_if_stats_new makes empty statistics for |n| codecs; NULL: memory.
 * free() frees it. */
struct what_if_stats *what_if_stats_new(unsigned n);

/* what_if_stats_add adds a message of |len| > 0 bytes with its stats->n
 * outcomes. */
void what_if_stats_add(struct what_if_stats *stats, size_t len,
                       const struct what_if_outcome *outcomes);

/* what_if_stats_figures returns the figures of codec |i|; |stats| may be
 * NULL. */
struct what_if_figures
what_if_stats_figures(const struct what_if_stats *stats, unsigned i);

#endif
