/* SPDX-License-Identifier: MIT */
/* The table of --summary, and the histogram behind its quantiles, which is
 * compared with sorted values. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../proxy/histogram.h"
#include "../../proxy/summary.h"

/* --- histogram --- */

/* random_next is xorshift: the same numbers in every run. */
static uint64_t
random_next(void)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static int
compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void
assert_near(uint64_t got, uint64_t wanted)
{
    uint64_t off = got > wanted ? got - wanted : wanted - got;

    if (off > wanted / 100)
        fail_msg("%llu is more than 1 %% off %llu", (unsigned long long)got,
                 (unsigned long long)wanted);
}

/* test_error: one value of each size comes back within 1 %. */
static void
test_error(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++) {
        for (int i = 0; i < 100; i++) {
            struct histogram h = {0};
            uint64_t value = random_next() >> shift;
            assert_int_equal(histogram_add(&h, value, 1), 0);
            assert_near(histogram_quantile(&h, 500), value);
            if (value < 128)
                assert_true(histogram_quantile(&h, 990) == value);
            histogram_clear(&h);
        }
    }
}

/* test_quantiles: of skewed values, as durations are, also when merged. */
static void
test_quantiles(void **state)
{
    enum { N = 20001 };
    static const unsigned permilles[] = {1, 10, 250, 500, 900, 990, 999, 1000};
    uint64_t *values = calloc(N, sizeof(*values));
    struct histogram parts[2] = {{{0}, 0}, {{0}, 0}};

    (void)state;
    assert_non_null(values);
    for (size_t i = 0; i < N; i++) {
        values[i] = random_next() >> (40 + random_next() % 20);
        histogram_add(&parts[i % 2], values[i], 1);
    }
    histogram_merge(&parts[0], &parts[1]);
    assert_true(parts[0].total == N);
    qsort(values, N, sizeof(*values), compare);
    for (size_t i = 0; i < sizeof(permilles) / sizeof(permilles[0]); i++) {
        size_t rank = (N * permilles[i] + 999) / 1000;
        assert_near(histogram_quantile(&parts[0], permilles[i]),
                    values[rank - 1]);
    }
    histogram_clear(&parts[0]);
    histogram_clear(&parts[1]);
    assert_true(histogram_quantile(&parts[0], 500) == 0);
    free(values);
}

/* test_extremes: the ends of 64 bits, and counts near them. */
static void
test_extremes(void **state)
{
    struct histogram h = {0};

    (void)state;
    histogram_add(&h, 0, UINT64_MAX / 2);
    histogram_add(&h, UINT64_MAX, UINT64_MAX / 2);
    assert_true(histogram_quantile(&h, 499) == 0);
    assert_near(histogram_quantile(&h, 990), UINT64_MAX);
    histogram_clear(&h);
}

/* --- table --- */

/* print returns the table as text, which the caller frees.  Inlined, gcc would
 * warn of the address that open_memstream keeps until fclose. */
static __attribute__((noinline)) char *
print(const struct summary *summary)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    assert_non_null(file);
    summary_print(summary, file);
    fclose(file);
    return text;
}

static struct summary_call
call_of(const char *path, uint64_t wire)
{
    return (struct summary_call){
        .path = path,
        .path_len = path != NULL ? (uint32_t)strlen(path) : 0,
        .duration_us = 100,
        .wire_bytes = {wire, 2 * wire},
        .message_bytes = {10, 20},
        .decoded_bytes = {11, 22},
        .messages = {1, 3},
        .compressed_messages = {0, 1},
    };
}

static void
add(struct summary *summary, const char *path, uint64_t wire)
{
    struct summary_call call = call_of(path, wire);

    summary_add(summary, &call);
}

static const char title[] =
    "calls  errors  p50_us  p99_us  req_wire  resp_wire  req_message  "
    "req_decoded  resp_message  resp_decoded  compressed  method\n";

static void
test_table(void **state)
{
    struct summary *summary = summary_new();
    struct summary_call call = call_of("/a.B/Slow", 1000000000);

    (void)state;
    assert_non_null(summary);
    add(summary, "/a.B/Get", 50);
    add(summary, "/a.B/Get", 60);
    call.is_error = 1;
    call.duration_us = 100;
    call.decoded_unknown[1] = 1;
    call.compressed_messages[0] = 1;
    call.compressed_messages[1] = 3;
    summary_add(summary, &call);
    add(summary, NULL, 7);
    call = call_of("/nothing", 1);
    memset(call.messages, 0, sizeof(call.messages));
    summary_add(summary, &call);
    call = (struct summary_call){
        .path = "/plain",
        .path_len = 6,
        .duration_us = 100,
        .wire_bytes = {1, 1},
        .has_no_messages = 1,
    };
    summary_add(summary, &call);
    char *text = print(summary);
    assert_string_equal(
        text,
        "calls  errors  p50_us  p99_us    req_wire   resp_wire  req_message  "
        "req_decoded  resp_message  resp_decoded  compressed  method\n"
        "    1       1     100     100  1000000000  2000000000           10  "
        "         11            20             -      100.0%  /a.B/Slow\n"
        "    2       0     100     100         110         220           20  "
        "         22            40            44       25.0%  /a.B/Get\n"
        "    1       0     100     100           1           2           10  "
        "         11            20            22           -  /nothing\n"
        "    1       0     100     100           1           1            -  "
        "          -             -             -           -  /plain\n"
        "    1       0     100     100           7          14           10  "
        "         11            20            22       25.0%  (unknown)\n");
    free(text);
    summary_free(summary);
    summary_free(NULL);
}

static void
test_empty(void **state)
{
    struct summary *summary = summary_new();

    (void)state;
    char *text = print(summary);
    assert_string_equal(text, title);
    free(text);
    summary_free(summary);
}

/* count_lines returns how many lines |text| has. */
static int
count_lines(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

/* test_limit: as many rows as allowed, one more goes into (other); methods
 * that have their row keep it. */
static void
test_limit(void **state)
{
    struct summary *summary = summary_new();
    char path[32];

    (void)state;
    for (int i = 0; i < SUMMARY_METHODS_MAX; i++) {
        snprintf(path, sizeof(path), "/method/%d", i);
        add(summary, path, 5);
    }
    char *text = print(summary);
    assert_int_equal(count_lines(text), SUMMARY_METHODS_MAX + 1);
    assert_null(strstr(text, "(other)"));
    free(text);
    add(summary, "/one/more", 5);
    add(summary, "/and/more", 5);
    add(summary, "/method/0", 5);
    text = print(summary);
    assert_int_equal(count_lines(text), SUMMARY_METHODS_MAX + 2);
    assert_null(strstr(text, "more"));
    char *other = strstr(text, "(other)\n");
    assert_non_null(other);
    assert_int_equal(other[8], '\0');
    while (other > text && other[-1] != '\n')
        other--;
    assert_int_equal(strtol(other, NULL, 10), 2);
    /* /method/0 has the most bytes by now. */
    assert_int_equal(strtol(strchr(text, '\n') + 1, NULL, 10), 2);
    free(text);
    summary_free(summary);
}

/* test_merge: two workers' tables give the one that a single worker would
 * have made. */
static void
test_merge(void **state)
{
    struct summary *parts[3] = {summary_new(), summary_new(), summary_new()};
    char path[32];

    (void)state;
    for (int i = 0; i < 3000; i++) {
        const char *name = i % 100 == 99 ? NULL : path;
        snprintf(path, sizeof(path), "/m/%d", i % 40);
        struct summary_call call = call_of(name, (uint64_t)i);
        call.is_error = i % 7 == 0;
        call.duration_us = random_next() % 1000000;
        call.decoded_unknown[0] = i == 5;
        call.has_no_messages = i % 40 == 7;
        summary_add(parts[i % 2], &call);
        summary_add(parts[2], &call);
    }
    summary_merge(parts[0], parts[1]);
    char *merged = print(parts[0]);
    char *single = print(parts[2]);
    assert_string_equal(merged, single);
    assert_int_equal(count_lines(single), 42);
    free(merged);
    free(single);
    for (int i = 0; i < 3; i++)
        summary_free(parts[i]);
}

/* test_names: what a peer puts into a path does not disturb the table. */
static void
test_names(void **state)
{
    struct summary *summary = summary_new();
    char longer[600];

    (void)state;
    add(summary, "/\x1b[2J\n\xff\xc3\xa9\x7f", 5);
    memset(longer, 'y', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    add(summary, longer, 4);
    longer[SUMMARY_PATH_MAX] = 'z';
    add(summary, longer, 4);
    memset(longer, '\xfe', sizeof(longer) - 1);
    add(summary, longer, 1);
    char *text = print(summary);
    assert_int_equal(count_lines(text), 4);
    assert_non_null(strstr(text, "  /\\x1b[2J\\x0a\\xff\xc3\xa9\\x7f\n"));
    char *cut = strstr(text, "  yyy");
    assert_non_null(cut);
    assert_int_equal(strspn(cut + 2, "y"), SUMMARY_PATH_MAX);
    assert_int_equal(cut[2 + SUMMARY_PATH_MAX], '\n');
    cut = strstr(text, "\\xfe");
    assert_non_null(cut);
    assert_int_equal(strlen(cut), 4 * SUMMARY_PATH_MAX + 1);
    free(text);
    summary_free(summary);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),    cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_table),
        cmocka_unit_test(test_empty),    cmocka_unit_test(test_limit),
        cmocka_unit_test(test_merge),    cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
