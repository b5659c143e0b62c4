/* SPDX-License-Identifier: MIT */
/* What the program says about itself: --help, --version, usage errors. */
#ifndef HELP_H
#define HELP_H

#include "options.h"

/* HELP_WIDTH is how long a line of help about an option may be, so that the
 * whole stays within 80 columns. */
#define HELP_WIDTH 53

/* help_print_commands prints the commands on standard output.  This and the
 * next two return OPTIONS_DONE, or OPTIONS_FAILED when standard output does
 * not take it. */
enum options_result help_print_commands(void);

/* help_print_proxy prints the options of `grpctap proxy`. */
enum options_result help_print_proxy(void);

/* help_print_version prints the version. */
enum options_result help_print_version(void);

/* help_usage_error prints what is wrong with the command line and where help
 * is, on standard error.  Returns OPTIONS_USAGE. */
enum options_result help_usage_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
