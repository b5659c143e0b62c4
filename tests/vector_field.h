/* SPDX-License-Identifier: MIT */
/*
 * Reads the header lines of a vector, `name: value` with options in front,
 * and encodes them.
 */
#ifndef VECTOR_FIELD_H
#define VECTOR_FIELD_H

#include "vector_expr.h"

/* vector_field_read appends the HPACK bytes of the header line |line|. */
void vector_field_read(struct vector_buf *out, struct vector_cursor *line);

#endif
