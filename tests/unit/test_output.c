/* SPDX-License-Identifier: MIT */
/* The sink with real files: disks that are full, first writes that fail,
 * rotation.  A file size limit stands for a full disk; a really full one is
 * tests/e2e/cli_full_disk.sh's. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "sink_rig.h"

#include <sys/resource.h>

/* test_torn_line: what a killed program left does not swallow our first. */
static void
test_torn_line(void **state)
{
    char path[128];
    struct lane lane;
    size_t len;

    (void)state;
    path_of(path, "torn");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("whole\nhalf", file);
    fclose(file);
    for (int i = 0; i < 2; i++) {
        struct sink *sink = open_sink(path, 0, 0);
        lane_init(&lane, sink);
        put(&lane, EVENT_START, i, 5);
        lane_flush(&lane);
        assert_int_equal(sink_close(sink), 0);
        lane_clear(&lane);
    }
    char *text = slurp(path, &len);
    assert_string_equal(text, "whole\nhalf\n0...\n1...\n");
    free(text);
    unlink(path);
}

/* test_first_write: an output that never worked is the end, too. */
static void
test_first_write(void **state)
{
    struct lane lane;

    (void)state;
    breaks = 0;
    struct sink *sink = open_sink("/dev/full", 0, 0);
    lane_init(&lane, sink);
    put(&lane, EVENT_START, 0, 10);
    lane_flush(&lane);
    await(&breaks, 1);
    assert_int_equal(sink_close(sink), -1);
    lane_clear(&lane);
    assert_int_equal(
        logged("cannot write to /dev/full: No space left on device\n"), 1);
    assert_null(open_sink("/no/such/file", 0, 0));
    assert_int_equal(
        logged("cannot open /no/such/file: No such file or directory\n"), 1);
}

static void
limit_files(rlim_t size)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* fill_disk runs |sink| (the file at |path|) into a limit of 1030 bytes, which
 * cuts the eleventh line of 100, and out of it again. */
static void
fill_disk(struct sink *sink, const char *path)
{
    struct lane lane;
    struct stat st;
    int before = logged("can be written again");

    lane_init(&lane, sink);
    put(&lane, EVENT_START, 0, 100);
    lane_flush(&lane);
    await_drained(sink);
    limit_files(1030);
    for (int i = 1; i < 50; i++)
        put(&lane, EVENT_CALL, i, 100);
    lane_flush(&lane);
    for (int i = 0; i < 300 && sink_queued(sink) > 4000; i++)
        pause_ms(10);
    assert_true(sink_queued(sink) == 4000);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 1000);
    pause_ms(SINK_RETRY_MS * 3 / 2);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 1000);
    limit_files(RLIM_INFINITY);
    await_drained(sink);
    assert_int_equal(logged("can be written again"), before + 1);
    put(&lane, EVENT_CALL, 50, 100);
    lane_flush(&lane);
    await_drained(sink);
    lane_clear(&lane);
}

/* test_disk_full: never half a line, and all lines once there is room. */
static void
test_disk_full(void **state)
{
    char path[128];
    size_t len;

    (void)state;
    breaks = 0;
    path_of(path, "disk");
    struct sink *sink = open_sink(path, 0, 0);
    fill_disk(sink, path);
    assert_int_equal(sink_close(sink), -1);
    assert_int_equal(breaks, 0);
    assert_int_equal(logged("disk: File too large; events wait"), 1);
    char *text = slurp(path, &len);
    assert_int_equal(check_numbers(text, 0), 51);
    free(text);
    unlink(path);
}

/* test_disk_full_redirected: the same with standard output, without
 * O_APPEND, where the offset has to go back as well. */
static void
test_disk_full_redirected(void **state)
{
    char path[128];
    size_t len;

    (void)state;
    path_of(path, "redirected");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    fflush(stdout);
    int old = dup(STDOUT_FILENO);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    struct sink *sink = open_sink(NULL, 0, 0);
    fill_disk(sink, path);
    int result = sink_close(sink);
    dup2(old, STDOUT_FILENO);
    close(old);
    assert_int_equal(result, -1);
    assert_int_equal(logged("standard output: File too large"), 1);
    char *text = slurp(path, &len);
    assert_int_equal(check_numbers(text, 0), 51);
    free(text);
    unlink(path);
}

/* test_disk_stays_full: the end comes at once and names the loss. */
static void
test_disk_stays_full(void **state)
{
    char path[128];
    struct lane lane;
    size_t len;

    (void)state;
    path_of(path, "disk");
    struct sink *sink = open_sink(path, 0, 0);
    lane_init(&lane, sink);
    put(&lane, EVENT_START, 0, 100);
    lane_flush(&lane);
    await_drained(sink);
    limit_files(250);
    for (int i = 1; i < 10; i++)
        put(&lane, EVENT_CALL, i, 100);
    lane_flush(&lane);
    assert_int_equal(sink_close(sink), -1);
    limit_files(RLIM_INFINITY);
    lane_clear(&lane);
    assert_int_equal(logged("8 events were not written to "), 1);
    char *text = slurp(path, &len);
    assert_int_equal(check_numbers(text, 0), 2);
    free(text);
    unlink(path);
}

/* test_shared_file: behind a half line of ours stand another's bytes, which
 * must not be cut off; the line is completed instead. */
static void
test_shared_file(void **state)
{
    char path[128];
    struct lane lane;
    size_t len;

    (void)state;
    path_of(path, "shared");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 40; i++)
        fputs("another's.....24 bytes.\n", file);
    fclose(file);
    int fd = open(path, O_WRONLY);
    fflush(stdout);
    int old = dup(STDOUT_FILENO);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    struct sink *sink = open_sink(NULL, 0, 0);
    lane_init(&lane, sink);
    put(&lane, EVENT_START, 0, 24);
    lane_flush(&lane);
    await_drained(sink);
    limit_files(60);
    put(&lane, EVENT_CALL, 1, 24);
    put(&lane, EVENT_CALL, 2, 24);
    lane_flush(&lane);
    pause_ms(200);
    limit_files(RLIM_INFINITY);
    await_drained(sink);
    int result = sink_close(sink);
    dup2(old, STDOUT_FILENO);
    close(old);
    lane_clear(&lane);
    assert_int_equal(result, -1);
    char *text = slurp(path, &len);
    assert_int_equal(len, 960);
    char *rest = strstr(text, "another");
    assert_int_equal(rest - text, 72);
    *rest = '\0';
    assert_int_equal(check_numbers(text, 0), 3);
    free(text);
    unlink(path);
}

/* test_reopen: rotation under load loses nothing; a rotation that cannot be
 * stays in the old file and says so. */
static void
test_reopen(void **state)
{
    char path[128], old[128], sub[128];
    struct lane lane;
    size_t len;

    (void)state;
    path_of(sub, "sub");
    path_of(path, "sub/out");
    path_of(old, "old");
    assert_int_equal(mkdir(sub, 0700), 0);
    struct sink *sink = open_sink(path, 0, 0);
    lane_init(&lane, sink);
    for (int i = 0; i < 20000; i++) {
        put(&lane, EVENT_CALL, i, 100);
        lane_flush(&lane);
        if (i == 0)
            await_drained(sink);
        if (i == 5000) {
            assert_int_equal(rename(path, old), 0);
            sink_reopen(sink);
        }
    }
    await_drained(sink);
    assert_int_equal(access(path, F_OK), 0);
    char *first = slurp(old, &len);
    int next = check_numbers(first, 0);
    free(first);
    /* The directory moves: the file cannot be made anew. */
    path_of(old, "moved");
    assert_int_equal(rename(sub, old), 0);
    sink_reopen(sink);
    put(&lane, EVENT_CALL, 20000, 100);
    lane_flush(&lane);
    assert_int_equal(sink_close(sink), 0);
    lane_clear(&lane);
    assert_int_equal(
        logged("sub/out: No such file or directory; going on in the old"), 1);
    path_of(path, "moved/out");
    char *second = slurp(path, &len);
    assert_true(next > 0 && next < 20000);
    assert_int_equal(check_numbers(second, next), 20001);
    free(second);
    unlink(path);
    rmdir(old);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_torn_line, rig_setup),
        cmocka_unit_test_setup(test_first_write, rig_setup),
        cmocka_unit_test_setup(test_disk_full, rig_setup),
        cmocka_unit_test_setup(test_disk_full_redirected, rig_setup),
        cmocka_unit_test_setup(test_disk_stays_full, rig_setup),
        cmocka_unit_test_setup(test_shared_file, rig_setup),
        cmocka_unit_test_setup(test_reopen, rig_setup),
    };

    if (rig_begin() != 0)
        return 1;
    int failed = cmocka_run_group_tests_name("output", tests, NULL, NULL);
    rig_end();
    return failed;
}
