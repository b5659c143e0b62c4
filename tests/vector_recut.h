/* SPDX-License-Identifier: MIT */
/*
 * Cuts DATA frames and header blocks of a script into more frames, which may
 * change no event but its counts of frames and of what frames cost: rule 2 of
 * tests/README.md, where vector_tap.c cuts what TCP carries.
 */
#ifndef VECTOR_RECUT_H
#define VECTOR_RECUT_H

#include "vector_lines.h"
#include "vector_tap.h"

/*
 * vector_recut_check plays |script| with its frames cut as |seed| says and
 * compares the events with |lines|, those of the script as it is.  Only
 * HTTP/2 without an error is cut: a fault is told of one frame.  Returns how
 * many frames were added; what differs goes to |problem|.
 */
size_t vector_recut_check(const struct vector_script *script, uint32_t seed,
                          const struct vector_lines *lines,
                          struct vector_buf *problem);

#endif
