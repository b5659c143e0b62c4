/* SPDX-License-Identifier: MIT */
/*
 * Encodes header fields (RFC 7541) one by one, each in the representation
 * the caller asks for.  It keeps no dynamic table: who wants an index gives
 * the number, so that vectors can also be wrong on purpose.
 */
#ifndef VECTOR_HPACK_H
#define VECTOR_HPACK_H

#include "vector_buf.h"

/* enum vector_hpack_form is a representation of RFC 7541, section 6. */
enum vector_hpack_form {
    VECTOR_HPACK_PLAIN = 0x00,       /* literal without indexing */
    VECTOR_HPACK_NEVER = 0x10,       /* literal never indexed */
    VECTOR_HPACK_INCREMENTAL = 0x40, /* literal, added to the table */
};

/* vector_hpack_string appends |len| bytes as a string literal, Huffman coded
 * when |huffman| is not 0. */
void vector_hpack_string(struct vector_buf *out, const void *text, size_t len,
                         int huffman);

/* vector_hpack_field appends a literal field with its name written out. */
void vector_hpack_field(struct vector_buf *out, enum vector_hpack_form form,
                        int huffman, const char *name, size_t name_len,
                        const char *value, size_t value_len);

/* vector_hpack_name appends a literal field whose name is entry |index|. */
void vector_hpack_name(struct vector_buf *out, enum vector_hpack_form form,
                       int huffman, uint32_t index, const char *value,
                       size_t value_len);

/* vector_hpack_indexed appends the indexed field |index|. */
void vector_hpack_indexed(struct vector_buf *out, uint32_t index);

/* vector_hpack_size appends a dynamic table size update to |size|. */
void vector_hpack_size(struct vector_buf *out, uint32_t size);

#endif
