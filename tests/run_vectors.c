/* SPDX-License-Identifier: MIT */
/*
 * Runs files of vectors: plays each whole, joined, byte by byte and cut at
 * every point, compares what the tap writes with what the file expects, and
 * checks the ledger; then once more for each allocation, with that one
 * failing.  The format is vector_file.c's, the ledger vector_ledger.c's.  A run
 * that a reset ends after any number of bytes must balance as well; and no
 * header that is redacted may be found in the output (vector_secret.c).
 *
 *     run_vectors [--only NAME] [--no-sweep] [--what-if] [--print] [-v] FILE...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../proxy/kind.h"
#include "../proxy/what_if.h"
#include "vector_alloc.h"
#include "vector_file.h"
#include "vector_frame.h"
#include "vector_ledger.h"
#include "vector_match.h"
#include "vector_recut.h"
#include "vector_rules.h"
#include "vector_secret.h"

/* CUT_ALL is the length up to which a vector is cut at every point; in a
 * longer one only the CUT_EDGE bytes around each step's ends are. */
#define CUT_ALL 4096
#define CUT_EDGE 12

/* RECUTS is how many ways the frames of a vector are cut in. */
#define RECUTS 4

/* SWEEP_MAX ends a sweep that would never pass. */
#define SWEEP_MAX 100000

/* Where a leak checker is linked in, a sweep asks it after each vector. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* struct options is the command line. */
struct options {
    /* only is the title of the one vector to run, or NULL. */
    const char *only;
    /* no_sweep leaves out the failing allocations. */
    int no_sweep;
    /* is_trying has --what-if see all messages: it must change nothing. */
    int is_trying;
    /* is_printing prints the lines of every vector and tests nothing. */
    int is_printing;
    /* is_verbose prints every title, and all output of what fails. */
    int is_verbose;
};

/* rules_fill sets |rules| for the first |limit| bytes of |vector|. */
static void
rules_fill(struct vector_ledger_rules *rules, const struct vector *vector,
           size_t limit)
{
    struct vector_buf head = {0};

    memset(rules, 0, sizeof(*rules));
    for (size_t i = 0; i < vector->script.n_steps; i++) {
        const struct vector_step *step = &vector->script.steps[i];
        size_t n = step->bytes.len < limit ? step->bytes.len : limit;

        limit -= n;
        rules->sent[step->from] += n;
        if (step->from == SIDE_CLIENT && n > 0) {
            vector_buf_add(&head, step->bytes.data, n);
        }
    }
    rules->preface = head.len >= VECTOR_PREFACE_LEN &&
                     memcmp(head.data, VECTOR_PREFACE, VECTOR_PREFACE_LEN) == 0;
    rules->has_calls = (vector->script.config.events >> EVENT_CALL & 1) != 0;
    rules->has_frames = vector->script.config.events == vector_tap_all_events;
    rules->is_orderly = 1;
    vector_buf_clear(&head);
}

/* run_recuts plays |vector| with its frames cut in some ways. */
static int
run_recuts(const struct vector *vector, const struct vector_lines *lines)
{
    struct vector_buf problem = {0};

    for (uint32_t seed = 1; seed <= RECUTS && problem.len == 0; seed++) {
        vector_recut_check(&vector->script, seed, lines, &problem);
    }
    if (problem.len == 0) {
        return 0;
    }
    vector_fail(vector, vector->line, "recut");
    printf("    %s\n", (const char *)problem.data);
    vector_buf_clear(&problem);
    return -1;
}

/* run_check checks one run of the first |limit| bytes by itself: valid lines,
 * balanced books. */
static int
run_check(const struct vector *vector, const struct vector_run *run,
          const char *name, size_t limit, int is_lossy,
          struct vector_lines *lines)
{
    struct vector_ledger_rules rules;
    struct vector_buf problem = {0};
    int result;

    rules_fill(&rules, vector, limit);
    rules.is_lossy = is_lossy;
    result = vector_lines_parse(lines, &run->text, &problem);
    if (result == 0) {
        result = vector_ledger_check(lines, &rules, &problem);
    }
    if (result == 0 && !is_lossy) {
        result = vector_rules_check(&vector->script, limit, lines, &problem);
    }
    if (result != 0) {
        vector_fail(vector, vector->line, name);
        printf("    %s\n", (const char *)problem.data);
    }
    vector_buf_clear(&problem);
    return result;
}

static int
run_whole(const struct vector *vector, struct vector_run *run,
          const struct options *options)
{
    struct vector_cut cut = {VECTOR_CUT_WHOLE, 0, 0};
    struct vector_lines lines;
    int result;

    vector_tap_play(&vector->script, &cut, run);
    if (!run->is_started) {
        vector_fail(vector, vector->line, "the tap could not be made");
        return -1;
    }
    result = run_check(vector, run, "whole", SIZE_MAX, 0, &lines);
    if (vector_match(vector, &lines) != 0 ||
        vector_match_texts(vector, run) != 0 ||
        vector_match_controls(vector, &lines) != 0) {
        result = -1;
    }
    result |= run_recuts(vector, &lines);
    vector_lines_clear(&lines);
    if (result != 0 && options->is_verbose) {
        printf("%s", (const char *)run->text.data);
    }
    return result;
}

/* first_difference prints the first line in which two runs differ. */
static void
first_difference(const struct vector_buf *a, const struct vector_buf *b)
{
    const char *x = (const char *)a->data;
    const char *y = (const char *)b->data;

    while (*x != 0 && *y != 0) {
        size_t x_len = strcspn(x, "\n");
        size_t y_len = strcspn(y, "\n");

        if (x_len != y_len || memcmp(x, y, x_len) != 0) {
            break;
        }
        x += x_len + 1;
        y += y_len + 1;
    }
    printf("    whole:    %.*s\n    this cut: %.*s\n", (int)strcspn(x, "\n"), x,
           (int)strcspn(y, "\n"), y);
}

static int
run_cut(const struct vector *vector, const struct vector_cut *cut,
        const struct vector_run *whole)
{
    struct vector_run run;
    int result = 0;

    memset(&run, 0, sizeof(run));
    vector_tap_play(&vector->script, cut, &run);
    if (run.text.len != whole->text.len ||
        memcmp(run.text.data, whole->text.data, run.text.len) != 0) {
        vector_fail(vector, vector->line, vector_cut_name(cut));
        first_difference(&whole->text, &run.text);
        result = -1;
    }
    vector_buf_clear(&run.text);
    return result;
}

/* is_near_edge returns 1 when |point| is close to where a step begins. */
static int
is_near_edge(const struct vector *vector, size_t point)
{
    size_t at = 0;

    for (size_t i = 0; i < vector->script.n_steps; i++) {
        size_t gap = point > at ? point - at : at - point;

        if (gap <= CUT_EDGE) {
            return 1;
        }
        at += vector->script.steps[i].bytes.len;
    }
    return at - point <= CUT_EDGE;
}

static int
run_cuts(const struct vector *vector, const struct vector_run *whole)
{
    static const enum vector_cut_kind kinds[] = {VECTOR_CUT_JOINED,
                                                 VECTOR_CUT_BYTES};
    size_t len = vector_script_len(&vector->script);
    struct vector_cut cut = {VECTOR_CUT_WHOLE, 0, 0};

    for (size_t i = 0; i < 2; i++) {
        cut.kind = kinds[i];
        if (run_cut(vector, &cut, whole) != 0) {
            return -1;
        }
    }
    cut.kind = VECTOR_CUT_POINT;
    for (cut.point = 1; cut.point < len; cut.point++) {
        if (len > CUT_ALL && !is_near_edge(vector, cut.point)) {
            continue;
        }
        if (run_cut(vector, &cut, whole) != 0) {
            return -1;
        }
    }
    return 0;
}

/* run_ends resets the connection after every number of bytes. */
static int
run_ends(const struct vector *vector)
{
    size_t len = vector_script_len(&vector->script);
    struct vector_cut cut = {VECTOR_CUT_END, 0, 0};
    struct vector_run run;
    int result = 0;

    memset(&run, 0, sizeof(run));
    for (cut.point = 0; cut.point < len && result == 0; cut.point++) {
        struct vector_lines lines;

        if (len > CUT_ALL && !is_near_edge(vector, cut.point)) {
            continue;
        }
        vector_tap_play(&vector->script, &cut, &run);
        result = run_check(vector, &run, vector_cut_name(&cut), cut.point, 0,
                           &lines);
        vector_lines_clear(&lines);
    }
    vector_buf_clear(&run.text);
    return result;
}

/* n_tap_failed counts the sweeps' runs with the notice that no input gives. */
static unsigned n_tap_failed;

/* sweep_check: whatever was written is valid and balances, and unless lines
 * were given up there is one connection_close. */
static int
sweep_check(const struct vector *vector, const struct vector_run *run,
            uint64_t nth)
{
    struct vector_lines lines;
    char name[64];
    int n_closes = 0;
    int result;

    snprintf(name, sizeof(name), "allocation %" PRIu64 " fails", nth);
    result = run_check(vector, run, name, SIZE_MAX, 1, &lines);
    n_tap_failed += (unsigned)rules_notice(&lines, "tap_failed", NULL);
    for (size_t i = 0; i < lines.n; i++) {
        n_closes += strcmp(vector_lines_event(lines.events[i]),
                           "connection_close") == 0;
    }
    if (result == 0 && run->is_started && run->n_lost == 0 && n_closes != 1) {
        vector_fail(vector, vector->line, name);
        printf("    %d connection_close events, none given up\n", n_closes);
        result = -1;
    }
    vector_lines_clear(&lines);
    return result;
}

static int
sweep(const struct vector *vector, enum vector_alloc_mode mode,
      const struct vector_run *whole)
{
    struct vector_cut cut = {VECTOR_CUT_WHOLE, 0, 0};
    struct vector_run run;
    int result = 0;
    int failed = 1;

    memset(&run, 0, sizeof(run));
    for (uint64_t nth = 1; failed && result == 0; nth++) {
        vector_alloc_arm(nth, mode);
        vector_tap_play(&vector->script, &cut, &run);
        failed = vector_alloc_disarm();
        if (failed) {
            result = sweep_check(vector, &run, nth);
        } else if (nth == 1 || run.text.len != whole->text.len) {
            vector_fail(vector, vector->line, "the sweep ended too early");
            result = -1;
        }
        if (nth == SWEEP_MAX) {
            vector_fail(vector, vector->line, "the sweep does not end");
            result = -1;
        }
    }
    vector_buf_clear(&run.text);
    return result;
}

static int
sweep_both(const struct vector *vector, const struct vector_run *whole)
{
    if (sweep(vector, VECTOR_ALLOC_ONCE, whole) != 0 ||
        sweep(vector, VECTOR_ALLOC_FOR_GOOD, whole) != 0) {
        return -1;
    }
    if (__lsan_do_recoverable_leak_check != NULL &&
        __lsan_do_recoverable_leak_check() != 0) {
        vector_fail(vector, vector->line, "memory was lost in the sweep");
        return -1;
    }
    return 0;
}

/* Prints the lines of a run as those of the connection |conn|: together they
 * are to look like the output of one program. */
static void
print_as(const char *lines, unsigned conn)
{
    static const char own[] = "\"conn\":7,";
    const char *at;

    for (at = strstr(lines, own); at != NULL; at = strstr(lines, own)) {
        printf("%.*s\"conn\":%u,", (int)(at - lines), lines, conn);
        lines = at + sizeof(own) - 1;
    }
    printf("%s", lines);
}

static void
vector_print(const struct vector *vector, unsigned conn)
{
    struct vector_cut cut = {VECTOR_CUT_WHOLE, 0, 0};
    struct vector_run run;

    memset(&run, 0, sizeof(run));
    vector_tap_play(&vector->script, &cut, &run);
    print_as((const char *)run.text.data, conn);
    vector_buf_clear(&run.text);
}

/* run_secrets redacts the headers of |vector| in turn. */
static int
run_secrets(const struct vector *vector)
{
    struct vector_buf problem = {0};
    int result = vector_secret_check(vector, &problem);

    if (result != 0) {
        vector_fail(vector, vector->line, "a value that is to be hidden");
        printf("    %s\n", (const char *)problem.data);
    }
    vector_buf_clear(&problem);
    return result;
}

static int
vector_run_all(const struct vector *vector, const struct options *options)
{
    struct vector_run whole;
    int result;

    memset(&whole, 0, sizeof(whole));
    if (options->is_verbose) {
        printf("%s:%u: %s\n", vector->file, vector->line, vector->name);
    }
    result = run_whole(vector, &whole, options);
    if (whole.is_started) {
        /* A wrong event is no reason to leave out the rest. */
        result |= run_cuts(vector, &whole);
        result |= run_ends(vector);
        result |= run_secrets(vector);
        if (!options->no_sweep && vector_alloc_is_wrapped()) {
            result |= sweep_both(vector, &whole);
        }
    }
    vector_buf_clear(&whole.text);
    return result;
}

static int
options_parse(struct options *options, int argc, char **argv)
{
    int i;

    memset(options, 0, sizeof(*options));
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--no-sweep") == 0) {
            options->no_sweep = 1;
        } else if (strcmp(argv[i], "--what-if") == 0) {
            options->is_trying = 1;
        } else if (strcmp(argv[i], "--print") == 0) {
            options->is_printing = 1;
        } else if (strcmp(argv[i], "-v") == 0) {
            options->is_verbose = 1;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            options->only = argv[++i];
        } else {
            vector_die("run_vectors: unknown option %s", argv[i]);
        }
    }
    if (i == argc) {
        vector_die("usage: run_vectors [--only NAME] [--no-sweep] "
                   "[--what-if] [--print] [-v] FILE...");
    }
    return i;
}

/* file_run runs the vectors of |path|: n[0] counts those that passed (or were
 * printed), n[1] those that failed. */
static void
file_run(const char *path, const struct options *options, unsigned n[2])
{
    struct vector_file file;

    vector_file_load(&file, path);
    for (size_t i = 0; i < file.n; i++) {
        const struct vector *vector = &file.vectors[i];

        if (options->only != NULL && strcmp(options->only, vector->name) != 0) {
            continue;
        }
        if (options->is_printing) {
            n[0]++;
            vector_print(vector, n[0]);
        } else {
            n[vector_run_all(vector, options) != 0]++;
        }
        fflush(stdout);
    }
    vector_file_clear(&file);
}

static struct what_if *
start_what_if(void)
{
    struct what_if_config config = {.cpu_percent = 100};

    if (what_if_list_parse(&config.list, "gzip:1,snappy") != NULL) {
        vector_die("run_vectors: the list");
    }
    return what_if_new(&config);
}

int
main(int argc, char **argv)
{
    struct options options;
    unsigned n[2] = {0, 0};
    int i = options_parse(&options, argc, argv);

    if (options.is_trying) {
        options.no_sweep = 1;
        vector_tap_what_if = start_what_if();
    }
    for (; i < argc; i++) {
        file_run(argv[i], &options, n);
    }
    what_if_free(vector_tap_what_if);
    if (options.is_printing) {
        return 0;
    }
    if (!options.no_sweep && options.only == NULL && n_tap_failed == 0 &&
        vector_alloc_is_wrapped()) {
        printf("no allocation that failed gave tap_failed\n");
        n[1]++;
    }
    printf("%u passed, %u failed\n", n[0], n[1]);
    return n[1] == 0 && n[0] > 0 ? 0 : 1;
}
