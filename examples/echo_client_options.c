/* SPDX-License-Identifier: MIT */
/*
 * echo_client_options owns the command line of the client: its text, its
 * parsing and what follows from the combination of options.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "echo_client.h"

#define EXIT_USAGE 2

/* Options without a letter. */
enum long_option {
    OPT_FIRST = 256,
    OPT_ACCEPT,
    OPT_CANCEL_AFTER,
    OPT_DEADLINE,
    OPT_DELAY,
    OPT_EXPECT,
    OPT_INTERVAL,
    OPT_JSON,
    OPT_LABEL,
    OPT_MESSAGE,
    OPT_PATH,
    OPT_PIPELINE,
    OPT_RESPONSE_ENCODING,
    OPT_STATUS,
    OPT_TEXT
};

static const struct option long_options[] = {
    {"accept-encoding", required_argument, NULL, OPT_ACCEPT},
    {"calls", required_argument, NULL, 'n'},
    {"cancel-after", required_argument, NULL, OPT_CANCEL_AFTER},
    {"connections", required_argument, NULL, 'c'},
    {"count", required_argument, NULL, 'm'},
    {"deadline-ms", required_argument, NULL, OPT_DEADLINE},
    {"delay-ms", required_argument, NULL, OPT_DELAY},
    {"encoding", required_argument, NULL, 'e'},
    {"expect", required_argument, NULL, OPT_EXPECT},
    {"help", no_argument, NULL, 'h'},
    {"in-flight", required_argument, NULL, 'f'},
    {"interval-ms", required_argument, NULL, OPT_INTERVAL},
    {"json", no_argument, NULL, OPT_JSON},
    {"kind", required_argument, NULL, 'k'},
    {"label-encoding", required_argument, NULL, OPT_LABEL},
    {"message", required_argument, NULL, OPT_MESSAGE},
    {"path", required_argument, NULL, OPT_PATH},
    {"pipeline", no_argument, NULL, OPT_PIPELINE},
    {"quiet", no_argument, NULL, 'q'},
    {"response-encoding", required_argument, NULL, OPT_RESPONSE_ENCODING},
    {"size", required_argument, NULL, 's'},
    {"status", required_argument, NULL, OPT_STATUS},
    {"text", required_argument, NULL, OPT_TEXT},
    {NULL, 0, NULL, 0}};

static const char help_calls[] =
    "Usage: echo_client [OPTION]... TARGET\n"
    "Calls a server of examples/echo.proto and checks that it echoes.\n"
    "TARGET is PORT, HOST:PORT, [V6]:PORT or unix:PATH.\n"
    "\n"
    "Calls\n"
    "  -k, --kind KIND         unary (default), client, server or bidi\n"
    "  -n, --calls N           how many calls (default 1)\n"
    "  -f, --in-flight N       how many at a time, in all (default 1)\n"
    "  -c, --connections N     spread over N connections (default 1)\n"
    "      --path PATH         call PATH instead of the method of KIND\n"
    "\n"
    "Messages\n"
    "  -s, --size N            payload bytes, also 100K or 5M (default 1000)\n"
    "  -m, --count N           messages in a streaming call (default 1)\n"
    "      --text TEXT         json (default), random or zeros\n"
    "      --interval-ms N     wait between the requests of a stream\n"
    "      --pipeline          bidi: do not wait for the response to the\n"
    "                          last request before sending the next\n";

static const char help_encodings[] =
    "\n"
    "Encodings: " ECHO_CODEC_ALL "\n"
    "  -e, --encoding NAME     compress requests (default identity)\n"
    "      --response-encoding NAME  ask the server for this one\n"
    "      --accept-encoding LIST    grpc-accept-encoding to send\n"
    "      --label-encoding NAME     grpc-encoding to send, whatever is used\n";

static const char help_endings[] =
    "\n"
    "Endings\n"
    "      --delay-ms N        have the server wait before it answers\n"
    "      --status CODE       have the (last) request end with this status\n"
    "      --message TEXT      and this message\n"
    "      --deadline-ms N     send grpc-timeout; reset the call after N ms\n"
    "      --cancel-after N    reset the call after N responses; 0: when the\n"
    "                          first request is sent\n"
    "      --expect CODE       the status every call should end with "
    "(default:\n"
    "                          what follows from the options above)\n"
    "\n"
    "Output\n"
    "      --json              a JSON object a call, instead of a summary\n"
    "  -q, --quiet             nothing but errors\n"
    "  -h, --help              print this and exit\n"
    "\n"
    "Exit status: 0 every call ended as asked, 1 one did not, 2 usage.\n";

static int
usage_error(const char *what, const char *value)
{
    fprintf(stderr, "echo_client: %s%s%s\n", what, value == NULL ? "" : ": ",
            value == NULL ? "" : value);
    fputs("Try 'echo_client --help'.\n", stderr);
    return EXIT_USAGE;
}

static int
help_print(void)
{
    fputs(help_calls, stdout);
    fputs(help_encodings, stdout);
    fputs(help_endings, stdout);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A decimal number of at most `max`, K and M being 1024 and 1024 * 1024. */
static int
number_parse(const char *text, uint64_t max, uint64_t *number)
{
    char *end = NULL;

    if (text[0] < '0' || text[0] > '9')
        return -1;
    errno = 0;
    *number = strtoull(text, &end, 10);
    uint64_t unit = 1;
    if (*end == 'K' || *end == 'k')
        unit = 1u << 10;
    else if (*end == 'M' || *end == 'm')
        unit = 1u << 20;
    if (unit > 1)
        end++;
    if (errno != 0 || *end != '\0' || *number > max / unit)
        return -1;
    *number *= unit;
    return 0;
}

static int
number32_parse(const char *text, uint32_t max, uint32_t *number)
{
    uint64_t wide = 0;

    if (number_parse(text, max, &wide) != 0)
        return -1;
    *number = (uint32_t)wide;
    return 0;
}

/* The position of `text` in a list of names, or -1. */
static int
name_find(const char *text, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return -1;
}

static int
kind_parse(struct options *options, const char *text)
{
    static const char *const names[] = {"unary", "client", "server", "bidi",
                                        NULL};
    int i = name_find(text, names);

    options->kind = i < 0 ? ECHO_KIND_UNARY : (enum echo_kind)i;
    return i < 0 ? -1 : 0;
}

static int
text_parse(struct options *options, const char *text)
{
    static const char *const names[] = {"json", "random", "zeros", NULL};
    int i = name_find(text, names);

    options->text = i < 0 ? PAYLOAD_JSON : (enum payload_text)i;
    return i < 0 ? -1 : 0;
}

static int
size_parse(struct options *options, const char *text)
{
    uint64_t size = 0;

    if (number_parse(text, 64u << 20, &size) != 0)
        return -1;
    options->size = (size_t)size;
    return 0;
}

/* Options that take a number. */
static int
number_option(struct options *options, int c, const char *arg)
{
    uint32_t expect = 0;

    switch (c) {
    case 'n':
        return number_parse(arg, UINT64_MAX, &options->n_calls);
    case 'f':
        return number32_parse(arg, UINT32_MAX, &options->n_in_flight);
    case 'c':
        return number32_parse(arg, 65536, &options->n_connections);
    case 'm':
        return number32_parse(arg, UINT32_MAX, &options->count);
    case 's':
        return size_parse(options, arg);
    case OPT_INTERVAL:
        return number32_parse(arg, UINT32_MAX, &options->interval_ms);
    case OPT_DELAY:
        return number32_parse(arg, UINT32_MAX, &options->delay_ms);
    case OPT_STATUS:
        return number32_parse(arg, INT32_MAX, &options->status);
    case OPT_DEADLINE:
        return number32_parse(arg, 99999999, &options->deadline_ms);
    case OPT_CANCEL_AFTER:
        options->is_cancelling = true;
        return number32_parse(arg, UINT32_MAX, &options->cancel_after);
    case OPT_EXPECT:
        if (number32_parse(arg, INT32_MAX, &expect) != 0)
            return -1;
        options->expect = (int)expect;
        return 0;
    default:
        return -1;
    }
}

/* Applies one option; -1 when its argument makes no sense. */
static int
option_apply(struct options *options, int c, const char *arg)
{
    switch (c) {
    case 'k':
        return kind_parse(options, arg);
    case 'e':
        return echo_codec_find(arg, strlen(arg), &options->codec);
    case 'q':
        options->is_quiet = true;
        return 0;
    case OPT_JSON:
        options->is_json = true;
        return 0;
    case OPT_PIPELINE:
        options->is_pipelined = true;
        return 0;
    case OPT_ACCEPT:
        options->accept = arg;
        return 0;
    case OPT_LABEL:
        options->label = arg;
        return 0;
    case OPT_MESSAGE:
        options->message = arg;
        return 0;
    case OPT_PATH:
        options->path = arg;
        return 0;
    case OPT_RESPONSE_ENCODING:
        options->response_encoding = arg;
        return 0;
    case OPT_TEXT:
        return text_parse(options, arg);
    default:
        return number_option(options, c, arg);
    }
}

/* What was not said follows from what was. */
static void
options_complete(struct options *options)
{
    bool is_streaming_requests = options->kind == ECHO_KIND_CLIENT_STREAM ||
                                 options->kind == ECHO_KIND_BIDI_STREAM;

    if (options->path == NULL)
        options->path = echo_kind_path(options->kind);
    if (options->expect >= 0)
        return;
    options->expect = (int)options->status;
    if (options->is_cancelling)
        options->expect = ECHO_STATUS_CANCELLED;
    else if (options->deadline_ms > 0 &&
             (options->delay_ms >= options->deadline_ms ||
              (is_streaming_requests && options->count > 1 &&
               options->interval_ms >= options->deadline_ms)))
        options->expect = ECHO_STATUS_DEADLINE_EXCEEDED;
}

static int
options_check(struct options *options, int argc, char **argv)
{
    if (optind == argc)
        return usage_error("TARGET is missing", NULL);
    if (optind + 1 < argc)
        return usage_error("unexpected", argv[optind + 1]);
    options->target = argv[optind];
    if (echo_addr_parse(options->target, &options->addr) != 0)
        return usage_error("not an address", options->target);
    if (options->n_connections == 0 || options->n_in_flight == 0)
        return usage_error("--connections and --in-flight cannot be 0", NULL);
    if (options->message != NULL && options->status == 0)
        return usage_error("--message needs --status", NULL);
    if (options->path != NULL && options->path[0] != '/')
        return usage_error("--path starts with a slash", options->path);
    options_complete(options);
    return -1;
}

/* Names the option in its long form, whichever form was used. */
static int
value_error(int c, const char *arg)
{
    const struct option *option = long_options;

    while (option->name != NULL && option->val != c)
        option++;
    fprintf(stderr, "echo_client: --%s cannot be '%s'\n", option->name, arg);
    fputs("Try 'echo_client --help'.\n", stderr);
    return EXIT_USAGE;
}

int
options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.accept = ECHO_CODEC_ALL,
                                .size = 1000,
                                .count = 1,
                                .n_calls = 1,
                                .n_in_flight = 1,
                                .n_connections = 1,
                                .expect = -1};
    for (;;) {
        int c = getopt_long(argc, argv, "k:n:f:c:s:m:e:qh", long_options, NULL);
        if (c == -1)
            break;
        if (c == 'h')
            return help_print();
        if (c == '?')
            return usage_error("wrong option", NULL);
        if (option_apply(options, c, optarg) != 0)
            return value_error(c, optarg);
    }
    return options_check(options, argc, argv);
}
