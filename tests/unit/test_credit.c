/* SPDX-License-Identifier: MIT */
/* A credit that refills with time: a few in a row, then one at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../proxy/credit.h"

#define EACH_US 1000
#define MAX 4

/* take_all returns how many there are at |now_us|. */
static unsigned
take_all(struct credit *credit, uint64_t now_us)
{
    unsigned n = 0;

    while (credit_take(credit, now_us, EACH_US, MAX))
        n++;
    return n;
}

static void
test_row(void **state)
{
    struct credit credit = {0};

    (void)state;
    assert_int_equal(take_all(&credit, 0), MAX);
    assert_int_equal(take_all(&credit, EACH_US - 1), 0);
    assert_int_equal(take_all(&credit, EACH_US), 1);
    assert_int_equal(take_all(&credit, EACH_US), 0);
    assert_int_equal(take_all(&credit, 3 * EACH_US + 1), 2);
    /* Never more than all, however long the pause. */
    assert_int_equal(take_all(&credit, 1000 * EACH_US), MAX);
}

/* Under load there is one for each span, and no more. */
static void
test_rate(void **state)
{
    struct credit credit = {0};
    unsigned n = 0;

    (void)state;
    take_all(&credit, 5);
    for (uint64_t now_us = 5; now_us < 5 + 100 * EACH_US; now_us += 7)
        n += (unsigned)credit_take(&credit, now_us, EACH_US, MAX);
    assert_in_range(n, 99, 100);
}

/* One that comes now and then never waits. */
static void
test_slow(void **state)
{
    struct credit credit = {0};

    (void)state;
    for (uint64_t now_us = 9; now_us < 100 * EACH_US; now_us += EACH_US)
        assert_int_equal(credit_take(&credit, now_us, EACH_US, MAX), 1);
    assert_int_equal(take_all(&credit, 99 * EACH_US + 9), MAX - 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
