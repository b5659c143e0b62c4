/* SPDX-License-Identifier: MIT */
/*
 * A histogram of 64-bit values with a relative error of at most 1 %: each
 * octave (power of two) is cut into HISTOGRAM_STEPS equal buckets, and an
 * octave takes memory when its first value comes.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

/* HISTOGRAM_STEPS buckets an octave: half a bucket is 1/128 of the value. */
#define HISTOGRAM_STEPS 64

/* HISTOGRAM_OCTAVES covers all of 64 bits: values below HISTOGRAM_STEPS have
 * one to themselves. */
#define HISTOGRAM_OCTAVES 59

/* struct histogram is all zero when empty. */
struct histogram {
    /* octaves are arrays of HISTOGRAM_STEPS counts, NULL while empty. */
    uint64_t *octaves[HISTOGRAM_OCTAVES];
    /* total is how many values are counted. */
    uint64_t total;
};

/* histogram_add counts |value| |times| times.  Returns 0, or -1 for want of
 * memory: then nothing is counted. */
int histogram_add(struct histogram *histogram, uint64_t value, uint64_t times);

/* histogram_merge adds |from| to |into|; what there is no memory for is left
 * out. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* histogram_quantile returns the smallest value that |permille| of all values
 * do not exceed (500: the median), 0 when it is empty. */
uint64_t histogram_quantile(const struct histogram *histogram,
                            unsigned permille);

/* histogram_clear frees what it holds and leaves it empty. */
void histogram_clear(struct histogram *histogram);

#endif
