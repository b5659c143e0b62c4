/* SPDX-License-Identifier: MIT */
/* The parts of --what-if that need no thread: the list, the share of CPU, the
 * figures, the table of methods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../proxy/what_if_budget.h"
#include "../../proxy/what_if_list.h"
#include "../../proxy/what_if_stats.h"
#include "../../proxy/what_if_table.h"
#include "../vector_alloc.h"

#define MS UINT64_C(1000000)

/* MESSAGE_MAX is the longest message that is tried. */
#define MESSAGE_MAX (4u << 20)

/* ---- The list -------------------------------------------------------- */

static void
expect_list(const char *text, const char *want)
{
    struct what_if_list list;
    char all[512] = "";

    assert_null(what_if_list_parse(&list, text));
    for (unsigned i = 0; i < list.n; i++) {
        char label[WHAT_IF_LABEL_MAX];
        size_t len = strlen(all);

        what_if_choice_label(&list.choices[i], label);
        snprintf(all + len, sizeof(all) - len, "%s%s", i > 0 ? " " : "",
                 label);
    }
    assert_string_equal(all, want);
}

static void
test_list(void **state)
{
    (void)state;
    expect_list(WHAT_IF_LIST_DEFAULT, "gzip:1 gzip:6 br:4 zstd:3 snappy");
    expect_list("gzip", "gzip:6");
    expect_list("deflate,br,zstd,snappy", "deflate:6 br:4 zstd:3 snappy");
    expect_list("br:0,br:11,zstd:1,zstd:22,gzip:9",
                "br:0 br:11 zstd:1 zstd:22 gzip:9");
    expect_list("br:0,br:1,br:2,br:3,br:4,br:5,br:6,br:7,br:8,br:9,br:10,"
                "br:11,gzip:1,gzip:2,gzip:3,gzip:4",
                "br:0 br:1 br:2 br:3 br:4 br:5 br:6 br:7 br:8 br:9 br:10 br:11 "
                "gzip:1 gzip:2 gzip:3 gzip:4");
}

static void
test_list_wrong(void **state)
{
    static const char *const wrong[] = {
        "",          ",",         "gzip,",       "gzip,,br",   "identity",
        "gzip:0",    "gzip:10",   "gzip:",       "gzip:6x",    "gzip: 6",
        "gzip:-1",   "br:12",     "zstd:0",      "zstd:23",    "snappy:1",
        "lzma",      "gzip,gzip", "gzip,gzip:6", "snappy,snappy",
        "gzip:99999999999999999999",
        "a-very-long-word-that-is-no-codec",
        "br:0,br:1,br:2,br:3,br:4,br:5,br:6,br:7,br:8,br:9,br:10,br:11,gzip:1,"
        "gzip:2,gzip:3,gzip:4,gzip:5",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct what_if_list list;

        if (what_if_list_parse(&list, wrong[i]) == NULL) {
            fail_msg("taken: %s", wrong[i]);
        }
    }
}

/* ---- The share of CPU ------------------------------------------------ */

static void
test_budget(void **state)
{
    struct what_if_budget budget;
    uint64_t now = 1000 * MS;
    uint64_t used = 0;

    (void)state;
    what_if_budget_init(&budget, 10, now);
    what_if_budget_spend(&budget, 5 * MS, now);
    assert_int_equal(what_if_budget_wait(&budget), 0);
    what_if_budget_spend(&budget, 1 * MS, now);
    /* 1 ms too much, and 5 ms for the next time. */
    assert_int_equal(what_if_budget_wait(&budget), 60 * MS);
    what_if_budget_spend(&budget, 0, now + 4 * MS);
    assert_int_equal(what_if_budget_wait(&budget), 56 * MS);
    /* A pause saves up no more than the burst. */
    now += 3600 * 1000 * MS;
    what_if_budget_spend(&budget, 0, now);
    assert_int_equal(budget.credit_ns, WHAT_IF_BURST_NS);
    /* Whoever waits as told keeps to the share. */
    for (int i = 0; i < 1000; i++) {
        used += 7 * MS;
        what_if_budget_spend(&budget, 7 * MS, now);
        now += what_if_budget_wait(&budget);
        what_if_budget_spend(&budget, 0, now);
    }
    now -= (1000 + 3600 * 1000) * MS;
    assert_in_range(now, (used - 12 * MS) * 10,
                    (used + 5 * MS) * 10);
}

static void
test_budget_long(void **state)
{
    struct what_if_budget budget;

    (void)state;
    /* A message that takes minutes is paid for in the end. */
    what_if_budget_init(&budget, 1, 0);
    what_if_budget_spend(&budget, 600 * 1000 * MS, 600 * 1000 * MS);
    assert_in_range(what_if_budget_wait(&budget), 59000 * 1000 * MS,
                    60001 * 1000 * MS);
    what_if_budget_init(&budget, 100, 0);
    what_if_budget_spend(&budget, 100 * MS, 100 * MS);
    assert_int_equal(what_if_budget_wait(&budget), 100 * MS);
}

/* ---- Figures --------------------------------------------------------- */

static void
add(struct what_if_stats *stats, size_t len, size_t compressed,
    uint64_t compress_ns, uint64_t decompress_ns)
{
    struct what_if_outcome outcome = {compressed, compress_ns, decompress_ns};

    what_if_stats_add(stats, len, &outcome);
}

static void
expect_near(double value, double want)
{
    if (value < want - 1e-9 || value > want + 1e-9) {
        fail_msg("%f, not %f", value, want);
    }
}

static void
test_figures(void **state)
{
    struct what_if_stats *stats = what_if_stats_new(1);
    struct what_if_figures figures = what_if_stats_figures(stats, 0);

    (void)state;
    assert_int_equal(figures.known, 0);
    assert_int_equal(what_if_stats_figures(NULL, 0).known, 0);
    add(stats, 2048, 512, 3000, 1000);
    add(stats, 2048, 512, 5000, 3000);
    figures = what_if_stats_figures(stats, 0);
    assert_int_equal(figures.known, 1);
    assert_int_equal(figures.compressed_bytes, 1024);
    assert_int_equal(figures.grew, 0);
    expect_near(figures.ratio, 0.25);
    expect_near(figures.saved_bytes_per_message, 1536);
    expect_near(figures.compress_us_per_message, 4);
    expect_near(figures.compress_us_per_kib, 2);
    expect_near(figures.decompress_us_per_message, 2);
    expect_near(figures.decompress_us_per_kib, 1);
    /* 3,072 bytes in 12 us. */
    assert_int_equal(figures.break_even_bps, UINT64_C(2048000000));
    assert_int_equal(figures.smallest_gaining_bytes, 2048);
    assert_int_equal(figures.largest_growing_bytes, 0);
    free(stats);
}

static void
test_nothing_saved(void **state)
{
    struct what_if_stats *stats = what_if_stats_new(1);
    struct what_if_figures figures;

    (void)state;
    add(stats, 100, 118, 1000, 1000);
    figures = what_if_stats_figures(stats, 0);
    assert_int_equal(figures.grew, 1);
    expect_near(figures.saved_bytes_per_message, -18);
    assert_int_equal(figures.break_even_bps, 0);
    assert_int_equal(figures.smallest_gaining_bytes, 0);
    assert_int_equal(figures.largest_growing_bytes, 100);
    free(stats);
}

/* Sizes of which each gains or not, and what must be said of them. */
static void
test_sizes(void **state)
{
    static const struct {
        size_t len;
        size_t compressed;
    } messages[] = {
        {10, 28},   {60, 59},   /* fits by chance: below one that grows */
        {87, 93},   {88, 88},   {89, 89},     {120, 100},    {122, 125},
        {300, 200}, {900, 400}, {2000, 1000}, {90000, 30000}};
    struct what_if_stats *stats = what_if_stats_new(1);
    struct what_if_figures figures;

    (void)state;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        add(stats, messages[i].len, messages[i].compressed, 1, 1);
    }
    figures = what_if_stats_figures(stats, 0);
    /* 122 grows, but 120 is of its class and gains more. */
    assert_int_equal(figures.smallest_gaining_bytes, 120);
    assert_int_equal(figures.largest_growing_bytes, 89);
    assert_int_equal(figures.grew, 3);
    /* 60 gains: not all up to 89 grow. */
    assert_int_equal(figures.is_split, 0);
    /* The longest decide: when they do not gain, no size does. */
    add(stats, 100000, 200000, 1, 1);
    figures = what_if_stats_figures(stats, 0);
    assert_int_equal(figures.smallest_gaining_bytes, 0);
    assert_int_equal(figures.largest_growing_bytes, 100000);
    free(stats);
}

/* Where nothing shorter gains, the two sizes part what gains from what does
 * not; and one long message says nothing of the shorter ones. */
static void
test_split(void **state)
{
    struct what_if_stats *stats = what_if_stats_new(1);
    struct what_if_figures figures;

    (void)state;
    add(stats, 20, 38, 1, 1);
    add(stats, 82, 90, 1, 1);
    add(stats, 5000, 600, 1, 1);
    figures = what_if_stats_figures(stats, 0);
    assert_int_equal(figures.largest_growing_bytes, 82);
    assert_int_equal(figures.is_split, 1);
    for (int i = 0; i < 100; i++) {
        add(stats, 3000, 600, 1, 1);
    }
    add(stats, 100000, 100040, 1, 1);
    figures = what_if_stats_figures(stats, 0);
    assert_int_equal(figures.smallest_gaining_bytes, 0);
    assert_int_equal(figures.largest_growing_bytes, 100000);
    assert_int_equal(figures.is_split, 0);
    /* Longer ones that gain have a class of their own. */
    add(stats, 200000, 1000, 1, 1);
    figures = what_if_stats_figures(stats, 0);
    assert_int_equal(figures.smallest_gaining_bytes, 200000);
    assert_int_equal(figures.largest_growing_bytes, 100000);
    assert_int_equal(figures.is_split, 0);
    free(stats);
}

static void
test_classes(void **state)
{
    struct what_if_stats *stats = what_if_stats_new(1);
    unsigned classes = 0;

    (void)state;
    for (size_t len = 1; len <= MESSAGE_MAX; len++) {
        add(stats, len, len - 1, 0, 0);
    }
    for (unsigned i = 0; i < WHAT_IF_CLASSES; i++) {
        assert_int_equal(stats->smallest[i],
                         i == 0 ? 1 : stats->largest[i - 1] + 1);
        classes += stats->smallest[i] > 0;
    }
    assert_int_equal(classes, WHAT_IF_CLASSES);
    assert_int_equal(stats->largest[WHAT_IF_CLASSES - 1], MESSAGE_MAX);
    assert_int_equal(stats->smallest[WHAT_IF_CLASSES - 1], MESSAGE_MAX / 2);
    /* A clock that stood still makes no division by zero. */
    assert_true(what_if_stats_figures(stats, 0).break_even_bps > 0);
    free(stats);
}

/* ---- The table ------------------------------------------------------- */

static struct what_if_table table;

static void
test_table(void **state)
{
    static char longest[WHAT_IF_PATH_MAX + 2];
    struct what_if_entry *client;

    (void)state;
    what_if_table_init(&table);
    client = what_if_table_find(&table, SIDE_CLIENT, "/a", 2);
    assert_ptr_equal(what_if_table_find(&table, SIDE_CLIENT, "/ab", 2),
                     client);
    assert_ptr_not_equal(what_if_table_find(&table, SIDE_SERVER, "/a", 2),
                         client);
    assert_ptr_equal(what_if_table_find(&table, SIDE_SERVER, NULL, 0),
                     &table.unknown[SIDE_SERVER]);
    memset(longest, 'x', sizeof(longest) - 1);
    client = what_if_table_find(&table, SIDE_CLIENT, longest,
                                WHAT_IF_PATH_MAX + 1);
    assert_int_equal(client->path_len, WHAT_IF_PATH_MAX);
    assert_ptr_equal(
        what_if_table_find(&table, SIDE_CLIENT, longest, WHAT_IF_PATH_MAX),
        client);
    what_if_table_clear(&table);
}

static void
test_table_full(void **state)
{
    struct what_if_entry *entry;
    unsigned n = 0;

    (void)state;
    what_if_table_init(&table);
    for (int i = 0; i <= WHAT_IF_ENTRIES_MAX; i++) {
        char path[16];
        int len = snprintf(path, sizeof(path), "/%d", i);

        entry = what_if_table_find(&table, SIDE_SERVER, path, (size_t)len);
        assert_int_equal(entry == &table.other[SIDE_SERVER],
                         i == WHAT_IF_ENTRIES_MAX);
    }
    for (entry = atomic_load(&table.first); entry != NULL; entry = entry->next)
        n++;
    assert_int_equal(n, WHAT_IF_ENTRIES_MAX + 4);
    what_if_table_clear(&table);
}

static void
test_table_no_memory(void **state)
{
    uint64_t nth = 1;
    int failed;

    (void)state;
    do {
        struct what_if_entry *entry;

        what_if_table_init(&table);
        vector_alloc_arm(nth++, VECTOR_ALLOC_FOR_GOOD);
        entry = what_if_table_find(&table, SIDE_CLIENT, "/a", 2);
        failed = vector_alloc_disarm();
        assert_int_equal(entry == &table.other[SIDE_CLIENT], failed);
        what_if_table_clear(&table);
    } while (failed);
    assert_true(nth > 2 || !vector_alloc_is_wrapped());
}

static void
test_counts(void **state)
{
    struct what_if_counts counts;
    struct what_if_entry *entry;

    (void)state;
    what_if_table_init(&table);
    entry = what_if_table_find(&table, SIDE_CLIENT, "/a", 2);
    atomic_store(&entry->messages_seen, 10);
    atomic_store(&entry->skipped[WHAT_IF_LARGE], 2);
    atomic_store(&entry->skipped[WHAT_IF_STOPPED], 1);
    entry->stats = what_if_stats_new(1);
    add(entry->stats, 100, 50, 1, 1);
    counts = what_if_entry_counts(entry);
    assert_int_equal(counts.sampled, 1);
    assert_int_equal(counts.sampled_bytes, 100);
    assert_int_equal(counts.waiting, 6);
    what_if_table_clear(&table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_list_wrong),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_budget_long),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_nothing_saved),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_table_full),
        cmocka_unit_test(test_table_no_memory),
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
