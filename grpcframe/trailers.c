/* SPDX-License-Identifier: MIT */
/*
 * Owns the text of a trailers frame of gRPC-Web: its memory, and how it falls
 * into lines.  What a status is worth is the caller's business.
 */
#include "trailers.h"

#include <string.h>

#include "inflate.h"

/* TEXT_FIRST is room for what most servers send: a status and a message. */
#define TEXT_FIRST 128

/* ---- Memory ---------------------------------------------------------- */

/* Makes room for |len| more bytes, of memory that the pool bounds; a declared
 * length alone takes none.  Returns 0 when there is none. */
static int
text_reserve(struct grpcframe_reader *reader, size_t len)
{
    size_t need = reader->text_len + len;
    size_t cap = reader->text_cap > 0 ? reader->text_cap : TEXT_FIRST;
    char *text;

    if (need <= reader->text_cap)
        return 1;
    while (cap < need)
        cap *= 2;
    text = grpcframe_inflate_alloc(reader->pool, cap);
    if (text == NULL)
        return 0;
    if (reader->text_len > 0)
        memcpy(text, reader->text, reader->text_len);
    grpcframe_inflate_free(reader->pool, reader->text);
    reader->text = text;
    reader->text_cap = cap;
    return 1;
}

int
grpcframe_trailers_keep(const uint8_t *data, size_t len, void *reader)
{
    struct grpcframe_reader *r = reader;
    size_t n = GRPCFRAME_TRAILERS_MAX - r->text_len;

    if (n > len)
        n = len;
    if (!r->text_failed && n > 0 && !text_reserve(r, n))
        r->text_failed = 1;
    if (r->text_failed)
        n = 0;
    if (n > 0)
        memcpy(r->text + r->text_len, data, n);
    r->text_len += n;
    r->omitted += len - n;
    return 0;
}

/* A line that is not all there says nothing. */
static void
text_cut_line(struct grpcframe_reader *reader)
{
    while (reader->text_len > 0 && reader->text[reader->text_len - 1] != '\n') {
        reader->text_len--;
        reader->omitted++;
    }
}

int
grpcframe_trailers_end(struct grpcframe_reader *reader)
{
    struct grpcframe_trailers trailers = {.frame = &reader->message};
    int stop = 0;

    if (reader->omitted > 0 || reader->message.result != GRPCFRAME_RESULT_OK)
        text_cut_line(reader);
    if (reader->text_failed)
        reader->message.result = GRPCFRAME_RESULT_MEMORY;
    trailers.text = reader->text;
    trailers.text_len = reader->text_len;
    trailers.omitted = reader->omitted;
    if (reader->on_trailers != NULL)
        stop = reader->on_trailers(&trailers, reader->user);
    grpcframe_trailers_drop(reader);
    return stop ? GRPCFRAME_ERR_CALLBACK : GRPCFRAME_OK;
}

void
grpcframe_trailers_drop(struct grpcframe_reader *reader)
{
    if (reader->text == NULL)
        return;
    grpcframe_inflate_free(reader->pool, reader->text);
    reader->text = NULL;
    reader->text_len = 0;
    reader->text_cap = 0;
}

/* ---- Lines ----------------------------------------------------------- */

/* Cuts the next line off, its end left out.  Returns 0 when there is none. */
static int
next_line(char **text, size_t *len, char **line, size_t *line_len)
{
    char *end;

    if (*len == 0)
        return 0;
    *line = *text;
    end = memchr(*text, '\n', *len);
    *line_len = end != NULL ? (size_t)(end - *text) : *len;
    *text += *line_len + (end != NULL);
    *len -= *line_len + (end != NULL);
    if (*line_len > 0 && (*line)[*line_len - 1] == '\r')
        --*line_len;
    return 1;
}

/* Turns a name to lower case; 0 when it is none. */
static int
lower_name(char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (name[i] <= ' ' || name[i] >= 0x7f)
            return 0;
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] = (char)(name[i] - 'A' + 'a');
    }
    return len > 0;
}

static int
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

int
grpcframe_trailer_next(char **text, size_t *len,
                       struct grpcframe_trailer *trailer)
{
    char *line;
    char *colon;
    size_t n;

    do {
        if (!next_line(text, len, &line, &n))
            return 0;
    } while (n == 0);
    colon = memchr(line, ':', n);
    if (colon == NULL || !lower_name(line, (size_t)(colon - line)))
        return GRPCFRAME_ERR_INVALID;
    trailer->name = line;
    trailer->name_len = (size_t)(colon - line);
    trailer->value = colon + 1;
    trailer->value_len = n - trailer->name_len - 1;
    while (trailer->value_len > 0 && is_blank(*trailer->value)) {
        trailer->value++;
        trailer->value_len--;
    }
    while (trailer->value_len > 0 &&
           is_blank(trailer->value[trailer->value_len - 1]))
        trailer->value_len--;
    return 1;
}
