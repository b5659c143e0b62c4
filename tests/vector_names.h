/* SPDX-License-Identifier: MIT */
/* The names each event must have, by the contract of the output. */
#ifndef VECTOR_NAMES_H
#define VECTOR_NAMES_H

#include "vector_lines.h"

/* vector_names_check appends to |problem| each name that |event| lacks; a
 * fact that is absent must be null, not missing. */
void vector_names_check(const cJSON *event, struct vector_buf *problem);

#endif
