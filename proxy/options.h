/* SPDX-License-Identifier: MIT */
/* The command line of `grpctap` and `grpctap proxy`. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

#include "addr.h"
#include "log.h"
#include "what_if_list.h"

/* OPTIONS_REDACT_MAX bounds the names given with --redact: the tap compares
 * each header with each of them. */
#define OPTIONS_REDACT_MAX 64

/* OPTIONS_THREADS_MAX bounds --threads: more than any machine that runs a tap
 * has processors. */
#define OPTIONS_THREADS_MAX 256

/* The defaults. */
#define OPTIONS_MAX_CONNECTIONS 10000
#define OPTIONS_CONNECT_TIMEOUT_US (10 * UINT64_C(1000000))
#define OPTIONS_MAX_DECODED_BYTES (UINT64_C(1) << 30)

/* struct options is what the command line says. */
struct options {
    /* listen and upstream are parsed, not yet resolved. */
    struct addr listen;
    struct addr upstream;
    /* events is a mask of 1 << enum event_kind. */
    unsigned events;
    /* output is the file, NULL: standard output. */
    const char *output;
    /* threads is the number of workers, 1..OPTIONS_THREADS_MAX. */
    unsigned threads;
    /* max_connections is the cap on open connections; 0: none. */
    unsigned max_connections;
    /* Times are microseconds; 0: none. */
    uint64_t connect_timeout_us;
    uint64_t idle_timeout_us;
    /* max_decoded_bytes is the ceiling of one message; 0: none. */
    uint64_t max_decoded_bytes;
    /* lossless, summary, show_secrets are 1 when the option was given. */
    int lossless;
    int summary;
    int show_secrets;
    /* redact are n_redact further header names, in lower case. */
    const char *redact[OPTIONS_REDACT_MAX];
    unsigned n_redact;
    /* what_if is 1 when --what-if was given, with what_if_list to try and
     * what_if_cpu percent of one core for it. */
    int what_if;
    struct what_if_list what_if_list;
    unsigned what_if_cpu;
    /* log_level and log_file are for log_setup. */
    enum log_level log_level;
    const char *log_file;
    /* has_listen and has_upstream say that these were given. */
    int has_listen;
    int has_upstream;
};

/* enum options_result says what the caller is to do. */
enum options_result {
    OPTIONS_RUN,   /* go on with what was parsed */
    OPTIONS_DONE,  /* help or version was printed: exit 0 */
    OPTIONS_USAGE, /* a usage error was printed: exit 2 */
    OPTIONS_FAILED /* help could not be printed: exit 1 */
};

/* options_command reads the command line of `grpctap` itself (argv[0] is the
 * program).  OPTIONS_RUN: |*argc| and |*argv| are now those of the command,
 * with "proxy" at argv[0]. */
enum options_result options_command(int *argc, char ***argv);

/* options_parse reads |argv| ("proxy" is argv[0]) into |options|.  Strings
 * point into argv, where the lists of --redact are split and made lower
 * case. */
enum options_result options_parse(struct options *options, int argc,
                                  char **argv);

/* options_parse_size reads a size: digits and an optional K, M or G (1024s;
 * also small, also KiB, MiB, GiB), nothing behind it.  Returns 0, or -1 also
 * when 64 bits do not hold it. */
int options_parse_size(const char *text, uint64_t *bytes);

/* options_parse_time reads a time: digits and one of us, ms, s, m, h (plain
 * digits: seconds), nothing behind it.  Returns 0, or -1 also when it is
 * longer than OPTIONS_TIME_MAX_US. */
int options_parse_time(const char *text, uint64_t *us);

/* OPTIONS_TIME_MAX_US bounds a time, so that adding it to a clock cannot
 * overflow: a hundred years. */
#define OPTIONS_TIME_MAX_US                                                   \
    (UINT64_C(100) * 365 * 24 * 3600 * UINT64_C(1000000))

#endif
