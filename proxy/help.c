/* SPDX-License-Identifier: MIT */
/* Owns the texts of --help, --version and usage errors, and the commands of
 * `grpctap`.  The options come from the table of options.c. */
#include "help.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "options_table.h"
#include "version.h"

/* COLUMN is where the help about an option starts. */
#define COLUMN 27

static const char commands[] =
    "Usage: grpctap COMMAND [OPTIONS]\n"
    "\n"
    "Shows what gRPC, gRPC-Web and HTTP traffic costs on the wire.\n"
    "\n"
    "Commands:\n"
    "  proxy           relay TCP connections unchanged, and write what "
    "passes\n"
    "                  as JSON lines\n"
    "  help [COMMAND]  print this, or the options of COMMAND\n"
    "\n"
    "Options:\n"
    "  -h, --help      print this and exit\n"
    "  -V, --version   print the version and exit\n";

static const char proxy_head[] =
    "Usage: grpctap proxy --listen ADDR --upstream ADDR [OPTIONS]\n"
    "\n"
    "Relays TCP connections unchanged and writes what it sees in them of\n"
    "HTTP/1.x, HTTP/2, gRPC, gRPC-Web and TLS as JSON lines on standard "
    "output.\n"
    "\n"
    "Options:\n";

static const char proxy_tail[] =
    "\n"
    "TIME is a number and us, ms, s, m or h (no unit: seconds); SIZE is a\n"
    "number and K, M or G (1024s; no unit: bytes).\n"
    "\n"
    "Signals: INT, TERM  stop, write the pending events; twice: at once\n"
    "         HUP        reopen --output and --log-file\n"
    "         USR1       print live counters on standard error\n"
    "\n"
    "Exit status: 0 stopped as asked, 1 failed at run time, 2 usage.\n"
    "\n"
    "Example: grpctap proxy -l 8080 -u localhost:50051 | jq .\n";

/* help_finish reports a standard output that did not take the help. */
static enum options_result
help_finish(void)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return OPTIONS_DONE;
    fprintf(stderr, "grpctap: cannot write to standard output: %s\n",
            strerror(errno));
    return OPTIONS_FAILED;
}

enum options_result
help_print_commands(void)
{
    fputs(commands, stdout);
    return help_finish();
}

static void
help_print_row(const struct option_row *row)
{
    char left[COLUMN + 16];
    int len = 0;
    const char *text = row->help;

    if (row->letter != 0)
        len =
            snprintf(left, sizeof(left), "  -%c, --%s", row->letter, row->name);
    else
        len = snprintf(left, sizeof(left), "      --%s", row->name);
    printf("%s%s%s", left, row->arg != NULL ? " " : "",
           row->arg != NULL ? row->arg : "");
    len += row->arg != NULL ? (int)strlen(row->arg) + 1 : 0;
    if (len > COLUMN - 2) {
        putchar('\n');
        len = 0;
    }
    while (*text != '\0') {
        int line = (int)strcspn(text, "\n");
        printf("%*s%.*s\n", COLUMN - len, "", line, text);
        text += line + (text[line] == '\n');
        len = 0;
    }
}

enum options_result
help_print_proxy(void)
{
    fputs(proxy_head, stdout);
    for (int i = 0; i < n_option_rows; i++)
        help_print_row(&option_rows[i]);
    fputs(proxy_tail, stdout);
    return help_finish();
}

enum options_result
help_print_version(void)
{
    puts("grpctap " GRPCTAP_VERSION);
    return help_finish();
}

enum options_result
help_usage_error(const char *format, ...)
{
    va_list args;

    fputs("grpctap: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\nTry `grpctap proxy --help'.\n", stderr);
    return OPTIONS_USAGE;
}

/* help_unknown is the usage error where no command is known yet, so that no
 * command's help would help. */
static enum options_result
help_unknown(const char *what, const char *word)
{
    fprintf(stderr, "grpctap: %s %s\nTry `grpctap --help'.\n", what, word);
    return OPTIONS_USAGE;
}

/* help_for answers `grpctap help [COMMAND]`. */
static enum options_result
help_for(int argc, char **argv)
{
    if (argc == 0)
        return help_print_commands();
    if (argc > 1)
        return help_unknown("unexpected argument", argv[1]);
    if (strcmp(argv[0], "proxy") == 0)
        return help_print_proxy();
    return help_unknown("unknown command", argv[0]);
}

enum options_result
options_command(int *argc, char ***argv)
{
    const char *word = *argc > 1 ? (*argv)[1] : NULL;

    if (word == NULL || strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
        return help_print_commands();
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
        return help_print_version();
    if (strcmp(word, "help") == 0)
        return help_for(*argc - 2, *argv + 2);
    if (strcmp(word, "proxy") != 0)
        return help_unknown(
            word[0] == '-' ? "unknown option" : "unknown command", word);
    *argc -= 1;
    *argv += 1;
    return OPTIONS_RUN;
}
