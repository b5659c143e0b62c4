/* SPDX-License-Identifier: MIT */
/* The table of options, shared by the parser and --help so that neither can
 * know an option that the other does not. */
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

struct options;

/* struct option_row is one option. */
struct option_row {
    /* name is the long form, without its dashes. */
    const char *name;
    /* letter is the short form, or 0. */
    char letter;
    /* arg is what --help calls the argument, in brackets when it may be left
     * out (set is given NULL then), or NULL when it takes none. */
    const char *arg;
    /* set stores the argument and returns NULL, or what is wrong with it;
     * NULL for --help and --version. */
    const char *(*set)(struct options *options, char *arg);
    /* help is one or more lines for --help, of HELP_WIDTH columns at most. */
    const char *help;
};

/* option_rows has n_option_rows rows. */
extern const struct option_row option_rows[];
extern const int n_option_rows;

#endif
