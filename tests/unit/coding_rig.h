/* SPDX-License-Identifier: MIT */
/*
 * What the tests of coding.c share: bodies under any list of codings, undone
 * in every cut.  It becomes part of either program; a difference between two
 * cuts fails the test that called.
 */
#ifndef CODING_RIG_H
#define CODING_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../../proxy/coding.h"
#include "grpcframe_play.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* CEILING is far above what these bodies hold. */
#define CEILING (64u << 20)

/* pool lends the decoders of all tests. */
static struct grpcframe_pool *pool;

static inline int
set_up(void **state)
{
    (void)state;
    return grpcframe_pool_new(&pool, GRPCFRAME_POOL_DEFAULT_BYTES);
}

static inline int
tear_down(void **state)
{
    (void)state;
    grpcframe_pool_free(pool);
    return 0;
}

/* ---- Bodies ---------------------------------------------------------- */

/* struct found is what a chain made of a body. */
struct found {
    /* result, decoded, failed and is_double are as in struct coding. */
    enum grpcframe_result result;
    uint64_t decoded;
    unsigned failed;
    int is_double;
    /* offset and is_other say more of a result that is not OK. */
    uint64_t offset;
    int is_other;
    /* output is what came out. */
    struct vector_buf output;
};

static inline int
keep(const uint8_t *data, size_t len, void *user)
{
    vector_buf_add(user, data, len);
    return 0;
}

/* Feeds |body| in a piece of |first| bytes and pieces of |step|. */
static inline struct found
undo(const char *list, uint64_t ceiling, const struct vector_buf *body,
     size_t first, size_t step)
{
    struct found found = {.decoded = 0};
    struct coding coding;
    size_t n = first;

    coding_open(&coding, pool, list, strlen(list), ceiling, keep,
                &found.output);
    for (size_t at = 0; at < body->len; at += n) {
        if (at > 0) {
            n = step;
        }
        if (n > body->len - at) {
            n = body->len - at;
        }
        coding_feed(&coding, body->data + at, n);
        coding_feed(&coding, NULL, 0);
    }
    found.result = coding_finish(&coding);
    assert_int_equal(coding_finish(&coding), found.result);
    found.decoded = coding.decoded_bytes;
    found.failed = coding.failed;
    found.is_double = coding.is_double;
    if (found.result != GRPCFRAME_RESULT_OK) {
        found.offset = coding_offset(&coding);
        found.is_other = coding_is_other(&coding);
    }
    assert_int_equal(found.output.len, found.decoded);
    coding_clear(&coding);
    coding_clear(&coding);
    return found;
}

static inline void
expect_same(const struct found *a, struct found *b)
{
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->decoded, b->decoded);
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->is_double, b->is_double);
    assert_int_equal(a->is_other, b->is_other);
    if (a->output.len > 0) {
        assert_memory_equal(a->output.data, b->output.data, a->output.len);
    }
    vector_buf_clear(&b->output);
}

/* Undoes |body| whole, byte by byte, and cut at every point (of a long one at
 * some, and around the steps of 4 KiB): always with the same outcome. */
static inline struct found
undo_in_cuts(const char *list, uint64_t ceiling, const struct vector_buf *body)
{
    struct found whole = undo(list, ceiling, body, body->len, body->len);
    struct found other = undo(list, ceiling, body, 1, 1);
    size_t stride = body->len / 200 + 1;

    expect_same(&whole, &other);
    for (size_t cut = 1; cut < body->len; cut++) {
        if (cut % stride == 0 || (cut + 2) % 4096 < 4) {
            other = undo(list, ceiling, body, cut, body->len);
            expect_same(&whole, &other);
        }
    }
    other = undo(list, ceiling, body, 4095, 4097);
    expect_same(&whole, &other);
    return whole;
}

/* Compresses |data| with |encoders|, in the order that Content-Encoding lists
 * them; separated by blanks. */
static inline struct vector_buf
encode(const char *encoders, const struct vector_buf *data)
{
    struct vector_buf body = {0};

    vector_buf_add(&body, data->data, data->len);
    while (*encoders != '\0') {
        size_t n = strcspn(encoders, " ");
        struct vector_buf next = {0};
        char name[20];

        assert_true(n < sizeof(name));
        memcpy(name, encoders, n);
        name[n] = '\0';
        play_encode(&next, name, &body);
        vector_buf_clear(&body);
        body = next;
        encoders += n + strspn(encoders + n, " ");
    }
    return body;
}

static inline void
expect_content(const char *list, const struct vector_buf *body,
               const struct vector_buf *data)
{
    struct found found = undo_in_cuts(list, CEILING, body);

    assert_int_equal(found.result, GRPCFRAME_RESULT_OK);
    assert_int_equal(found.decoded, data->len);
    if (data->len > 0) {
        assert_memory_equal(found.output.data, data->data, data->len);
    }
    assert_false(found.is_double);
    vector_buf_clear(&found.output);
}

#endif
