/* SPDX-License-Identifier: MIT */
/*
 * --what-if as a whole, without a tap: messages in, with the thread at work;
 * counts, figures and events out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <brotli/encode.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../proxy/net.h"
#include "what_if_play.h"

#define KIB 1024u

/* Everything has one place. */
static void
expect_settled(const struct what_if_counts *counts)
{
    uint64_t sum = counts->sampled;

    for (int i = 0; i < WHAT_IF_SKIPS; i++) {
        sum += counts->skipped[i];
    }
    assert_int_equal(counts->waiting, 0);
    assert_int_equal(counts->messages_seen, sum);
}

/* ---- Figures --------------------------------------------------------- */

static size_t
brotli_len(int quality, const struct vector_buf *data)
{
    size_t len = BrotliEncoderMaxCompressedSize(data->len);
    uint8_t *out = malloc(len);

    assert_true(BrotliEncoderCompress(quality, BROTLI_DEFAULT_WINDOW,
                                      BROTLI_MODE_GENERIC, data->len,
                                      data->data, &len, out));
    free(out);
    return len;
}

/* The sizes that are predicted are those that the libraries write. */
static void
test_sizes_exact(void **state)
{
    static const char *const names[] = {"gzip", "zlib", "zstd", "br"};
    static const size_t lens[] = {1, 87, 5000, 300000};
    struct what_if *what_if = play_start("gzip:9,deflate:9,zstd:3,br:5", 100,
                                         0);
    struct what_if_flow flow = {0};
    uint64_t want[4] = {0};

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, PLAY_PATH,
                      strlen(PLAY_PATH));
    for (size_t i = 0; i < 4; i++) {
        struct vector_buf data = {0};

        play_make(&data, PLAY_TEXT, lens[i]);
        play_pass(what_if, &flow, data.data, data.len, 1000);
        for (size_t k = 0; k < 3; k++) {
            struct vector_buf body = {0};

            play_encode(&body, names[k], &data);
            want[k] += body.len;
            vector_buf_clear(&body);
        }
        want[3] += brotli_len(5, &data);
        vector_buf_clear(&data);
    }
    play_wait_sampled(what_if, &flow, 4);
    what_if_finish(what_if);
    for (unsigned k = 0; k < 4; k++) {
        struct what_if_figures figures =
            what_if_stats_figures(flow.entry->stats, k);

        if (figures.compressed_bytes != want[k]) {
            fail_msg("%s: %llu, not %llu", names[k],
                     (unsigned long long)figures.compressed_bytes,
                     (unsigned long long)want[k]);
        }
        assert_true(figures.compress_us_per_message > 0);
        assert_true(figures.decompress_us_per_message > 0);
        assert_true(figures.break_even_bps > 0);
    }
    what_if_free(what_if);
}

/* ---- Reasons --------------------------------------------------------- */

static void
test_reasons(void **state)
{
    struct what_if *what_if = play_start("snappy", 100, 0);
    const struct what_if_message damaged = {.wire_bytes = 10,
                                            .codec = GRPCFRAME_CODEC_GZIP};
    struct what_if_flow flow = {0};
    struct what_if_counts counts;

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_SERVER, PLAY_PATH,
                      strlen(PLAY_PATH));
    play_pass_kind(what_if, &flow, PLAY_ZEROS, 0);
    play_pass_kind(what_if, &flow, PLAY_ZEROS, WHAT_IF_MESSAGE_MAX);
    play_wait_sampled(what_if, &flow, 1);
    play_pass_kind(what_if, &flow, PLAY_ZEROS, WHAT_IF_MESSAGE_MAX + 1);
    what_if_flow_take(what_if, &flow, 10, (const uint8_t *)"0123456789", 10);
    what_if_flow_end(what_if, &flow, &damaged);
    /* One that never ends is none. */
    what_if_flow_take(what_if, &flow, 10, (const uint8_t *)"0123456789", 10);
    what_if_flow_drop(what_if, &flow);
    what_if_finish(what_if);
    counts = what_if_entry_counts(flow.entry);
    expect_settled(&counts);
    assert_int_equal(counts.messages_seen, 4);
    assert_int_equal(counts.sampled, 1);
    assert_int_equal(counts.skipped[WHAT_IF_EMPTY], 1);
    assert_int_equal(counts.skipped[WHAT_IF_LARGE], 1);
    assert_int_equal(counts.skipped[WHAT_IF_UNDECODED], 1);
    assert_int_equal(counts.bytes_seen, 2 * WHAT_IF_MESSAGE_MAX + 1);
    assert_int_equal(counts.sampled_bytes, WHAT_IF_MESSAGE_MAX);
    assert_int_equal(counts.used[GRPCFRAME_CODEC_GZIP], 0);
    what_if_free(what_if);
}

/* A message that declares less than it is, as one that is compressed may. */
static void
test_grows_while_passing(void **state)
{
    struct what_if *what_if = play_start("snappy", 100, 0);
    struct what_if_flow flow = {0};
    struct what_if_message message = {.wire_bytes = 100, .is_decoded = 1};
    static uint8_t piece[100 * KIB];

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, PLAY_PATH,
                      strlen(PLAY_PATH));
    for (unsigned n = 40; n <= 41; n++) {
        message.decoded_bytes = n * sizeof(piece);
        for (unsigned i = 0; i < n; i++) {
            what_if_flow_take(what_if, &flow, 100, piece, sizeof(piece));
        }
        what_if_flow_end(what_if, &flow, &message);
        play_wait_sampled(what_if, &flow, 1);
    }
    what_if_finish(what_if);
    /* 41 * 100 KiB are more than 4 MiB. */
    assert_int_equal(what_if_entry_counts(flow.entry).sampled, 1);
    assert_int_equal(
        what_if_entry_counts(flow.entry).skipped[WHAT_IF_LARGE], 1);
    what_if_free(what_if);
}

/* ---- The thread ------------------------------------------------------ */

/* It uses no more than its share, and tries all the same. */
static void
test_share(void **state)
{
    struct what_if *what_if = play_start("br:11", 5, 0);
    uint64_t began_us = net_now_us();
    struct what_if_flow flow = {0};
    uint64_t passed_ns;

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, PLAY_PATH,
                      strlen(PLAY_PATH));
    while (net_now_us() - began_us < 1500000) {
        play_pass_kind(what_if, &flow, PLAY_TEXT, 2000);
        usleep(1000);
    }
    pthread_mutex_lock(&what_if->lock);
    passed_ns = (net_now_us() - began_us) * 1000;
    /* What the message under way uses is seen when it ends. */
    assert_true(what_if->spent_ns < passed_ns / 20 + WHAT_IF_BURST_NS +
                                        UINT64_C(100000000));
    pthread_mutex_unlock(&what_if->lock);
    assert_true(play_counts(what_if, &flow).sampled > 0);
    assert_true(play_counts(what_if, &flow).skipped[WHAT_IF_BUSY] > 0);
    what_if_free(what_if);
}

/* The end comes in bounded time: what was not tried is counted. */
static void
finish_within(const char *list, unsigned n, size_t len, uint64_t most_us)
{
    struct what_if *what_if = play_start(list, 1, 0);
    struct what_if_flow flow = {0};
    struct what_if_counts counts;
    uint64_t began_us;

    what_if_flow_open(what_if, &flow, SIDE_CLIENT, PLAY_PATH,
                      strlen(PLAY_PATH));
    for (unsigned i = 0; i < n; i++) {
        play_pass_kind(what_if, &flow, PLAY_TEXT, len);
    }
    began_us = net_now_us();
    what_if_finish(what_if);
    assert_true(net_now_us() - began_us < most_us);
    counts = what_if_entry_counts(flow.entry);
    expect_settled(&counts);
    assert_int_equal(counts.messages_seen, n);
    assert_true(counts.skipped[WHAT_IF_STOPPED] > 0);
    what_if_finish(what_if);
    what_if_free(what_if);
}

static void
test_finish(void **state)
{
    (void)state;
    finish_within("br:10,br:11", 200, 20000, 2500000);
    /* A message that takes a codec longer than anybody waits. */
    finish_within("br:11", 1, WHAT_IF_MESSAGE_MAX, 2500000);
}

/* What waits at the end is tried, also when the thread was idle until then. */
static void
test_finish_tries(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct what_if *what_if = play_start("snappy", 100, 0);
        struct what_if_flow flow = {0};
        struct what_if_counts counts;

        usleep(20000);
        what_if_flow_open(what_if, &flow, SIDE_CLIENT, PLAY_PATH,
                          strlen(PLAY_PATH));
        play_pass_kind(what_if, &flow, PLAY_TEXT, 1000);
        what_if_finish(what_if);
        counts = what_if_entry_counts(flow.entry);
        expect_settled(&counts);
        if (counts.sampled == 1) {
            what_if_free(what_if);
            return;
        }
        what_if_free(what_if);
    }
    fail_msg("a message that waited was not tried, in five runs");
}

/* How often |word| stands in |lane|. */
static unsigned
count_in(const struct lane *lane, const char *word)
{
    const char *at = lane->data;
    const char *end = at + lane->len;
    unsigned n = 0;

    while (at != NULL && at < end) {
        at = memmem(at, (size_t)(end - at), word, strlen(word));
        if (at == NULL) {
            break;
        }
        at++;
        n++;
    }
    return n;
}

/* Collects until |n| lines with |word| have come. */
static void
collect_until(struct what_if *what_if, struct lane *lane, const char *word,
              unsigned n)
{
    for (int i = 0; i < 6000; i++) {
        while (what_if_collect(what_if, lane) != 0) {
            continue;
        }
        if (count_in(lane, word) >= n) {
            return;
        }
        usleep(10000);
    }
    fail_msg("no %u lines with %s in 60 s", n, word);
}

/* Both codecs once it was tried, not again every 10 ms, and at the end. */
static void
test_events(void **state)
{
    static const char sampled[] = "\"messages_sampled\":1,";
    struct what_if *what_if = play_start("gzip:1,snappy", 100, 10000);
    struct what_if_flow flow = {0};
    struct lane lane;

    (void)state;
    lane_init(&lane, NULL);
    what_if_flow_open(what_if, &flow, SIDE_SERVER, PLAY_PATH,
                      strlen(PLAY_PATH));
    play_pass_kind(what_if, &flow, PLAY_TEXT, 3000);
    collect_until(what_if, &lane, sampled, 2);
    usleep(50000);
    assert_int_equal(what_if_collect(what_if, &lane), 0);
    assert_int_equal(count_in(&lane, sampled), 2);
    assert_int_equal(count_in(&lane, "\"final\":true"), 0);
    what_if_finish(what_if);
    collect_until(what_if, &lane, "\"final\":true", 2);
    assert_int_equal(what_if_collect(what_if, &lane), 0);
    assert_int_equal(count_in(&lane, sampled), 4);
    assert_int_equal(count_in(&lane, "\"codec\":\"snappy\""),
                     count_in(&lane, "\"event\":\"what_if\"") / 2);
    lane_clear(&lane);
    what_if_free(what_if);
}

/* Nobody collects for a while: what is posted waits, and nothing is written
 * behind it.  Then it comes in pieces, every line whole. */
static void
test_events_wait(void **state)
{
    struct what_if *what_if = play_start("gzip:1,snappy", 100, 1000);
    struct lane lane;
    unsigned pieces = 1;

    (void)state;
    lane_init(&lane, NULL);
    for (unsigned i = 0; i < 200; i++) {
        struct what_if_flow flow = {0};
        char name[16];
        int len = snprintf(name, sizeof(name), "/%u", i);

        what_if_flow_open(what_if, &flow, SIDE_CLIENT, name, (size_t)len);
        play_pass_kind(what_if, &flow, PLAY_TEXT, 100);
    }
    for (int i = 0; i < 6000 && !atomic_load(&what_if->is_posted); i++) {
        usleep(10000);
    }
    assert_int_equal(atomic_load(&what_if->is_posted), 1);
    usleep(100000);
    assert_in_range(what_if->lane.len, 1, LANE_FLUSH + 4096);
    what_if_finish(what_if);
    while (what_if_collect(what_if, &lane) != 0) {
        pieces++;
    }
    assert_true(pieces > 4);
    assert_int_equal(count_in(&lane, "\"final\":true"), 400);
    assert_int_equal(count_in(&lane, "}\n{\"event\":\"what_if\""),
                     count_in(&lane, "\"event\":\"what_if\"") - 1);
    assert_int_equal(what_if->lane.len, 0);
    lane_clear(&lane);
    what_if_free(what_if);
}

/* Who is in a hurry waits for no message under way. */
static void
test_hurry(void **state)
{
    struct what_if *what_if = play_start("br:11", 100, 0);
    struct what_if_flow flow = {0};
    struct what_if_counts counts;
    uint64_t began_us;
    atomic_int hurry = 1;

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, PLAY_PATH,
                      strlen(PLAY_PATH));
    play_pass_kind(what_if, &flow, PLAY_TEXT, WHAT_IF_MESSAGE_MAX);
    what_if->config.hurry = &hurry;
    began_us = net_now_us();
    what_if_finish(what_if);
    assert_true(net_now_us() - began_us < 1000000);
    counts = what_if_entry_counts(flow.entry);
    expect_settled(&counts);
    assert_int_equal(counts.skipped[WHAT_IF_STOPPED], 1);
    what_if_free(what_if);
}

static void
test_unwanted(void **state)
{
    struct what_if *what_if = play_start("snappy", 100, 50000);
    struct what_if_flow flow = {0};

    (void)state;
    pthread_mutex_lock(&what_if->lock);
    what_if->config.wants_events = 0;
    pthread_mutex_unlock(&what_if->lock);
    what_if_flow_open(what_if, &flow, SIDE_SERVER, NULL, 0);
    play_pass_kind(what_if, &flow, PLAY_TEXT, 3000);
    play_wait_sampled(what_if, &flow, 1);
    what_if_finish(what_if);
    assert_int_equal(what_if->lane.len, 0);
    what_if_free(what_if);
}

/* ---- Workers --------------------------------------------------------- */

/* Workers in threads of their own, all at once, until the end. */
static void *
worker_main(void *arg)
{
    struct what_if *what_if = arg;

    for (unsigned i = 0; i < 2000; i++) {
        struct what_if_flow flow = {0};
        uint8_t data[300];
        char name[16];
        int len = snprintf(name, sizeof(name), "/%u", i % 40);

        memset(data, (int)i, sizeof(data));
        what_if_flow_open(what_if, &flow, (enum side)(i & 1), name,
                          (size_t)len);
        play_pass(what_if, &flow, data, i % sizeof(data), 100);
    }
    return NULL;
}

static void
test_threads(void **state)
{
    struct what_if *what_if = play_start("gzip:1,snappy", 100, 20000);
    struct what_if_entry *entry;
    pthread_t threads[4];
    uint64_t seen = 0;

    (void)state;
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, worker_main, what_if);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    what_if_finish(what_if);
    for (entry = atomic_load(&what_if->table.first); entry != NULL;
         entry = entry->next) {
        struct what_if_counts counts = what_if_entry_counts(entry);

        expect_settled(&counts);
        seen += counts.messages_seen;
    }
    assert_int_equal(seen, 8000);
    what_if_free(what_if);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_exact),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_grows_while_passing),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_finish_tries),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_events_wait),
        cmocka_unit_test(test_unwanted),
        cmocka_unit_test(test_threads),
        /* Last: they leave threads at work. */
        cmocka_unit_test(test_finish),
        cmocka_unit_test(test_hurry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
