/* SPDX-License-Identifier: MIT */
/* The sink with real pipes and threads: order, fullness, and readers that are
 * slow or go away.  Files and full disks are test_output.c's. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "sink_rig.h"

#include <limits.h>

/* test_file: lines of every size arrive whole and in order. */
static void
test_file(void **state)
{
    char path[128];
    struct lane lane;
    size_t len;

    (void)state;
    path_of(path, "out");
    struct sink *sink = open_sink(path, 0, 0);
    assert_non_null(sink);
    lane_init(&lane, sink);
    for (int i = 0; i < 3000; i++) {
        put(&lane, EVENT_CALL, i, 10 + (size_t)i * 7 % 5000);
        if (i % 3 == 0)
            lane_flush(&lane);
    }
    put(&lane, EVENT_CALL, 3000, 1 << 20);
    lane_flush(&lane);
    assert_int_equal(sink_close(sink), 0);
    lane_clear(&lane);
    char *text = slurp(path, &len);
    assert_int_equal(check_numbers(text, 0), 3001);
    free(text);
    unlink(path);
    assert_int_equal(logged("grpctap"), 0);
}

/* test_long_lines: longer than a pipe takes at once, and than a block. */
static void
test_long_lines(void **state)
{
    char path[128];
    struct lane lane;
    struct reader reader;

    (void)state;
    int fd = make_fifo(path);
    struct sink *sink = open_sink(path, 0, 0);
    reader_start(&reader, fd);
    lane_init(&lane, sink);
    for (int i = 0; i < 200; i++)
        put(&lane, EVENT_CALL, i,
            i % 10 == 0 ? 100000 : PIPE_BUF - 3 + (size_t)i % 7);
    lane_flush(&lane);
    assert_int_equal(sink_close(sink), 0);
    lane_clear(&lane);
    reader_join(&reader);
    assert_int_equal(check_numbers(reader.text, 0), 200);
    free(reader.text);
}

/* test_full: nothing is read; whole events are dropped and counted exactly,
 * vital ones are not, and what was written arrives. */
static void
test_full(void **state)
{
    char path[128];
    struct lane lane;
    struct reader reader;

    (void)state;
    rooms = 0;
    int fd = make_fifo(path);
    struct sink *sink = open_sink(path, 256 << 10, 0);
    lane_init(&lane, sink);
    int vital = 0;
    uint64_t written = 0;
    for (int i = 0; i < 10000; i++) {
        written += (uint64_t)put(
            &lane, i % 2 == 0 ? EVENT_CALL : EVENT_MESSAGE, i, 100);
        lane_flush(&lane);
    }
    assert_true(sink_is_full(sink));
    assert_int_equal(sink_fill(sink, 192 << 10), 75);
    assert_in_range(sink_fill(sink, sink_queued(sink)), 60, 101);
    assert_int_equal(lane_has_dropped(&lane), 0);
    assert_true(lane_begin(&lane, EVENT_STOP));
    lane_append(&lane, "vital", 5);
    lane_end(&lane);
    lane_flush(&lane);
    uint64_t dropped = lane.dropped[EVENT_CALL] + lane.dropped[EVENT_MESSAGE];
    assert_true(written >= (256 << 10) / 100 && written < 4500);
    assert_true(written + dropped == 10000);
    assert_true(lane_dropped_total(&lane) == dropped);
    assert_int_equal(rooms, 0);
    reader_start(&reader, fd);
    await(&rooms, 1);
    assert_false(sink_is_full(sink));
    assert_int_equal(lane_has_dropped(&lane), 1);
    assert_int_equal(sink_close(sink), 0);
    lane_clear(&lane);
    reader_join(&reader);
    for (const char *p = reader.text; (p = strstr(p, "vital\n")) != NULL; p++)
        vital++;
    assert_int_equal(vital, 1);
    assert_true(reader.len == written * 100 + 6);
    reader.text[written * 100] = '\0';
    assert_int_equal(check_numbers(reader.text, 0), written);
    free(reader.text);
}

/* test_lossless: full says so until half is read, but nothing is dropped. */
static void
test_lossless(void **state)
{
    char path[128];
    struct lane lane;
    struct reader reader;
    char text[30001] = "";

    (void)state;
    rooms = 0;
    int fd = make_fifo(path);
    struct sink *sink = open_sink(path, 128 << 10, 1);
    lane_init(&lane, sink);
    for (int i = 0; i < 2200; i++) {
        put(&lane, EVENT_CALL, i, 100);
        lane_flush(&lane);
    }
    assert_true(sink_is_full(sink));
    assert_true(lane_dropped_total(&lane) == 0);
    for (size_t len = 0; len < 30000;) {
        ssize_t n = read(fd, text + len, 30000 - len);
        assert_true(n > 0);
        len += (size_t)n;
    }
    assert_int_equal(check_numbers(text, 0), 300);
    pause_ms(50);
    assert_true(sink_is_full(sink));
    assert_int_equal(rooms, 0);
    reader_start(&reader, fd);
    await(&rooms, 1);
    assert_int_equal(sink_close(sink), 0);
    lane_clear(&lane);
    reader_join(&reader);
    assert_int_equal(check_numbers(reader.text, 300), 2200);
    free(reader.text);
}

/* test_lift_bound: at the end of a run a full queue takes what is left, first
 * of all the report of what was dropped. */
static void
test_lift_bound(void **state)
{
    char path[128];
    struct lane lane;
    struct reader reader;

    (void)state;
    int fd = make_fifo(path);
    struct sink *sink = open_sink(path, 128 << 10, 0);
    lane_init(&lane, sink);
    int n = 0;
    while (lane_dropped_total(&lane) == 0) {
        n += put(&lane, EVENT_CALL, n, 100);
        lane_flush(&lane);
    }
    assert_int_equal(lane_has_dropped(&lane), 0);
    sink_lift_bound(sink);
    assert_int_equal(lane_has_dropped(&lane), 1);
    for (int i = 0; i < 5000; i++) {
        n += put(&lane, EVENT_CALL, n, 100);
        lane_flush(&lane);
    }
    assert_true(lane_dropped_total(&lane) == 1);
    reader_start(&reader, fd);
    assert_int_equal(sink_close(sink), 0);
    reader_join(&reader);
    assert_int_equal(check_numbers(reader.text, 0), n);
    free(reader.text);
    lane_clear(&lane);
}

/* test_reader_gone: EPIPE is the end, told once. */
static void
test_reader_gone(void **state)
{
    char path[128];
    struct lane lane;

    (void)state;
    breaks = 0;
    int fd = make_fifo(path);
    struct sink *sink = open_sink(path, 0, 0);
    lane_init(&lane, sink);
    put(&lane, EVENT_START, 0, 10);
    lane_flush(&lane);
    await_drained(sink);
    close(fd);
    put(&lane, EVENT_CALL, 1, 10);
    lane_flush(&lane);
    await(&breaks, 1);
    put(&lane, EVENT_CALL, 2, 10);
    lane_flush(&lane);
    assert_int_equal(sink_close(sink), -1);
    lane_clear(&lane);
    assert_int_equal(breaks, 1);
    assert_int_equal(logged("fifo: Broken pipe"), 1);
    assert_int_equal(logged("grpctap: "), 1);
}

/* test_hurry: a reader that takes nothing does not hold a close in a hurry,
 * and finds whole lines when it comes back. */
static void
test_hurry(void **state)
{
    char path[128];
    struct lane lane;
    struct timespec start, end;

    (void)state;
    int fd = make_fifo(path);
    struct sink *sink = open_sink(path, 0, 0);
    lane_init(&lane, sink);
    for (int i = 0; i < 5000; i++)
        put(&lane, EVENT_CALL, i, 101);
    lane_flush(&lane);
    /* Until the pipe is full and the thread waits in its write. */
    for (int i = 0; i < 1000 && sink_queued(sink) > 5000 * 101 - 60000; i++)
        pause_ms(10);
    pause_ms(20);
    rig_hurry = 1;
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(sink_close(sink), -1);
    clock_gettime(CLOCK_MONOTONIC, &end);
    rig_hurry = 0;
    lane_clear(&lane);
    assert_true(end.tv_sec - start.tv_sec <= 1);
    assert_int_equal(logged("fifo takes no more: "), 1);
    /* The thread is still in its write; what is in the pipe by now: */
    char text[70000];
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    ssize_t n = read(fd, text, sizeof(text) - 1);
    assert_true(n > 60000 && n % 101 == 0);
    /* It has room again, ends by itself and frees the sink. */
    pause_ms(100);
    close(fd);
}

/* struct writer is one of several lanes. */
struct writer {
    pthread_t thread;
    struct sink *sink;
    int first;
};

static void *
writer_run(void *arg)
{
    const struct writer *w = arg;
    struct lane lane;

    lane_init(&lane, w->sink);
    for (int i = 0; i < 10000; i++) {
        put(&lane, EVENT_CALL, w->first + i, 20 + (size_t)i % 90);
        if (i % 5 == 0)
            lane_flush(&lane);
    }
    lane_flush(&lane);
    lane_clear(&lane);
    return NULL;
}

/* test_lanes: lines of several threads mix, but each keeps its order. */
static void
test_lanes(void **state)
{
    char path[128];
    struct writer writers[4];
    int next[4] = {0};
    size_t len;

    (void)state;
    path_of(path, "lanes");
    struct sink *sink = open_sink(path, 0, 0);
    for (int i = 0; i < 4; i++) {
        writers[i] = (struct writer){.sink = sink, .first = i * 100000};
        pthread_create(&writers[i].thread, NULL, writer_run, &writers[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(writers[i].thread, NULL);
    assert_int_equal(sink_close(sink), 0);
    char *text = slurp(path, &len);
    for (char *p = text; *p != '\0';) {
        long number = strtol(p, &p, 10);
        p += strspn(p, ".");
        assert_int_equal(*p++, '\n');
        assert_int_equal(number % 100000, next[number / 100000]++);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(next[i], 10000);
    free(text);
    unlink(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_file, rig_setup),
        cmocka_unit_test_setup(test_long_lines, rig_setup),
        cmocka_unit_test_setup(test_full, rig_setup),
        cmocka_unit_test_setup(test_lossless, rig_setup),
        cmocka_unit_test_setup(test_lift_bound, rig_setup),
        cmocka_unit_test_setup(test_reader_gone, rig_setup),
        cmocka_unit_test_setup(test_hurry, rig_setup),
        cmocka_unit_test_setup(test_lanes, rig_setup),
    };

    if (rig_begin() != 0)
        return 1;
    int failed = cmocka_run_group_tests_name("sink", tests, NULL, NULL);
    rig_end();
    return failed;
}
