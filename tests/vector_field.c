/* SPDX-License-Identifier: MIT */
/*
 * Owns the notation of header lines in vectors.  How a field becomes bytes
 * is vector_hpack.c's.
 */
#include "vector_field.h"

#include <string.h>

#include "vector_hpack.h"

/* struct field_options are the words in [ ] before a field. */
struct field_options {
    /* form is the representation to write. */
    enum vector_hpack_form form;
    /* huffman is 1 when strings are to be Huffman coded. */
    int huffman;
    /* index is that of the entry that has the name; 0: written out. */
    uint32_t index;
    /* times is how often the value is repeated. */
    uint64_t times;
    /* is_done is 1 when the options alone were the field. */
    int is_done;
};

/* field_request and field_response are the fields that `[request PATH]` and
 * `[response]` stand for; the path goes where NULL is.  A content type of their
 * own may follow in the brackets, and then there is no `te`. */
static const char *const field_request[][2] = {
    {":method", "POST"},
    {":scheme", "http"},
    {":path", NULL},
    {":authority", "test"},
    {"content-type", "application/grpc"},
    {"te", "trailers"},
};

static const char *const field_response[][2] = {
    {":status", "200"},
    {"content-type", "application/grpc"},
};

static void
field_plain(struct vector_buf *out, const char *name, const char *value)
{
    vector_hpack_field(out, VECTOR_HPACK_PLAIN, 0, name, strlen(name), value,
                       strlen(value));
}

static void
field_group_write(struct vector_buf *out, const char *const (*fields)[2],
                  size_t n, const char *path, struct vector_cursor *line)
{
    char type[128];
    size_t len = vector_cursor_word(line, type, sizeof(type));

    for (size_t i = 0; i < n; i++) {
        const char *value = fields[i][1] == NULL ? path : fields[i][1];

        if (len > 0 && strcmp(fields[i][0], "te") == 0) {
            continue;
        }
        if (len > 0 && strcmp(fields[i][0], "content-type") == 0) {
            value = type;
        }
        field_plain(out, fields[i][0], value);
    }
}

static void
field_request_write(struct vector_buf *out, struct vector_cursor *line)
{
    char path[128];

    vector_cursor_word(line, path, sizeof(path));
    field_group_write(out, field_request,
                      sizeof(field_request) / sizeof(*field_request), path,
                      line);
}

static void
field_response_write(struct vector_buf *out, struct vector_cursor *line)
{
    field_group_write(out, field_response,
                      sizeof(field_response) / sizeof(*field_response), NULL,
                      line);
}

/* field_option applies the option |word|. */
static void
field_option(struct vector_buf *out, struct vector_cursor *line,
             struct field_options *options, const char *word)
{
    if (strcmp(word, "incremental") == 0) {
        options->form = VECTOR_HPACK_INCREMENTAL;
    } else if (strcmp(word, "never") == 0) {
        options->form = VECTOR_HPACK_NEVER;
    } else if (strcmp(word, "huffman") == 0) {
        options->huffman = 1;
    } else if (strcmp(word, "name") == 0) {
        options->index = (uint32_t)vector_cursor_number(line);
    } else if (strcmp(word, "times") == 0) {
        options->times = vector_cursor_number(line);
    } else {
        options->is_done = 1;
        if (strcmp(word, "indexed") == 0) {
            vector_hpack_indexed(out, (uint32_t)vector_cursor_number(line));
        } else if (strcmp(word, "size") == 0) {
            vector_hpack_size(out, (uint32_t)vector_cursor_number(line));
        } else if (strcmp(word, "request") == 0) {
            field_request_write(out, line);
        } else if (strcmp(word, "response") == 0) {
            field_response_write(out, line);
        } else if (strcmp(word, "raw") == 0) {
            vector_expr_read(line, out);
        } else {
            vector_cursor_fail(line, "an unknown option");
        }
    }
}

static void
field_text(struct vector_cursor *line, struct vector_buf *name,
           struct vector_buf *value, int has_name)
{
    const char *start;

    while (has_name && line->p < line->end &&
           (name->len == 0 || *line->p != ':')) {
        uint8_t byte = vector_expr_escape(line);

        vector_buf_add(name, &byte, 1);
    }
    if (has_name && !vector_cursor_is(line, ":")) {
        vector_cursor_fail(line, "a : is missing");
    }
    while (line->p < line->end && *line->p == ' ') {
        line->p++;
    }
    start = line->p;
    while (line->end > start && line->end[-1] == ' ') {
        line->end--;
    }
    while (line->p < line->end) {
        uint8_t byte = vector_expr_escape(line);

        vector_buf_add(value, &byte, 1);
    }
}

static void
field_repeat(struct vector_buf *value, uint64_t times)
{
    struct vector_buf once = *value;

    memset(value, 0, sizeof(*value));
    for (uint64_t i = 0; i < times; i++) {
        vector_buf_add(value, once.data, once.len);
    }
    vector_buf_clear(&once);
}

static void
field_literal(struct vector_buf *out, struct vector_cursor *line,
              const struct field_options *options)
{
    struct vector_buf name = {0};
    struct vector_buf value = {0};

    field_text(line, &name, &value, options->index == 0);
    vector_buf_add(&name, "", 0);
    vector_buf_add(&value, "", 0);
    field_repeat(&value, options->times);
    if (options->index != 0) {
        vector_hpack_name(out, options->form, options->huffman, options->index,
                          (const char *)value.data, value.len);
    } else {
        vector_hpack_field(out, options->form, options->huffman,
                           (const char *)name.data, name.len,
                           (const char *)value.data, value.len);
    }
    vector_buf_clear(&name);
    vector_buf_clear(&value);
}

void
vector_field_read(struct vector_buf *out, struct vector_cursor *line)
{
    struct field_options options = {VECTOR_HPACK_PLAIN, 0, 0, 1, 0};
    char word[32];

    while (line->p < line->end && *line->p == ' ') {
        line->p++;
    }
    if (vector_cursor_is(line, "[")) {
        while (vector_cursor_word(line, word, sizeof(word)) > 0) {
            field_option(out, line, &options, word);
            vector_cursor_space(line);
        }
        if (!vector_cursor_is(line, "]")) {
            vector_cursor_fail(line, "a ] is missing");
        }
    }
    if (!options.is_done) {
        while (line->p < line->end && *line->p == ' ') {
            line->p++;
        }
        field_literal(out, line, &options);
    } else if (!vector_cursor_space(line)) {
        vector_cursor_fail(line, "nothing may follow");
    }
}
