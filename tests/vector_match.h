/* SPDX-License-Identifier: MIT */
/* What a vector expects against what came; differences are printed. */
#ifndef VECTOR_MATCH_H
#define VECTOR_MATCH_H

#include "vector_file.h"
#include "vector_lines.h"
#include "vector_tap.h"

/* vector_fail prints |what| with the place in the file. */
void vector_fail(const struct vector *vector, unsigned line,
                 const char *what);

/* vector_match compares events.  Notices are in order among themselves and the
 * other events among themselves; how the two mix is nobody's promise.  Returns
 * 0, or -1 when they differ, as the following do. */
int vector_match(const struct vector *vector,
                 const struct vector_lines *lines);

/* vector_match_texts looks for the texts that must be there, or must not. */
int vector_match_texts(const struct vector *vector,
                       const struct vector_run *run);

/* vector_match_controls: a notice that this is the control of does not come. */
int vector_match_controls(const struct vector *vector,
                          const struct vector_lines *lines);

#endif
