/* SPDX-License-Identifier: MIT */
/* The log side of vector_h1: a connection whose callbacks write. */
#ifndef VECTOR_H1_LOG_H
#define VECTOR_H1_LOG_H

#include "vector_h1.h"

/* vector_h1_log_open makes the connection; 0 when memory is out. */
int vector_h1_log_open(struct vector_h1_log *log);

/* vector_h1_log_fed notes what feeding |len| bytes has returned. */
void vector_h1_log_fed(struct vector_h1_log *log, enum h1dec_side side,
                       size_t len, size_t used, int error);

/* vector_h1_log_close writes the books, checks them and frees the
 * connection, which is closed. */
void vector_h1_log_close(struct vector_h1_log *log);

#endif
