/* SPDX-License-Identifier: MIT */
/* Owns the command line: which options there are, what they take, and what a
 * wrong one is told.  The text of --help is help.c's, made from the same
 * table; what the options do is up to the parts they are for. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "help.h"
#include "kind.h"
#include "options_table.h"
#include "units.h"
#include "what_if.h"

/* FIRST_LONG is what getopt_long returns for the first row of the table: above
 * any letter. */
#define FIRST_LONG 256

/* --- values --- */

int
options_parse_size(const char *text, uint64_t *bytes)
{
    return units_parse(text, units_size, UINT64_MAX, bytes);
}

int
options_parse_time(const char *text, uint64_t *us)
{
    return units_parse(text, units_time, OPTIONS_TIME_MAX_US, us);
}

static const char *
parse_time(const char *text, uint64_t *us)
{
    if (options_parse_time(text, us) != 0)
        return "expected a time such as 500ms, 10s, 5m or 1h";
    return NULL;
}

/* --- one function an option: NULL, or what is wrong with |arg| --- */

static const char *
set_listen(struct options *o, char *arg)
{
    o->has_listen = 1;
    return addr_parse(&o->listen, arg);
}

static const char *
set_upstream(struct options *o, char *arg)
{
    const char *wrong = addr_parse(&o->upstream, arg);

    o->has_upstream = 1;
    if (wrong == NULL && o->upstream.kind == ADDR_INET && o->upstream.port == 0)
        return "port 0 cannot be connected to";
    return wrong;
}

static const char *
set_events(struct options *o, char *arg)
{
    unsigned mask = 0;

    for (const char *word = arg;;) {
        size_t len = strcspn(word, ",");
        if (event_kind_select(&mask, word, len) != 0)
            return "the words are connection, call, message, notice, goaway, "
                   "headers, frame, settings, what_if, default, all, none";
        if (word[len] == '\0')
            break;
        word += len + 1;
    }
    o->events = mask;
    return NULL;
}

static const char *
set_output(struct options *o, char *arg)
{
    if (*arg == '\0')
        return "expected a file name";
    o->output = strcmp(arg, "-") == 0 ? NULL : arg;
    return NULL;
}

static const char *
set_threads(struct options *o, char *arg)
{
    uint64_t n;

    if (units_parse(arg, units_none, OPTIONS_THREADS_MAX, &n) != 0 || n == 0)
        return "expected a number from 1 to 256";
    o->threads = (unsigned)n;
    return NULL;
}

static const char *
set_max_connections(struct options *o, char *arg)
{
    uint64_t n;

    if (units_parse(arg, units_none, INT32_MAX, &n) != 0)
        return "expected a number, 0 for no cap";
    o->max_connections = (unsigned)n;
    return NULL;
}

static const char *
set_connect_timeout(struct options *o, char *arg)
{
    return parse_time(arg, &o->connect_timeout_us);
}

static const char *
set_idle_timeout(struct options *o, char *arg)
{
    return parse_time(arg, &o->idle_timeout_us);
}

static const char *
set_max_decoded_bytes(struct options *o, char *arg)
{
    if (options_parse_size(arg, &o->max_decoded_bytes) != 0)
        return "expected a size such as 4096, 64K, 16M or 1G";
    return NULL;
}

static const char *
set_lossless(struct options *o, char *arg)
{
    (void)arg;
    o->lossless = 1;
    return NULL;
}

static const char *
set_summary(struct options *o, char *arg)
{
    (void)arg;
    o->summary = 1;
    return NULL;
}

static const char *
set_what_if(struct options *o, char *arg)
{
    o->what_if = 1;
    return what_if_list_parse(&o->what_if_list,
                              arg != NULL ? arg : WHAT_IF_LIST_DEFAULT);
}

static const char *
set_what_if_cpu(struct options *o, char *arg)
{
    static const struct unit percent[] = {{"", 1}, {"%", 1}, {NULL, 0}};
    uint64_t n;

    if (units_parse(arg, percent, 100, &n) != 0 || n == 0)
        return "expected a share of one core from 1% to 100%";
    o->what_if_cpu = (unsigned)n;
    return NULL;
}

/* redact_name makes a header name lower case in place; not of HTTP's token
 * characters, but for the colon of :path and the like, it could never match
 * and is a slip of the user's. */
static const char *
redact_name(char *name)
{
    char *token = name + (*name == ':');

    if (*token == '\0')
        return "expected a header name";
    for (char *p = token; *p != '\0'; p++) {
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
        if (*p <= ' ' || *p >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", *p))
            return "this cannot be in a header name";
    }
    return NULL;
}

static const char *
set_redact(struct options *o, char *arg)
{
    for (char *name = arg; name != NULL;) {
        char *comma = strchr(name, ',');
        if (comma != NULL)
            *comma = '\0';
        const char *wrong = redact_name(name);
        if (wrong != NULL)
            return wrong;
        if (o->n_redact == OPTIONS_REDACT_MAX)
            return "more than 64 names";
        o->redact[o->n_redact++] = name;
        name = comma != NULL ? comma + 1 : NULL;
    }
    return NULL;
}

static const char *
set_show_secrets(struct options *o, char *arg)
{
    (void)arg;
    o->show_secrets = 1;
    return NULL;
}

static const char *
set_log_file(struct options *o, char *arg)
{
    if (*arg == '\0')
        return "expected a file name";
    o->log_file = arg;
    return NULL;
}

static const char *
set_quiet(struct options *o, char *arg)
{
    (void)arg;
    o->log_level = LOG_ERROR;
    return NULL;
}

static const char *
set_verbose(struct options *o, char *arg)
{
    (void)arg;
    o->log_level = o->log_level >= LOG_INFO ? LOG_DEBUG : LOG_INFO;
    return NULL;
}

/* --- the table; --help prints it in this order --- */

const struct option_row option_rows[] = {
    {"listen", 'l', "ADDR", set_listen,
     "accept connections on ADDR: PORT (on 127.0.0.1),\n"
     "HOST:PORT, [v6]:PORT or unix:PATH; port 0 picks one"},
    {"upstream", 'u', "ADDR", set_upstream,
     "relay them to ADDR; a host name is resolved for each"},
    {"events", 'e', "LIST", set_events,
     "write only these events: connection, call, message,\n"
     "notice, goaway, what_if (the default); headers,\n"
     "frame, settings; default, all, none; the last -e\n"
     "counts; start, stop, dropped are always written"},
    {"output", 'o', "FILE", set_output,
     "append the events to FILE, reopened on SIGHUP;\n"
     "default and `-': standard output"},
    {"threads", 't', "N", set_threads, "relay with N threads; default 1"},
    {"max-connections", 0, "N", set_max_connections,
     "accept no more than N at a time, 0: any number;\n"
     "default 10000"},
    {"connect-timeout", 0, "TIME", set_connect_timeout,
     "give up reaching the upstream; default 10s, 0: never"},
    {"idle-timeout", 0, "TIME", set_idle_timeout,
     "close connections without traffic; default 0: never"},
    {"max-decoded-bytes", 0, "SIZE", set_max_decoded_bytes,
     "stop decompressing one message at SIZE; default 1G,\n"
     "0: no limit"},
    {"lossless", 0, NULL, set_lossless,
     "when the output cannot keep up, hold the traffic\n"
     "instead of dropping events"},
    {"summary", 0, NULL, set_summary,
     "print a table per method on standard error at exit"},
    {"what-if", 0, "[LIST]", set_what_if,
     "say what messages would cost under other codecs;\n"
     "default gzip:1,gzip:6,br:4,zstd:3,snappy"},
    {"what-if-cpu", 0, "PERCENT", set_what_if_cpu,
     "the share of one core for that; default 10%"},
    {"redact", 0, "NAMES", set_redact,
     "hide the values of these headers too (comma list,\n"
     "can be repeated)"},
    {"show-secrets", 0, NULL, set_show_secrets,
     "hide no header value, not even authorization"},
    {"log-file", 0, "FILE", set_log_file,
     "append diagnostics to FILE, reopened on SIGHUP"},
    {"quiet", 'q', NULL, set_quiet, "diagnostics: errors only"},
    {"verbose", 'v', NULL, set_verbose, "diagnostics: more; twice: still more"},
    {"help", 'h', NULL, NULL, "print this and exit"},
    {"version", 'V', NULL, NULL, "print the version and exit"},
};

const int n_option_rows = (int)(sizeof(option_rows) / sizeof(option_rows[0]));

#define ROWS_MAX (sizeof(option_rows) / sizeof(option_rows[0]))

/* --- reading --- */

static int
arg_of(const struct option_row *row)
{
    if (row->arg == NULL)
        return no_argument;
    return row->arg[0] == '[' ? optional_argument : required_argument;
}

static void
make_long(struct option longs[ROWS_MAX + 1])
{
    memset(longs, 0, (ROWS_MAX + 1) * sizeof(longs[0]));
    for (int i = 0; i < n_option_rows; i++) {
        longs[i].name = option_rows[i].name;
        longs[i].has_arg = arg_of(&option_rows[i]);
        longs[i].val = FIRST_LONG + i;
    }
}

/* make_short writes the letters as getopt wants them.  The leading colon makes
 * it tell a missing argument from an unknown option. */
static void
make_short(char letters[2 * ROWS_MAX + 2])
{
    *letters++ = ':';
    for (int i = 0; i < n_option_rows; i++) {
        if (option_rows[i].letter == 0)
            continue;
        *letters++ = option_rows[i].letter;
        if (option_rows[i].arg != NULL)
            *letters++ = ':';
    }
    *letters = '\0';
}

static const struct option_row *
find_row(int got)
{
    if (got >= FIRST_LONG)
        return &option_rows[got - FIRST_LONG];
    for (int i = 0; i < n_option_rows; i++)
        if (option_rows[i].letter == got)
            return &option_rows[i];
    return NULL;
}

/* complain_unknown says why getopt returned '?' or ':' for |word|. */
static enum options_result
complain_unknown(int got, const char *word)
{
    const struct option_row *row = optopt != 0 ? find_row(optopt) : NULL;

    if (row != NULL && got == ':')
        return help_usage_error("option --%s needs an argument (%s)", row->name,
                                row->arg);
    if (row != NULL)
        return help_usage_error("option --%s takes no argument", row->name);
    if (optopt != 0)
        return help_usage_error("unknown option -%c", optopt);
    return help_usage_error("unknown or ambiguous option %.*s",
                            (int)strcspn(word, "="), word);
}

/* take_next gives an optional argument to |row| that stands in a word of its
 * own: getopt only takes it behind a `=', but there are no other words. */
static void
take_next(const struct option_row *row, int argc, char **argv)
{
    if (arg_of(row) == optional_argument && optarg == NULL && optind < argc &&
        argv[optind][0] != '-')
        optarg = argv[optind++];
}

static enum options_result
apply(struct options *options, const struct option_row *row)
{
    if (row->set == NULL)
        return row->letter == 'h' ? help_print_proxy() : help_print_version();
    /* A setter may cut its argument up; the complaint wants it whole. */
    char whole[256] = "";
    if (optarg != NULL)
        snprintf(whole, sizeof(whole), "%s", optarg);
    const char *wrong = row->set(options, optarg);
    if (wrong != NULL)
        return help_usage_error("--%s %s: %s", row->name, whole, wrong);
    return OPTIONS_RUN;
}

static enum options_result
check(const struct options *options, int argc, char **argv)
{
    if (optind < argc)
        return help_usage_error("unexpected argument %s", argv[optind]);
    if (!options->has_listen)
        return help_usage_error("--listen ADDR is missing");
    if (!options->has_upstream)
        return help_usage_error("--upstream ADDR is missing");
    if (options->what_if && !options->summary &&
        (options->events >> EVENT_WHAT_IF & 1u) == 0)
        return help_usage_error("nothing would come of --what-if: its events "
                                "are not in --events, and there is no "
                                "--summary");
    return OPTIONS_RUN;
}

static void
set_defaults(struct options *options)
{
    memset(options, 0, sizeof(*options));
    options->events = EVENT_DEFAULT_MASK;
    options->threads = 1;
    options->max_connections = OPTIONS_MAX_CONNECTIONS;
    options->connect_timeout_us = OPTIONS_CONNECT_TIMEOUT_US;
    options->max_decoded_bytes = OPTIONS_MAX_DECODED_BYTES;
    options->what_if_cpu = WHAT_IF_CPU_DEFAULT;
    options->log_level = LOG_WARNING;
}

enum options_result
options_parse(struct options *options, int argc, char **argv)
{
    struct option longs[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 2];

    set_defaults(options);
    make_long(longs);
    make_short(letters);
    optind = 0; /* glibc: start afresh, for a caller that parses twice */
    opterr = 0;
    for (;;) {
        int got = getopt_long(argc, argv, letters, longs, NULL);
        if (got == -1)
            return check(options, argc, argv);
        if (got == '?' || got == ':')
            return complain_unknown(got, argv[optind - 1]);
        take_next(find_row(got), argc, argv);
        enum options_result result = apply(options, find_row(got));
        if (result != OPTIONS_RUN)
            return result;
    }
}
