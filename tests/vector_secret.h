/* SPDX-License-Identifier: MIT */
/*
 * The property that a header redacted is a header not printed: of whatever
 * name, in whatever event.
 */
#ifndef VECTOR_SECRET_H
#define VECTOR_SECRET_H

#include "vector_file.h"

/*
 * vector_secret_check plays |vector| with each header name in it redacted in
 * turn, and then all of them at once, and looks for the values in all that is
 * written.  Returns 0, or -1 after writing to |problem| what was found.
 */
int vector_secret_check(const struct vector *vector,
                        struct vector_buf *problem);

#endif
