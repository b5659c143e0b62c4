/* SPDX-License-Identifier: MIT */
/*
 * Reads one line of a vector: a cursor with the place for messages, and
 * payload expressions, which tests/vectors/README.md describes.
 */
#ifndef VECTOR_EXPR_H
#define VECTOR_EXPR_H

#include "vector_buf.h"

/* struct vector_cursor is what is left of a line. */
struct vector_cursor {
    /* p is the next character, end one past the last. */
    const char *p;
    const char *end;
    /* file and line say where the line stands. */
    const char *file;
    unsigned line;
};

/* vector_cursor_fail ends the program: the vector itself is faulty. */
_Noreturn void vector_cursor_fail(const struct vector_cursor *cursor,
                                  const char *what);

/* vector_cursor_space skips blanks, and a comment to the end of the line.
 * Returns 1 when nothing is left. */
int vector_cursor_space(struct vector_cursor *cursor);

/* vector_cursor_word reads a word (letters, digits and _ . / : , + -) after
 * blanks into |word|, which has |size| bytes; returns its length. */
size_t vector_cursor_word(struct vector_cursor *cursor, char *word,
                          size_t size);

/* vector_cursor_is skips |text| when it comes next; returns 1 then. */
int vector_cursor_is(struct vector_cursor *cursor, const char *text);

/* vector_cursor_number reads a number, decimal or 0x. */
uint64_t vector_cursor_number(struct vector_cursor *cursor);

/* vector_expr_escape reads one character of a quoted or header text, \xNN
 * and \\ \" \n \r \t included. */
uint8_t vector_expr_escape(struct vector_cursor *cursor);

/* vector_expr_read appends the value of the expression that fills the rest
 * of the line, or goes up to an unmatched `)` or `]`. */
void vector_expr_read(struct vector_cursor *cursor, struct vector_buf *out);

#endif
