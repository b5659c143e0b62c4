/* SPDX-License-Identifier: MIT */
/* A credit that refills with time: what costs little now and then, and much
 * when done all the time, is done at once as long as there is some. */
#ifndef CREDIT_H
#define CREDIT_H

#include <stdint.h>

/* struct credit is all zero to begin with: full. */
struct credit {
    /* paid_us is until when time has been spent in advance. */
    uint64_t paid_us;
};

/* credit_take takes one of |max| that come back one every |each_us|.  Returns
 * 1, or 0 when there is none. */
int credit_take(struct credit *credit, uint64_t now_us, uint64_t each_us,
                unsigned max);

#endif
