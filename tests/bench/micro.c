/* SPDX-License-Identifier: MIT */
/*
 * Owns the command line, the rounds and the output of the microbenches.  What
 * is measured is in micro_*.c.
 */
#include "micro.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void
micro_check(int is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "microbench: %s\n", what);
        exit(1);
    }
}

void *
micro_alloc(size_t len)
{
    void *memory = malloc(len);

    micro_check(memory != NULL, "out of memory");
    return memory;
}

void
micro_buf_add(struct micro_buf *buf, const void *data, size_t len)
{
    if (buf->cap - buf->len < len) {
        buf->cap = 2 * (buf->len + len);
        buf->data = realloc(buf->data, buf->cap);
        micro_check(buf->data != NULL, "out of memory");
    }
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
}

void
micro_text(struct micro_buf *buf, size_t len)
{
    static const char *const words[] = {"alpha", "bravo", "charlie", "delta",
                                        "echo",  "golf",  "hotel",   "india"};
    size_t end = buf->len + len;
    uint32_t state = 1;

    while (buf->len < end) {
        char record[128];
        int n;

        state = state * 1664525u + 1013904223u;
        n = snprintf(record, sizeof(record),
                     "{\"id\":%u,\"name\":\"%s %s\",\"ok\":%s},", state >> 12,
                     words[state >> 29], words[state >> 9 & 7],
                     state >> 20 & 1 ? "true" : "false");
        micro_buf_add(buf, record, (size_t)n);
    }
    buf->len = end;
}

/* ---- The command line ------------------------------------------------- */

static unsigned
number(const char *text, unsigned long max)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value == 0 ||
        value > max) {
        fprintf(stderr, "microbench: not a number up to %lu: %s\n", max, text);
        exit(2);
    }
    return (unsigned)value;
}

struct micro_options
micro_options_parse(int argc, char **argv)
{
    static const struct option names[] = {
        {"rounds", required_argument, NULL, 'r'},
        {"ms", required_argument, NULL, 'm'},
        {"only", required_argument, NULL, 'o'},
        {NULL, 0, NULL, 0}};
    struct micro_options options = {5, 200, NULL, NULL};
    int option;

    for (;;) {
        option = getopt_long(argc, argv, "", names, NULL);
        if (option == -1)
            break;
        else if (option == 'r')
            options.rounds = number(optarg, MICRO_ROUNDS_MAX);
        else if (option == 'm')
            options.ms = number(optarg, 3600000);
        else if (option == 'o')
            options.only = optarg;
        else
            exit(2);
    }
    options.file = optind < argc ? argv[optind] : NULL;
    return options;
}

/* ---- The rounds ------------------------------------------------------- */

/* Of the thread, so that other programs count as little as they can. */
static uint64_t
cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double
measure(const struct micro_bench *bench, uint64_t ns)
{
    uint64_t start = cpu_ns();
    uint64_t units = 0;
    uint64_t took;

    do {
        units += bench->run();
        took = cpu_ns() - start;
    } while (took < ns);
    micro_check(units > 0, "a piece of work that does nothing");
    return (double)took / (double)units;
}

static void
print_bench(const struct micro_bench *bench, unsigned rounds)
{
    printf("\"%s\":{\"unit\":\"%s\",\"bytes\":%llu,\"ns\":[", bench->name,
           bench->unit, (unsigned long long)bench->bytes);
    for (unsigned i = 0; i < rounds; i++)
        printf("%s%.3f", i > 0 ? "," : "", bench->ns[i]);
    printf("]}");
}

static int
is_chosen(const struct micro_options *options, const struct micro_bench *bench)
{
    return options->only == NULL || strcmp(options->only, bench->name) == 0;
}

int
micro_run(const struct micro_options *options, struct micro_bench *benches,
          size_t n)
{
    const char *comma = "{";

    for (unsigned round = 0; round < options->rounds; round++) {
        for (size_t k = 0; k < n; k++) {
            /* Who comes first takes turns. */
            struct micro_bench *bench = &benches[(k + round) % n];

            if (!is_chosen(options, bench))
                continue;
            if (round == 0)
                bench->run(); /* caches */
            bench->ns[round] = measure(bench, (uint64_t)options->ms * 1000000u);
        }
    }
    for (size_t k = 0; k < n; k++) {
        if (is_chosen(options, &benches[k])) {
            printf("%s", comma);
            print_bench(&benches[k], options->rounds);
            comma = ",";
        }
    }
    micro_check(*comma == ',', "nothing has that name");
    printf("}\n");
    return fflush(stdout) == 0 ? 0 : 1;
}
