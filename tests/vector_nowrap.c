/* SPDX-License-Identifier: MIT */
/*
 * Stands in for vector_wrap.c in programs that play to a tap but never let
 * an allocation fail.  It does nothing.
 */
#include "vector_alloc.h"

void
vector_alloc_arm(uint64_t nth, enum vector_alloc_mode mode)
{
    (void)nth;
    (void)mode;
}

int
vector_alloc_disarm(void)
{
    return 0;
}

int
vector_alloc_pause(void)
{
    return 0;
}

void
vector_alloc_resume(int armed)
{
    (void)armed;
}

int
vector_alloc_is_wrapped(void)
{
    return 0;
}
