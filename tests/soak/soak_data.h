/* SPDX-License-Identifier: MIT */
/* The numbers of the soak test: dice, and data that follows from a seed. */
#ifndef SOAK_DATA_H
#define SOAK_DATA_H

#include <stddef.h>
#include <stdint.h>

/* mix turns a number into one that looks random: splitmix64's output. */
uint64_t mix(uint64_t x);

/* dice rolls one of |sides| numbers from 0 on. */
uint64_t dice(uint64_t *state, uint64_t sides);

/* data_fill writes the |len| bytes at |offset| of the stream of |seed|. */
void data_fill(uint64_t seed, uint64_t offset, uint8_t *to, size_t len);

#endif
