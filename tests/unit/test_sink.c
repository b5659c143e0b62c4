/* SPDX-License-Identifier: MIT */
/* The sink with real files, pipes and threads: order, fullness, failing disks,
 * readers that go away, rotation.  A file size limit stands for a full disk;
 * a really full one is tests/e2e/cli_full_disk.sh's. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lane.h"
#include "log.h"
#include "sink.h"

/* dir is where a test keeps its files, log the sentences logged. */
static char dir[64];
static char log_path[96];

/* rooms and breaks count calls back. */
static atomic_int rooms;
static atomic_int breaks;

static void
on_room(void *user)
{
    (void)user;
    rooms++;
}

static void
on_broken(void *user)
{
    (void)user;
    breaks++;
}

static void
path_of(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", dir, name);
}

static void
pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* await waits until |*value| is |wanted|; ten seconds are never. */
static void
await(atomic_int *value, int wanted)
{
    for (int i = 0; i < 1000 && *value != wanted; i++)
        pause_ms(10);
    assert_int_equal(*value, wanted);
}

static void
await_drained(struct sink *sink)
{
    for (int i = 0; i < 1000 && sink_queued(sink) != 0; i++)
        pause_ms(10);
    assert_true(sink_queued(sink) == 0);
}

/* slurp returns the contents of a file, which the caller frees. */
static char *
slurp(const char *path, size_t *len)
{
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    *len = fread(text, 1, (size_t)size, file);
    text[*len] = '\0';
    fclose(file);
    return text;
}

/* logged returns how often |sentence| is in the log. */
static int
logged(const char *sentence)
{
    size_t len;
    char *text = slurp(log_path, &len);
    int n = 0;

    for (const char *p = text; (p = strstr(p, sentence)) != NULL; p++)
        n++;
    free(text);
    return n;
}

/* put writes a line of exactly |len| bytes: a letter, a number, dots. */
static void
put(struct lane *lane, enum event_kind kind, int number, size_t len)
{
    char head[32];

    if (!lane_begin(lane, kind))
        return;
    int n = snprintf(head, sizeof(head), "%d", number);
    lane_append(lane, head, (size_t)n);
    char *dots = lane_reserve(lane, len - (size_t)n - 1);
    assert_non_null(dots);
    memset(dots, '.', len - (size_t)n - 1);
    lane->len += len - (size_t)n - 1;
    lane_end(lane);
}

/* check_numbers asserts that |text| is whole lines of put, numbered from
 * |first| without a gap, and returns the number after the last. */
static int
check_numbers(const char *text, int first)
{
    while (*text != '\0') {
        char *end;
        assert_int_equal(strtol(text, &end, 10), first);
        end += strspn(end, ".");
        assert_int_equal(*end, '\n');
        text = end + 1;
        first++;
    }
    return first;
}

static struct sink *
open_sink(const char *path, size_t queue_max, int lossless)
{
    const struct sink_config config = {
        .path = path,
        .lossless = lossless,
        .queue_max = queue_max,
        .on_room = on_room,
        .on_broken = on_broken,
    };

    return sink_open(&config);
}

/* make_fifo opens a FIFO for reading, so that a sink can open it. */
static int
make_fifo(char path[128])
{
    path_of(path, "fifo");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
    return fd;
}

/* struct reader drains a descriptor in a thread. */
struct reader {
    pthread_t thread;
    int fd;
    char *text;
    size_t len;
};

static void *
reader_run(void *arg)
{
    struct reader *r = arg;
    size_t cap = 0;

    for (;;) {
        if (cap - r->len < 65537) {
            cap = cap * 2 + 131072;
            r->text = realloc(r->text, cap);
        }
        ssize_t n = read(r->fd, r->text + r->len, 65536);
        if (n <= 0)
            break;
        r->len += (size_t)n;
    }
    r->text[r->len] = '\0';
    return NULL;
}

static void
reader_start(struct reader *r, int fd)
{
    *r = (struct reader){.fd = fd};
    assert_int_equal(pthread_create(&r->thread, NULL, reader_run, r), 0);
}

static void
reader_join(struct reader *r)
{
    assert_int_equal(pthread_join(r->thread, NULL), 0);
    close(r->fd);
}

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
    assert_true(lane.written[EVENT_CALL] == 3001);
    assert_int_equal(sink_close(sink), 0);
    lane_clear(&lane);
    char *text = slurp(path, &len);
    assert_int_equal(check_numbers(text, 0), 3001);
    free(text);
    unlink(path);
    assert_int_equal(logged("grpctap"), 0);
}

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
    for (int i = 0; i < 10000; i++) {
        put(&lane, i % 2 == 0 ? EVENT_CALL : EVENT_MESSAGE, i, 100);
        lane_flush(&lane);
    }
    assert_true(sink_is_full(sink));
    assert_int_equal(lane_has_dropped(&lane), 0);
    assert_true(lane_begin(&lane, EVENT_STOP));
    lane_append(&lane, "vital", 5);
    lane_end(&lane);
    lane_flush(&lane);
    uint64_t written = lane.written[EVENT_CALL] + lane.written[EVENT_MESSAGE];
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

/* test_lossless: full says so, but nothing is dropped. */
static void
test_lossless(void **state)
{
    char path[128];
    struct lane lane;
    struct reader reader;

    (void)state;
    rooms = 0;
    int fd = make_fifo(path);
    struct sink *sink = open_sink(path, 128 << 10, 1);
    lane_init(&lane, sink);
    for (int i = 0; i < 5000; i++) {
        put(&lane, EVENT_CALL, i, 100);
        lane_flush(&lane);
    }
    assert_true(sink_is_full(sink));
    assert_true(lane_dropped_total(&lane) == 0);
    reader_start(&reader, fd);
    await(&rooms, 1);
    assert_int_equal(sink_close(sink), 0);
    lane_clear(&lane);
    reader_join(&reader);
    assert_int_equal(check_numbers(reader.text, 0), 5000);
    free(reader.text);
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
    sink_hurry(sink);
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(sink_close(sink), -1);
    clock_gettime(CLOCK_MONOTONIC, &end);
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

static int
setup(void **state)
{
    (void)state;
    unlink(log_path);
    return log_setup(LOG_WARNING, log_path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_file, setup),
        cmocka_unit_test_setup(test_torn_line, setup),
        cmocka_unit_test_setup(test_long_lines, setup),
        cmocka_unit_test_setup(test_full, setup),
        cmocka_unit_test_setup(test_lossless, setup),
        cmocka_unit_test_setup(test_reader_gone, setup),
        cmocka_unit_test_setup(test_first_write, setup),
        cmocka_unit_test_setup(test_disk_full, setup),
        cmocka_unit_test_setup(test_disk_full_redirected, setup),
        cmocka_unit_test_setup(test_disk_stays_full, setup),
        cmocka_unit_test_setup(test_shared_file, setup),
        cmocka_unit_test_setup(test_reopen, setup),
        cmocka_unit_test_setup(test_lanes, setup),
        cmocka_unit_test_setup(test_hurry, setup),
    };

    snprintf(dir, sizeof(dir), "/tmp/test_sink.XXXXXX");
    if (mkdtemp(dir) == NULL)
        return 1;
    snprintf(log_path, sizeof(log_path), "%s/log", dir);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int failed = cmocka_run_group_tests_name("sink", tests, NULL, NULL);
    static const char *const left[] = {"log", "fifo", "old"};
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        char path[128];
        path_of(path, left[i]);
        unlink(path);
    }
    rmdir(dir);
    return failed;
}
