/* SPDX-License-Identifier: MIT */
/*
 * Reads files of vectors; tests/vectors/README.md describes the format.
 */
#ifndef VECTOR_FILE_H
#define VECTOR_FILE_H

#include "vector_lines.h"
#include "vector_tap.h"

/* struct vector_want is one expected event. */
struct vector_want {
    /* event holds the names and values that must be there. */
    cJSON *event;
    /* line is where it stands in the file. */
    unsigned line;
};

/* struct vector_text is a text that the output must, or must not, hold. */
struct vector_text {
    /* text is looked for in the lines as written. */
    struct vector_buf text;
    /* is_absent is 1 when it must not be there. */
    int is_absent;
    /* line is where it stands in the file. */
    unsigned line;
};

/* struct vector is one test. */
struct vector {
    /* name is its title, file and line say where it starts. */
    char *name;
    const char *file;
    unsigned line;
    /* script is what is played, with the configuration. */
    struct vector_script script;
    /* redact holds the names of script.config.redact. */
    char **redact;
    /* wants are the n_wants expected events in order. */
    struct vector_want *wants;
    size_t n_wants;
    /* texts are the n_texts texts to look for. */
    struct vector_text *texts;
    size_t n_texts;
    /* controls are the n_controls codes of notices that a vector much like
     * this one has, and this one must not. */
    char **controls;
    size_t n_controls;
    /* loose is a mask (1 << enum event_kind) of kinds that may come without
     * being listed. */
    unsigned loose;
};

/* struct vector_file is what one file holds. */
struct vector_file {
    /* vectors are n tests in order. */
    struct vector *vectors;
    size_t n;
};

/* vector_file_load reads |path|, which must outlive |file|.  A fault in the
 * file ends the program with its place. */
void vector_file_load(struct vector_file *file, const char *path);

/* vector_file_clear frees what |file| holds. */
void vector_file_clear(struct vector_file *file);

#endif
