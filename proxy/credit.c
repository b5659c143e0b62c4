/* SPDX-License-Identifier: MIT */
/* Owns the arithmetic of a credit that refills with time.  What it is spent
 * on, and what happens without, is the caller's. */
#include "credit.h"

int
credit_take(struct credit *credit, uint64_t now_us, uint64_t each_us,
            unsigned max)
{
    if (credit->paid_us < now_us)
        credit->paid_us = now_us;
    if (credit->paid_us - now_us > (max - 1) * each_us)
        return 0;
    credit->paid_us += each_us;
    return 1;
}
