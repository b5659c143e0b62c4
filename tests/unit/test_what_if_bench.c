/* SPDX-License-Identifier: MIT */
/* The bench of --what-if: what it says of a message that it could not try.  The
 * figures themselves are in test_what_if.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* The bench from the inside: a codec that writes what cannot be read again is
 * not to be had otherwise. */
#include "../../proxy/what_if_bench.c"
#include "../vector_alloc.h"

static const uint8_t data[1000];

static struct what_if_bench *
make(void)
{
    struct what_if_list list;
    struct what_if_bench *bench;

    assert_null(what_if_list_parse(&list, "gzip"));
    bench = what_if_bench_new(&list);
    assert_non_null(bench);
    return bench;
}

static void
test_failed(void **state)
{
    struct what_if_bench *bench = make();
    struct what_if_outcome outcome;

    (void)state;
    assert_int_equal(what_if_bench_run(bench, 0, data, sizeof(data), &outcome),
                     WHAT_IF_TAKEN);
    bench->codecs[0] = GRPCFRAME_CODEC_ZSTD;
    assert_int_equal(what_if_bench_run(bench, 0, data, sizeof(data), &outcome),
                     WHAT_IF_FAILED);
    what_if_bench_free(bench);
}

static void
test_no_memory(void **state)
{
    uint64_t nth = 1;
    int failed;

    (void)state;
    if (!vector_alloc_is_wrapped()) {
        skip();
    }
    do {
        struct what_if_bench *bench = make();
        struct what_if_outcome outcome;
        enum what_if_skip skip;

        vector_alloc_arm(nth++, VECTOR_ALLOC_FOR_GOOD);
        skip = what_if_bench_run(bench, 0, data, sizeof(data), &outcome);
        failed = vector_alloc_disarm();
        assert_int_equal(skip, failed ? WHAT_IF_MEMORY : WHAT_IF_TAKEN);
        what_if_bench_free(bench);
    } while (failed);
    assert_true(nth > 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
