/* SPDX-License-Identifier: MIT */
/* Makes numbers.  What they are used for is soak.c's. */
#include "soak_data.h"

#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15u

uint64_t
mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t
dice(uint64_t *state, uint64_t sides)
{
    *state += GOLDEN;
    return mix(*state) % sides;
}

void
data_fill(uint64_t seed, uint64_t offset, uint8_t *to, size_t len)
{
    while (len > 0) {
        uint64_t word = mix(seed + (offset / 8 + 1) * GOLDEN);
        size_t skip = (size_t)(offset % 8), n = 8 - skip;

        if (n > len)
            n = len;
        memcpy(to, (const uint8_t *)&word + skip, n);
        to += n;
        offset += n;
        len -= n;
    }
}
