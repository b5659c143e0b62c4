/* SPDX-License-Identifier: MIT */
/* The list of --what-if: codecs and levels to try. */
#ifndef WHAT_IF_LIST_H
#define WHAT_IF_LIST_H

#include "../grpcframe/grpcframe.h"

/* WHAT_IF_CODECS_MAX bounds the list: each message that is tried is compressed
 * with all of it. */
#define WHAT_IF_CODECS_MAX 16

/* WHAT_IF_LIST_DEFAULT is the list of a bare --what-if: what stacks offer, at
 * the levels that servers use, and the cheapest gzip. */
#define WHAT_IF_LIST_DEFAULT "gzip:1,gzip:6,br:4,zstd:3,snappy"

/* struct what_if_choice is a codec at a level. */
struct what_if_choice {
    /* codec is one that compresses; level one that it has. */
    enum grpcframe_codec codec;
    int level;
    /* has_level is 0 for a codec without levels. */
    int has_level;
};

/* struct what_if_list is n choices, none of them twice. */
struct what_if_list {
    /* choices stand in the order of the command line. */
    struct what_if_choice choices[WHAT_IF_CODECS_MAX];
    unsigned n;
};

/* what_if_list_parse reads `codec[:level]`, comma-separated, into |list|.
 * Returns NULL, or what is wrong with |text|. */
const char *what_if_list_parse(struct what_if_list *list, const char *text);

/* what_if_codec_name returns the name that |codec| has in grpc-encoding;
 * `stacked` for UNKNOWN, which here is several codings of one body. */
const char *what_if_codec_name(enum grpcframe_codec codec);

/* WHAT_IF_LABEL_MAX holds any label, and its NUL. */
#define WHAT_IF_LABEL_MAX 24

/* what_if_choice_label writes |choice| as it stands in a list. */
void what_if_choice_label(const struct what_if_choice *choice,
                          char label[WHAT_IF_LABEL_MAX]);

#endif
