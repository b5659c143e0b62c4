/* SPDX-License-Identifier: MIT */
/* Bytes of peers to text that JSON may hold. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* TEXT_GROWTH is how much longer text can get: a byte becomes \xNN. */
#define TEXT_GROWTH 4

/*
 * text_utf8_len returns the length of the UTF-8 sequence that begins at |in|
 * (|len| > 0 bytes), or 0 when it is none: overlong, a surrogate, above
 * U+10FFFF or cut short (RFC 3629).
 */
size_t text_utf8_len(const unsigned char *in, size_t len);

/*
 * text_utf8 copies |len| bytes into |out|, NUL-terminated, writing each byte
 * that is not part of valid UTF-8 as the four characters \xNN, and a NUL as
 * \x00.  Stops before a character for which |cap| bytes have no room.  Returns
 * the length written, the NUL apart.
 */
size_t text_utf8(char *out, size_t cap, const char *in, size_t len);

/* text_line is text_utf8 for a line on a terminal, which obeys control
 * characters: it writes them as \xNN, too. */
size_t text_line(char *out, size_t cap, const char *in, size_t len);

#endif
