/* SPDX-License-Identifier: MIT */
/*
 * Makes allocations fail on purpose.  A program linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc and vector_wrap.c can let
 * the Nth one fail; one linked with vector_nowrap.c has the same functions,
 * which do nothing.
 */
#ifndef VECTOR_ALLOC_H
#define VECTOR_ALLOC_H

#include <stdint.h>

/* enum vector_alloc_mode is what happens after the first failure. */
enum vector_alloc_mode {
    VECTOR_ALLOC_ONCE,    /* one allocation fails, the next succeeds */
    VECTOR_ALLOC_FOR_GOOD /* all that follow fail as well */
};

/* vector_alloc_arm lets the |nth| allocation from now on fail (from 1). */
void vector_alloc_arm(uint64_t nth, enum vector_alloc_mode mode);

/* vector_alloc_disarm ends it; returns 1 when an allocation has failed. */
int vector_alloc_disarm(void);

/* vector_alloc_pause makes allocations of the test itself exempt until
 * vector_alloc_resume is given what it returned. */
int vector_alloc_pause(void);
void vector_alloc_resume(int armed);

/* vector_alloc_is_wrapped returns 1 when failures can be made. */
int vector_alloc_is_wrapped(void);

#endif
