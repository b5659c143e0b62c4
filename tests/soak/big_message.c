/* SPDX-License-Identifier: MIT */
/*
 * big_message owns the command line; the two ends are big_message_client.c
 * and big_message_server.c.
 */
#define _POSIX_C_SOURCE 200809L

#include "big_message.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static const char help[] =
    "Usage: big_message server [--listen ADDR]\n"
    "       big_message client [--size SIZE] [--gzip] [--text KIND] TARGET\n"
    "A gRPC call with one very long request message; neither end stores it.\n"
    "ADDR and TARGET are PORT, HOST:PORT, [V6]:PORT or unix:PATH.\n"
    "\n"
    "  -l, --listen ADDR   where to serve (default 127.0.0.1:0); the server\n"
    "                      prints \"listening PORT\" when it is ready\n"
    "  -s, --size SIZE     bytes before compression, also 100K, 64M or 1G\n"
    "                      (default 1G)\n"
    "  -z, --gzip          compress the message: deflate level 1\n"
    "  -t, --text KIND     random (default), hex or zeros\n"
    "  -h, --help          print this and exit\n"
    "\n"
    "The client compares the length and SHA-256 of what the server got with\n"
    "what it sent, and prints them as a JSON object.\n"
    "Exit status: 0 they are equal, 1 a failure, 2 usage.\n";

/* struct command is what the command line says. */
struct command {
    /* client is for one, listen for the other. */
    struct big_options client;
    struct echo_addr listen;
};

static int
usage_error(const char *what, const char *value)
{
    fprintf(stderr, "big_message: %s%s%s\n", what, value == NULL ? "" : ": ",
            value == NULL ? "" : value);
    fputs("Try 'big_message --help'.\n", stderr);
    return EXIT_USAGE;
}

static int
size_parse(const char *text, uint64_t *size)
{
    static const char units[] = "KMG";
    char *end = NULL;
    const char *unit;

    if (text[0] < '0' || text[0] > '9')
        return -1;
    errno = 0;
    *size = strtoull(text, &end, 10);
    /* More than a prefix can say is refused later, with what it comes to. */
    if (errno != 0 || *size > UINT32_MAX)
        return -1;
    if (*end == '\0')
        return 0;
    unit = strchr(units, *end);
    if (unit == NULL || end[1] != '\0')
        return -1;
    *size <<= 10 * (unit - units + 1);
    return 0;
}

static int
text_parse(const char *text, enum big_text *kind)
{
    static const char *const names[] = {"random", "hex", "zeros"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text) != 0)
            continue;
        *kind = (enum big_text)i;
        return 0;
    }
    return -1;
}

/* Applies one option; -1 when its argument makes no sense. */
static int
option_apply(struct command *command, int c)
{
    switch (c) {
    case 'l':
        return echo_addr_parse(optarg, &command->listen);
    case 's':
        return size_parse(optarg, &command->client.size);
    case 't':
        return text_parse(optarg, &command->client.text);
    default:
        command->client.is_gzip = true;
        return 0;
    }
}

static int
client_start(struct command *command, int argc, char **argv)
{
    if (argc != 1)
        return usage_error("one TARGET is needed", NULL);
    command->client.target = argv[0];
    if (echo_addr_parse(argv[0], &command->client.addr) != 0)
        return usage_error("not an address", argv[0]);
    return big_client_run(&command->client);
}

static int
command_run(struct command *command, int argc, char **argv)
{
    if (argc == 0)
        return usage_error("server or client?", NULL);
    if (strcmp(argv[0], "client") == 0)
        return client_start(command, argc - 1, argv + 1);
    if (strcmp(argv[0], "server") == 0)
        return argc == 1 ? big_server_run(&command->listen)
                         : usage_error("unexpected", argv[1]);
    return usage_error("unknown command", argv[0]);
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {
        {"listen", required_argument, NULL, 'l'},
        {"size", required_argument, NULL, 's'},
        {"text", required_argument, NULL, 't'},
        {"gzip", no_argument, NULL, 'z'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    struct command command = {.client = {.size = 1u << 30}};

    (void)echo_addr_parse("127.0.0.1:0", &command.listen);
    for (;;) {
        int c = getopt_long(argc, argv, "l:s:t:zh", options, NULL);

        if (c == -1)
            return command_run(&command, argc - optind, argv + optind);
        if (c == 'h')
            return fputs(help, stdout) == EOF ? EXIT_FAILURE : EXIT_SUCCESS;
        if (c == '?')
            return usage_error("wrong option", NULL);
        if (option_apply(&command, c) != 0)
            return usage_error("not a value for an option", optarg);
    }
}
