/* SPDX-License-Identifier: MIT */
/* The command line: values, lists, complaints, and the help.  That the help
 * agrees with the manual is tests/check_help.sh's. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../proxy/help.h"
#include "../../proxy/kind.h"
#include "../../proxy/options.h"
#include "../../proxy/options_table.h"

#define ARGS_MAX 80
#define TEXT_MAX 8192

/* struct parsed is a command line and what became of it. */
struct parsed {
    struct options options;
    enum options_result result;
    /* argv are copies, since parsing may write to them. */
    char *argv[ARGS_MAX];
    int argc;
    /* out and err are what was printed. */
    char out[TEXT_MAX];
    char err[TEXT_MAX];
};

/* capture points |fd| to a temporary file and returns the old one. */
static int
capture(int fd, FILE **file)
{
    int old = dup(fd);

    *file = tmpfile();
    assert_non_null(*file);
    assert_true(old >= 0 && dup2(fileno(*file), fd) == fd);
    return old;
}

static void
release(int fd, int old, FILE *file, char *text)
{
    fflush(fd == STDOUT_FILENO ? stdout : stderr);
    assert_int_equal(dup2(old, fd), fd);
    close(old);
    rewind(file);
    text[fread(text, 1, TEXT_MAX - 1, file)] = '\0';
    fclose(file);
}

/* parse runs |command| (words split at spaces) through the parser. */
static void
parse(struct parsed *p, const char *command)
{
    FILE *out, *err;
    char *rest = strdup(command);

    memset(p, 0, sizeof(*p));
    for (char *word = rest; word != NULL && p->argc < ARGS_MAX - 1;) {
        char *space = strchr(word, ' ');
        if (space != NULL)
            *space++ = '\0';
        p->argv[p->argc++] = strdup(word);
        word = space;
    }
    free(rest);
    fflush(stdout);
    int old_out = capture(STDOUT_FILENO, &out);
    int old_err = capture(STDERR_FILENO, &err);
    p->result = options_parse(&p->options, p->argc, p->argv);
    release(STDERR_FILENO, old_err, err, p->err);
    release(STDOUT_FILENO, old_out, out, p->out);
}

static void
done(struct parsed *p)
{
    /* getopt moves the pointers about, but loses none. */
    for (int i = 0; i < p->argc; i++)
        free(p->argv[i]);
}

#define BASE "proxy -l 8080 -u localhost:50051"

static void
test_defaults(void **state)
{
    struct parsed p;

    (void)state;
    parse(&p, BASE);
    assert_int_equal(p.result, OPTIONS_RUN);
    assert_string_equal(p.options.listen.host, "127.0.0.1");
    assert_int_equal(p.options.listen.port, 8080);
    assert_string_equal(p.options.upstream.host, "localhost");
    assert_int_equal(p.options.upstream.port, 50051);
    assert_int_equal(p.options.events, EVENT_DEFAULT_MASK);
    assert_null(p.options.output);
    assert_int_equal(p.options.threads, 1);
    assert_int_equal(p.options.max_connections, 10000);
    assert_int_equal(p.options.connect_timeout_us, 10000000);
    assert_int_equal(p.options.idle_timeout_us, 0);
    assert_int_equal(p.options.max_decoded_bytes, 1073741824);
    assert_int_equal(p.options.lossless, 0);
    assert_int_equal(p.options.summary, 0);
    assert_int_equal(p.options.show_secrets, 0);
    assert_int_equal(p.options.n_redact, 0);
    assert_int_equal(p.options.log_level, LOG_WARNING);
    assert_null(p.options.log_file);
    assert_string_equal(p.out, "");
    assert_string_equal(p.err, "");
    done(&p);
}

static void
test_every_option(void **state)
{
    struct parsed p;

    (void)state;
    parse(&p, "proxy --listen=unix:/tmp/a --upstream [::1]:1 --events call "
              "--output f --threads 256 --max-connections 0 "
              "--connect-timeout 0 --idle-timeout 5m --max-decoded-bytes 16M "
              "--lossless --summary --redact X-Key,x-Other --redact :Path "
              "--show-secrets --log-file g -vv");
    assert_string_equal(p.err, "");
    assert_int_equal(p.result, OPTIONS_RUN);
    assert_int_equal(p.options.listen.kind, ADDR_UNIX);
    assert_string_equal(p.options.listen.path, "/tmp/a");
    assert_string_equal(p.options.upstream.host, "::1");
    assert_int_equal(p.options.events, 1u << EVENT_CALL);
    assert_string_equal(p.options.output, "f");
    assert_int_equal(p.options.threads, 256);
    assert_int_equal(p.options.max_connections, 0);
    assert_int_equal(p.options.connect_timeout_us, 0);
    assert_int_equal(p.options.idle_timeout_us, 300000000);
    assert_int_equal(p.options.max_decoded_bytes, 16777216);
    assert_int_equal(p.options.lossless, 1);
    assert_int_equal(p.options.summary, 1);
    assert_int_equal(p.options.show_secrets, 1);
    assert_int_equal(p.options.n_redact, 3);
    assert_string_equal(p.options.redact[0], "x-key");
    assert_string_equal(p.options.redact[1], "x-other");
    assert_string_equal(p.options.redact[2], ":path");
    assert_string_equal(p.options.log_file, "g");
    assert_int_equal(p.options.log_level, LOG_DEBUG);
    done(&p);
}

static void
test_short_options(void **state)
{
    struct parsed p;

    (void)state;
    parse(&p, "proxy -l1 -u2 -o- -t2 -q -e all");
    assert_int_equal(p.result, OPTIONS_RUN);
    assert_null(p.options.output);
    assert_int_equal(p.options.threads, 2);
    assert_int_equal(p.options.log_level, LOG_ERROR);
    done(&p);
}

static void
test_events(void **state)
{
    static const struct {
        const char *list;
        unsigned mask;
    } cases[] = {
        {"default", EVENT_DEFAULT_MASK},
        {"default,headers", EVENT_DEFAULT_MASK | 1u << EVENT_HEADERS},
        {"connection",
         1u << EVENT_CONNECTION_OPEN | 1u << EVENT_CONNECTION_CLOSE},
        {"none", 0},
        {"all,none", 0},
        {"none,call", 1u << EVENT_CALL},
        {"message,notice", 1u << EVENT_MESSAGE | 1u << EVENT_NOTICE},
        {"all", EVENT_DEFAULT_MASK | 1u << EVENT_HEADERS | 1u << EVENT_FRAME |
                    1u << EVENT_SETTINGS},
        {"all -e goaway", 1u << EVENT_GOAWAY},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parsed p;
        char command[128];
        snprintf(command, sizeof(command), BASE " -e %s", cases[i].list);
        parse(&p, command);
        assert_int_equal(p.result, OPTIONS_RUN);
        assert_int_equal(p.options.events, cases[i].mask);
        done(&p);
    }
}

/* test_usage: each of these is refused, with a sentence that names the culprit
 * and a pointer to the help. */
static void
test_usage(void **state)
{
    static const struct {
        const char *command;
        const char *sentence;
    } cases[] = {
        {"proxy", "--listen ADDR is missing"},
        {"proxy -l 1", "--upstream ADDR is missing"},
        {"proxy -u 1", "--listen ADDR is missing"},
        {BASE " extra", "unexpected argument extra"},
        {BASE " --bogus", "unknown or ambiguous option --bogus"},
        {BASE " --bogus=3", "unknown or ambiguous option --bogus\n"},
        {BASE " --max", "unknown or ambiguous option --max"},
        {BASE " -x", "unknown option -x"},
        {BASE " -qx", "unknown option -x"},
        {BASE " --lossless=1", "option --lossless takes no argument"},
        {BASE " --output", "option --output needs an argument (FILE)"},
        {BASE " -o", "option --output needs an argument (FILE)"},
        {BASE " --output=", "--output : expected a file name"},
        {BASE " -l", "option --listen needs an argument (ADDR)"},
        {"proxy -l 65536 -u 1", "--listen 65536: "},
        {"proxy -l 1 -u ::1", "--upstream ::1: "},
        {"proxy -l 0 -u 0", "--upstream 0: port 0"},
        {BASE " -t 0", "--threads 0: expected a number from 1 to 256"},
        {BASE " -t 257", "--threads 257: "},
        {BASE " -t 1k", "--threads 1k: "},
        {BASE " -e call,", "--events call,: the words are connection"},
        {BASE " -e ,call", "--events ,call: "},
        {BASE " -e start", "--events start: "},
        {BASE " -e calls", "--events calls: "},
        {BASE " --connect-timeout 1.5s", "--connect-timeout 1.5s: expected"},
        {BASE " --idle-timeout -1", "--idle-timeout -1: expected a time"},
        {BASE " --max-decoded-bytes 1GB", "expected a size"},
        {BASE " --max-connections x", "--max-connections x: expected"},
        {BASE " --redact a,,b", "--redact a,,b: expected a header name"},
        {BASE " --redact :", "--redact :: expected a header name"},
        {BASE " --redact ::a", "--redact ::a: this cannot be in a header"},
        {BASE " --redact a:b", "--redact a:b: this cannot be in a header"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parsed p;
        parse(&p, cases[i].command);
        assert_int_equal(p.result, OPTIONS_USAGE);
        assert_string_equal(p.out, "");
        if (strstr(p.err, cases[i].sentence) == NULL)
            fail_msg("%s: %s", cases[i].command, p.err);
        assert_true(strncmp(p.err, "grpctap: ", 9) == 0);
        assert_non_null(strstr(p.err, "\nTry `grpctap proxy --help'.\n"));
        done(&p);
    }
}

/* test_redact_limit: 64 names are taken, the 65th is refused. */
static void
test_redact_limit(void **state)
{
    char command[1024] = BASE " --redact a";
    struct parsed p;

    (void)state;
    for (int i = 1; i < OPTIONS_REDACT_MAX; i++)
        strncat(command, ",a", sizeof(command) - strlen(command) - 1);
    parse(&p, command);
    assert_int_equal(p.result, OPTIONS_RUN);
    assert_int_equal(p.options.n_redact, OPTIONS_REDACT_MAX);
    done(&p);
    strncat(command, " --redact b", sizeof(command) - strlen(command) - 1);
    parse(&p, command);
    assert_int_equal(p.result, OPTIONS_USAGE);
    assert_non_null(strstr(p.err, "more than 64 names"));
    done(&p);
}

static void
test_size(void **state)
{
    uint64_t n;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"1", 1},
        {"007", 7},
        {"64K", 65536},
        {"64k", 65536},
        {"3MiB", 3145728},
        {"1G", 1073741824},
        {"18446744073709551615", UINT64_MAX},
        {"17179869183G", UINT64_C(17179869183) << 30},
    };
    static const char *const bad[] = {
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1.5G",
        "K",
        "1KB",
        "1Ki",
        "0x10",
        "1e3",
        "1T",
        "1kk",
        "1,0",
        "1\n",
        "1-",
        "18446744073709551616",
        "99999999999999999999",
        "17179869184G",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(options_parse_size(good[i].text, &n), 0);
        assert_true(n == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        n = 42;
        if (options_parse_size(bad[i], &n) != -1 || n != 42)
            fail_msg("taken for a size: %s", bad[i]);
    }
}

static void
test_time(void **state)
{
    uint64_t n;
    static const struct {
        const char *text;
        uint64_t us;
    } good[] = {
        {"0", 0},           {"1", 1000000},
        {"1us", 1},         {"500ms", 500000},
        {"10s", 10000000},  {"5m", 300000000},
        {"1h", 3600000000}, {"876000h", OPTIONS_TIME_MAX_US},
    };
    static const char *const bad[] = {
        "",      "s",  "1.5s", "-1s", "+1s", "1 s",     "1sec",
        "1S",    "1d", "1min", "1s ", " 1s", "876001h", "18446744073709551615",
        "1m30s",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(options_parse_time(good[i].text, &n), 0);
        assert_true(n == good[i].us);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (options_parse_time(bad[i], &n) != -1)
            fail_msg("taken for a time: %s", bad[i]);
}

/* test_help: on standard output, every option, within 80 columns. */
static void
test_help(void **state)
{
    struct parsed p;

    (void)state;
    parse(&p, "proxy --help");
    assert_int_equal(p.result, OPTIONS_DONE);
    assert_string_equal(p.err, "");
    for (int i = 0; i < n_option_rows; i++) {
        char name[64];
        snprintf(name, sizeof(name), "--%s", option_rows[i].name);
        assert_non_null(strstr(p.out, name));
    }
    for (const char *line = p.out; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        assert_true(len <= 80);
        line += len + 1;
    }
    done(&p);
    parse(&p, "proxy -l bad -h");
    assert_int_equal(p.result, OPTIONS_USAGE);
    done(&p);
    parse(&p, "proxy -V");
    assert_int_equal(p.result, OPTIONS_DONE);
    assert_true(strncmp(p.out, "grpctap ", 8) == 0);
    done(&p);
}

/* command runs |words| through options_command. */
static enum options_result
command(const char *first, const char *second, const char *third, char *out,
        char *err)
{
    FILE *out_file, *err_file;
    char words[4][32] = {"grpctap"};
    char *argv[5] = {words[0], words[1], words[2], words[3], NULL};
    char **args = argv;
    int argc = 1;
    const char *given[3] = {first, second, third};

    while (argc < 4 && given[argc - 1] != NULL) {
        snprintf(words[argc], sizeof(words[argc]), "%s", given[argc - 1]);
        argc++;
    }
    argv[argc] = NULL;
    fflush(stdout);
    int old_out = capture(STDOUT_FILENO, &out_file);
    int old_err = capture(STDERR_FILENO, &err_file);
    enum options_result result = options_command(&argc, &args);
    release(STDERR_FILENO, old_err, err_file, err);
    release(STDOUT_FILENO, old_out, out_file, out);
    if (result == OPTIONS_RUN)
        assert_string_equal(args[0], "proxy");
    return result;
}

static void
test_commands(void **state)
{
    char out[TEXT_MAX], err[TEXT_MAX];

    (void)state;
    assert_int_equal(command(NULL, NULL, NULL, out, err), OPTIONS_DONE);
    assert_non_null(strstr(out, "\n  proxy "));
    assert_string_equal(err, "");
    assert_int_equal(command("--help", NULL, NULL, out, err), OPTIONS_DONE);
    assert_int_equal(command("help", NULL, NULL, out, err), OPTIONS_DONE);
    assert_non_null(strstr(out, "\n  proxy "));
    assert_int_equal(command("help", "proxy", NULL, out, err), OPTIONS_DONE);
    assert_non_null(strstr(out, "--max-decoded-bytes"));
    assert_int_equal(command("-V", NULL, NULL, out, err), OPTIONS_DONE);
    assert_true(strncmp(out, "grpctap ", 8) == 0);
    assert_int_equal(command("proxy", "-q", NULL, out, err), OPTIONS_RUN);
    assert_int_equal(command("prox", NULL, NULL, out, err), OPTIONS_USAGE);
    assert_non_null(strstr(err, "unknown command prox\n"));
    assert_string_equal(out, "");
    assert_int_equal(command("-x", NULL, NULL, out, err), OPTIONS_USAGE);
    assert_non_null(strstr(err, "unknown option -x\n"));
    assert_int_equal(command("help", "no", NULL, out, err), OPTIONS_USAGE);
    assert_int_equal(command("help", "proxy", "x", out, err), OPTIONS_USAGE);
}

/* test_help_lost: help that nobody gets is a failure. */
static void
test_help_lost(void **state)
{
    FILE *err_file;
    char err[TEXT_MAX];
    char name[] = "proxy", option[] = "--help";
    char *argv[] = {name, option, NULL};
    struct options options;

    (void)state;
    fflush(stdout);
    int old_out = dup(STDOUT_FILENO);
    assert_non_null(freopen("/dev/full", "w", stdout));
    int old_err = capture(STDERR_FILENO, &err_file);
    enum options_result result = options_parse(&options, 2, argv);
    release(STDERR_FILENO, old_err, err_file, err);
    dup2(old_out, STDOUT_FILENO);
    close(old_out);
    clearerr(stdout);
    assert_int_equal(result, OPTIONS_FAILED);
    assert_non_null(strstr(err, "No space left on device"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_option),
        cmocka_unit_test(test_short_options),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_redact_limit),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_help_lost),
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
