/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the sink and of its output share: numbered lines, FIFOs,
 * readers, and a log to look into.  It becomes part of either program.
 */
#ifndef SINK_RIG_H
#define SINK_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../proxy/lane.h"
#include "../../proxy/log.h"
#include "../../proxy/sink.h"

/* dir is where a test keeps its files, log the sentences logged. */
static char dir[64];
static char log_path[96];

/* rooms and breaks count calls back. */
static atomic_int rooms;
static atomic_int breaks;

static inline void
on_room(void *user)
{
    (void)user;
    rooms++;
}

static inline void
on_broken(void *user)
{
    (void)user;
    breaks++;
}

static inline void
path_of(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", dir, name);
}

static inline void
pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* await waits until |*value| is |wanted|; ten seconds are never. */
static inline void
await(atomic_int *value, int wanted)
{
    for (int i = 0; i < 1000 && *value != wanted; i++)
        pause_ms(10);
    assert_int_equal(*value, wanted);
}

static inline void
await_drained(struct sink *sink)
{
    for (int i = 0; i < 1000 && sink_queued(sink) != 0; i++)
        pause_ms(10);
    assert_true(sink_queued(sink) == 0);
}

/* slurp returns the contents of a file, which the caller frees. */
static inline char *
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
static inline int
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

/* put writes a line of exactly |len| bytes: a number, dots.  Returns 1, or 0
 * when it was dropped. */
static inline int
put(struct lane *lane, enum event_kind kind, int number, size_t len)
{
    char head[32];

    if (!lane_begin(lane, kind))
        return 0;
    int n = snprintf(head, sizeof(head), "%d", number);
    lane_append(lane, head, (size_t)n);
    char *dots = lane_reserve(lane, len - (size_t)n - 1);
    assert_non_null(dots);
    memset(dots, '.', len - (size_t)n - 1);
    lane->len += len - (size_t)n - 1;
    lane_end(lane);
    return 1;
}

/* check_numbers asserts that |text| is whole lines of put, numbered from
 * |first| without a gap, and returns the number after the last. */
static inline int
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

/* rig_hurry is what sinks look at; see test_hurry. */
static atomic_int rig_hurry;

static inline struct sink *
open_sink(const char *path, size_t queue_max, int lossless)
{
    const struct sink_config config = {
        .path = path,
        .lossless = lossless,
        .queue_max = queue_max,
        .on_room = on_room,
        .on_broken = on_broken,
        .hurry = &rig_hurry,
    };

    return sink_open(&config);
}

/* make_fifo opens a FIFO for reading, so that a sink can open it. */
static inline int
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

static inline void *
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

static inline void
reader_start(struct reader *r, int fd)
{
    *r = (struct reader){.fd = fd};
    assert_int_equal(pthread_create(&r->thread, NULL, reader_run, r), 0);
}

static inline void
reader_join(struct reader *r)
{
    assert_int_equal(pthread_join(r->thread, NULL), 0);
    close(r->fd);
}

/* rig_setup gives each test an empty log. */
static inline int
rig_setup(void **state)
{
    (void)state;
    unlink(log_path);
    return log_setup(LOG_WARNING, log_path);
}

/* rig_begin makes the directory.  Returns 0 or -1. */
static inline int
rig_begin(void)
{
    snprintf(dir, sizeof(dir), "/tmp/test_sink.XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(log_path, sizeof(log_path), "%s/log", dir);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return 0;
}

/* rig_end removes it with what the tests have left in it. */
static inline void
rig_end(void)
{
    static const char *const left[] = {"log", "fifo", "old"};
    char path[128];

    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        path_of(path, left[i]);
        unlink(path);
    }
    rmdir(dir);
}

#endif
