/* SPDX-License-Identifier: MIT */
/* Tables of HTTP/1.x connections and the logs they must come to. */
#ifndef VECTOR_H1_ROWS_H
#define VECTOR_H1_ROWS_H

#include "vector_h1.h"

/* VECTOR_H1_STEPS is the most steps a row has. */
#define VECTOR_H1_STEPS 12

/* struct vector_h1_row is one connection. */
struct vector_h1_row {
    const char *name;
    /* steps are bytes behind > (client) or < (server); $ alone is the end of
     * that side. */
    const char *steps[VECTOR_H1_STEPS];
    /* log is what vector_h1_log.text must be. */
    const char *log;
    /* is_free is 1 when the outcome of each exchange does not change as the
     * client runs ahead of the server. */
    int is_free;
};

/* vector_h1_row_script makes the script of |row|. */
void vector_h1_row_script(const struct vector_h1_row *row,
                          struct vector_h1_script *script);

/* vector_h1_row_check plays |row| whole, byte by byte, cut at every point and
 * at random, and compares; what differs goes to |problem|. */
void vector_h1_row_check(const struct vector_h1_row *row,
                         struct vector_buf *problem);

/* vector_h1_row_sweep_alloc plays |row| with each allocation failing in
 * turn. */
void vector_h1_row_sweep_alloc(const struct vector_h1_row *row,
                               struct vector_buf *problem);

/* vector_h1_row_sweep_calls plays |row| with each callback failing in
 * turn. */
void vector_h1_row_sweep_calls(const struct vector_h1_row *row,
                               struct vector_buf *problem);

/* vector_h1_rows_run runs one of the three above on |n| rows, prints the
 * problems and returns how many rows have some. */
unsigned vector_h1_rows_run(const struct vector_h1_row *rows, size_t n,
                            void (*check)(const struct vector_h1_row *row,
                                          struct vector_buf *problem));

#endif
