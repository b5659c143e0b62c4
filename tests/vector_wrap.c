/* SPDX-License-Identifier: MIT */
/*
 * Owns malloc, calloc and realloc of a program linked with --wrap for them.
 * It does not keep track of memory: leaks are the sanitizer's to find.
 */
#include <errno.h>
#include <stddef.h>

#include "vector_alloc.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

/* is_armed is 1 while allocations are counted; left counts down to the one
 * that fails; has_failed is 1 once it has. */
static int is_armed;
static uint64_t left;
static int has_failed;
static enum vector_alloc_mode fail_mode;

static int
alloc_fails(void)
{
    if (!is_armed) {
        return 0;
    }
    if (left > 0) {
        left--;
        if (left > 0) {
            return 0;
        }
        has_failed = 1;
    } else if (fail_mode == VECTOR_ALLOC_ONCE) {
        return 0;
    }
    errno = ENOMEM;
    return 1;
}

void *
__wrap_malloc(size_t size)
{
    return alloc_fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return alloc_fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *ptr, size_t size)
{
    return alloc_fails() ? NULL : __real_realloc(ptr, size);
}

void
vector_alloc_arm(uint64_t nth, enum vector_alloc_mode mode)
{
    left = nth;
    fail_mode = mode;
    has_failed = 0;
    is_armed = 1;
}

int
vector_alloc_disarm(void)
{
    is_armed = 0;
    return has_failed;
}

int
vector_alloc_pause(void)
{
    int armed = is_armed;

    is_armed = 0;
    return armed;
}

void
vector_alloc_resume(int armed)
{
    is_armed = armed;
}

int
vector_alloc_is_wrapped(void)
{
    return 1;
}
