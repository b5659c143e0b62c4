/* SPDX-License-Identifier: MIT */
/*
 * --what-if as a whole, without a tap: messages in, with the thread at work;
 * counts, figures, events and the table out.
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

#include "../../proxy/event_run.h"
#include "../../proxy/net.h"
#include "../../proxy/what_if_parts.h"
#include "../../proxy/what_if_tap.h"
#include "grpcframe_play.h"

#define KIB 1024u

static const char path[] = "/pkg.Service/Method";

static struct what_if *
start(const char *list, unsigned percent, uint64_t event_us)
{
    struct what_if_config config = {
        .cpu_percent = percent,
        .wants_events = 1,
        .event_us = event_us,
    };
    struct what_if *what_if;

    assert_null(what_if_list_parse(&config.list, list));
    what_if = what_if_new(&config);
    assert_non_null(what_if);
    return what_if;
}

/* Lets a message pass in pieces of |step| bytes. */
static void
pass(struct what_if *what_if, struct what_if_flow *flow, const uint8_t *data,
     size_t len, size_t step)
{
    struct what_if_message message = {
        .wire_bytes = len,
        .is_decoded = 1,
        .decoded_bytes = len,
    };

    for (size_t at = 0; at < len; at += step) {
        what_if_flow_take(what_if, flow, len, data + at,
                          len - at < step ? len - at : step);
    }
    what_if_flow_end(what_if, flow, &message);
}

static void
pass_kind(struct what_if *what_if, struct what_if_flow *flow,
          enum play_data kind, size_t len)
{
    struct vector_buf data = {0};

    play_make(&data, kind, len);
    pass(what_if, flow, data.data, len, 10000);
    vector_buf_clear(&data);
}

static struct what_if_counts
counts_of(struct what_if *what_if, const struct what_if_flow *flow)
{
    struct what_if_counts counts;

    pthread_mutex_lock(&what_if->lock);
    counts = what_if_entry_counts(flow->entry);
    pthread_mutex_unlock(&what_if->lock);
    return counts;
}

static void
wait_until_sampled(struct what_if *what_if, const struct what_if_flow *flow,
                   uint64_t n)
{
    for (int i = 0; i < 6000; i++) {
        if (counts_of(what_if, flow).sampled >= n) {
            return;
        }
        usleep(10000);
    }
    fail_msg("not tried in 60 s");
}

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
    struct what_if *what_if = start("gzip:9,deflate:9,zstd:3,br:5", 100, 0);
    struct what_if_flow flow = {0};
    uint64_t want[4] = {0};

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, path, strlen(path));
    for (size_t i = 0; i < 4; i++) {
        struct vector_buf data = {0};

        play_make(&data, PLAY_TEXT, lens[i]);
        pass(what_if, &flow, data.data, data.len, 1000);
        for (size_t k = 0; k < 3; k++) {
            struct vector_buf body = {0};

            play_encode(&body, names[k], &data);
            want[k] += body.len;
            vector_buf_clear(&body);
        }
        want[3] += brotli_len(5, &data);
        vector_buf_clear(&data);
    }
    wait_until_sampled(what_if, &flow, 4);
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
    struct what_if *what_if = start("snappy", 100, 0);
    const struct what_if_message damaged = {.wire_bytes = 10,
                                            .codec = GRPCFRAME_CODEC_GZIP};
    struct what_if_flow flow = {0};
    struct what_if_counts counts;

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_SERVER, path, strlen(path));
    pass_kind(what_if, &flow, PLAY_ZEROS, 0);
    pass_kind(what_if, &flow, PLAY_ZEROS, WHAT_IF_MESSAGE_MAX);
    wait_until_sampled(what_if, &flow, 1);
    pass_kind(what_if, &flow, PLAY_ZEROS, WHAT_IF_MESSAGE_MAX + 1);
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
    struct what_if *what_if = start("snappy", 100, 0);
    struct what_if_flow flow = {0};
    struct what_if_message message = {.wire_bytes = 100, .is_decoded = 1};
    static uint8_t piece[100 * KIB];

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, path, strlen(path));
    for (unsigned n = 40; n <= 41; n++) {
        message.decoded_bytes = n * sizeof(piece);
        for (unsigned i = 0; i < n; i++) {
            what_if_flow_take(what_if, &flow, 100, piece, sizeof(piece));
        }
        what_if_flow_end(what_if, &flow, &message);
        wait_until_sampled(what_if, &flow, 1);
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
    struct what_if *what_if = start("br:11", 5, 0);
    uint64_t began_us = net_now_us();
    struct what_if_flow flow = {0};
    uint64_t passed_ns;

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, path, strlen(path));
    while (net_now_us() - began_us < 1500000) {
        pass_kind(what_if, &flow, PLAY_TEXT, 2000);
        usleep(1000);
    }
    pthread_mutex_lock(&what_if->lock);
    passed_ns = (net_now_us() - began_us) * 1000;
    /* What the message under way uses is seen when it ends. */
    assert_true(what_if->spent_ns < passed_ns / 20 + WHAT_IF_BURST_NS +
                                        UINT64_C(100000000));
    pthread_mutex_unlock(&what_if->lock);
    assert_true(counts_of(what_if, &flow).sampled > 0);
    assert_true(counts_of(what_if, &flow).skipped[WHAT_IF_BUSY] > 0);
    what_if_free(what_if);
}

/* The end comes in bounded time: what was not tried is counted. */
static void
finish_within(const char *list, unsigned n, size_t len, uint64_t most_us)
{
    struct what_if *what_if = start(list, 1, 0);
    struct what_if_flow flow = {0};
    struct what_if_counts counts;
    uint64_t began_us;

    what_if_flow_open(what_if, &flow, SIDE_CLIENT, path, strlen(path));
    for (unsigned i = 0; i < n; i++) {
        pass_kind(what_if, &flow, PLAY_TEXT, len);
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
        struct what_if *what_if = start("snappy", 100, 0);
        struct what_if_flow flow = {0};
        struct what_if_counts counts;

        usleep(20000);
        what_if_flow_open(what_if, &flow, SIDE_CLIENT, path, strlen(path));
        pass_kind(what_if, &flow, PLAY_TEXT, 1000);
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

/* How often |word| stands in the lane. */
static unsigned
count_in_lane(struct what_if *what_if, const char *word)
{
    const char *at = what_if->lane.data;
    const char *end = at + what_if->lane.len;
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

static void
test_events(void **state)
{
    struct what_if *what_if = start("gzip:1,snappy", 100, 50000);
    struct what_if_flow flow = {0};
    unsigned before;

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_SERVER, path, strlen(path));
    pass_kind(what_if, &flow, PLAY_TEXT, 3000);
    wait_until_sampled(what_if, &flow, 1);
    usleep(500000);
    pthread_mutex_lock(&what_if->lock);
    before = count_in_lane(what_if, "\"event\":\"what_if\"");
    pthread_mutex_unlock(&what_if->lock);
    /* Both codecs, perhaps before and certainly after it was tried; and not
     * again every 50 ms. */
    assert_true(before == 2 || before == 4);
    assert_int_equal(count_in_lane(what_if, "\"final\":true"), 0);
    what_if_finish(what_if);
    assert_int_equal(count_in_lane(what_if, "\"final\":true"), 2);
    assert_int_equal(count_in_lane(what_if, "\"event\":\"what_if\""),
                     before + 2);
    assert_int_equal(count_in_lane(what_if, "\"codec\":\"snappy\""),
                     (before + 2) / 2);
    what_if_free(what_if);
}

static void
test_unwanted(void **state)
{
    struct what_if *what_if = start("snappy", 100, 50000);
    struct what_if_flow flow = {0};

    (void)state;
    pthread_mutex_lock(&what_if->lock);
    what_if->config.wants_events = 0;
    pthread_mutex_unlock(&what_if->lock);
    what_if_flow_open(what_if, &flow, SIDE_SERVER, NULL, 0);
    pass_kind(what_if, &flow, PLAY_TEXT, 3000);
    wait_until_sampled(what_if, &flow, 1);
    what_if_finish(what_if);
    assert_int_equal(what_if->lane.len, 0);
    what_if_free(what_if);
}

/* ---- The table ------------------------------------------------------- */

static void
expect_table(struct what_if *what_if, const char *const *want, size_t n)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);

    what_if_finish(what_if);
    what_if_print(what_if, file);
    fclose(file);
    for (size_t i = 0; i < n; i++) {
        if (strstr(text, want[i]) == NULL) {
            fail_msg("\"%s\" is not in:\n%s", want[i], text);
        }
    }
    free(text);
    what_if_free(what_if);
}

static void
test_advice(void **state)
{
    static const char *const want[] = {
        "pays_below  method\n",
        "now:plain",
        "/pkg.Service/Method\n",
        "    gzip:6 saves 89.4 %",
        " and pays below ",
        "bit/s; messages up to 20 bytes grow\n",
    };
    struct what_if *what_if = start("gzip:6", 100, 0);
    struct what_if_flow flow = {0};

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, path, strlen(path));
    pass_kind(what_if, &flow, PLAY_TEXT, 20);
    pass_kind(what_if, &flow, PLAY_TEXT, 100000);
    wait_until_sampled(what_if, &flow, 2);
    expect_table(what_if, want, sizeof(want) / sizeof(want[0]));
}

/* One long message that grows does not make short ones grow. */
static void
test_advice_mixed(void **state)
{
    static const char *const want[] = {"; 1 of 11 messages grow\n"};
    struct what_if *what_if = start("gzip:6", 100, 0);
    struct what_if_flow flow = {0};

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, path, strlen(path));
    for (int i = 0; i < 10; i++) {
        pass_kind(what_if, &flow, PLAY_TEXT, 3000);
    }
    pass_kind(what_if, &flow, PLAY_RANDOM, 20000);
    wait_until_sampled(what_if, &flow, 11);
    expect_table(what_if, want, sizeof(want) / sizeof(want[0]));
}

static void
test_advice_against(void **state)
{
    static const char *const want[] = {
        "leave it plain: no codec of the list makes these messages shorter\n",
        "nothing could be tried: no advice\n",
        "  now:gzip:?  ",
        "/a\\x1b[1m\n",
    };
    static const struct what_if_message seen = {
        .wire_bytes = 9,
        .codec = GRPCFRAME_CODEC_GZIP,
        .is_decoded = 1,
        .decoded_bytes = WHAT_IF_MESSAGE_MAX + 1,
    };
    struct what_if *what_if = start("gzip:6,snappy", 100, 0);
    struct what_if_flow plain = {0};
    struct what_if_flow large = {0};

    (void)state;
    what_if_flow_open(what_if, &plain, SIDE_CLIENT, path, strlen(path));
    pass_kind(what_if, &plain, PLAY_RANDOM, 5000);
    wait_until_sampled(what_if, &plain, 1);
    what_if_flow_open(what_if, &large, SIDE_CLIENT, "/a\x1b[1m", 6);
    what_if_flow_take(what_if, &large, WHAT_IF_MESSAGE_MAX + 1,
                      (const uint8_t *)"", 1);
    what_if_flow_end(what_if, &large, &seen);
    expect_table(what_if, want, sizeof(want) / sizeof(want[0]));
}

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
        pass(what_if, &flow, data, i % sizeof(data), 100);
    }
    return NULL;
}

static void
test_threads(void **state)
{
    struct what_if *what_if = start("gzip:1,snappy", 100, 20000);
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
        cmocka_unit_test(test_unwanted),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_advice_mixed),
        cmocka_unit_test(test_advice_against),
        cmocka_unit_test(test_threads),
        /* Last: it leaves a thread at work. */
        cmocka_unit_test(test_finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
