/* SPDX-License-Identifier: MIT */
/* Owns the counting of values in log-linear buckets.  What the values are is
 * the caller's. */
#include "histogram.h"

#include <stdlib.h>
#include <string.h>

/* STEP_BITS is log2(HISTOGRAM_STEPS). */
#define STEP_BITS 6

/* octave_of returns where |value| is counted: 0 for values below
 * HISTOGRAM_STEPS, and one more for each further bit. */
static unsigned
octave_of(uint64_t value)
{
    unsigned octave = 0;

    for (value >>= STEP_BITS; value != 0; value >>= 1)
        octave++;
    return octave;
}

/* step_shift returns log2 of the width of the buckets of |octave|. */
static unsigned
step_shift(unsigned octave)
{
    return octave > 1 ? octave - 1 : 0;
}

static unsigned
step_of(unsigned octave, uint64_t value)
{
    return (unsigned)(value >> step_shift(octave)) % HISTOGRAM_STEPS;
}

/* middle_of returns the value in the middle of a bucket. */
static uint64_t
middle_of(unsigned octave, unsigned step)
{
    unsigned shift = step_shift(octave);
    uint64_t base = octave > 0 ? HISTOGRAM_STEPS : 0;

    return ((base + step) << shift) + ((UINT64_C(1) << shift) - 1) / 2;
}

int
histogram_add(struct histogram *histogram, uint64_t value, uint64_t times)
{
    unsigned octave = octave_of(value);
    uint64_t **counts = &histogram->octaves[octave];

    if (*counts == NULL)
        *counts = calloc(HISTOGRAM_STEPS, sizeof(**counts));
    if (*counts == NULL)
        return -1;
    (*counts)[step_of(octave, value)] += times;
    histogram->total += times;
    return 0;
}

void
histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
        const uint64_t *counts = from->octaves[octave];
        if (counts == NULL)
            continue;
        for (unsigned step = 0; step < HISTOGRAM_STEPS; step++)
            if (counts[step] > 0)
                histogram_add(into, middle_of(octave, step), counts[step]);
    }
}

/* rank_of returns ceil(total * permille / 1000) without overflow. */
static uint64_t
rank_of(uint64_t total, unsigned permille)
{
    return total / 1000 * permille + (total % 1000 * permille + 999) / 1000;
}

uint64_t
histogram_quantile(const struct histogram *histogram, unsigned permille)
{
    uint64_t rank = rank_of(histogram->total, permille);

    if (rank == 0)
        return 0;
    for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
        const uint64_t *counts = histogram->octaves[octave];
        for (unsigned step = 0; counts != NULL && step < HISTOGRAM_STEPS;
             step++) {
            if (counts[step] >= rank)
                return middle_of(octave, step);
            rank -= counts[step];
        }
    }
    return UINT64_MAX;
}

void
histogram_clear(struct histogram *histogram)
{
    for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++)
        free(histogram->octaves[octave]);
    memset(histogram, 0, sizeof(*histogram));
}
