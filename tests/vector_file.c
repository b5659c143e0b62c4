/* SPDX-License-Identifier: MIT */
/*
 * Owns the format of vector files: titles, options, input and expectations.
 * Frames and payloads are vector_frame.c's and vector_expr.c's.
 */
#include "vector_file.h"

#include <stdlib.h>
#include <string.h>

#include "../proxy/kind.h"
#include "vector_frame.h"

/* FIELDS_MAX bounds the header lines of one frame. */
#define FIELDS_MAX 512

/* struct reader is a file being read. */
struct reader {
    /* file is what is filled, at the line under way. */
    struct vector_file *file;
    struct vector_cursor line;
    /* next is the text after that line. */
    const char *next;
    const char *end;
    /* at_us is the time that the next input has. */
    uint64_t at_us;
};

static char *
text_copy(const char *text, size_t len)
{
    char *copy = vector_alloc(len + 1);

    memcpy(copy, text, len);
    return copy;
}

/* reader_line takes the next line; returns 0 at the end of the file. */
static int
reader_line(struct reader *reader)
{
    const char *end;

    if (reader->next >= reader->end) {
        return 0;
    }
    end = memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
    if (end == NULL) {
        end = reader->end;
    }
    reader->line.p = reader->next;
    reader->line.end = end;
    reader->line.line++;
    reader->next = end + 1;
    return 1;
}

/* reader_more takes the next line when it is indented, which makes it part
 * of what stands above. */
static int
reader_more(struct reader *reader)
{
    if (reader->next >= reader->end || *reader->next != ' ') {
        return 0;
    }
    return reader_line(reader);
}

static struct vector *
reader_vector(struct reader *reader)
{
    if (reader->file->n == 0) {
        vector_cursor_fail(&reader->line, "no title (== NAME) before");
    }
    return &reader->file->vectors[reader->file->n - 1];
}

static void
title_read(struct reader *reader)
{
    struct vector_file *file = reader->file;
    struct vector *vector;

    while (reader->line.p < reader->line.end && *reader->line.p == ' ') {
        reader->line.p++;
    }
    file->vectors =
        vector_grow(file->vectors, file->n + 1, sizeof(*file->vectors));
    vector = &file->vectors[file->n++];
    memset(vector, 0, sizeof(*vector));
    vector->name =
        text_copy(reader->line.p, (size_t)(reader->line.end - reader->line.p));
    vector->file = reader->line.file;
    vector->line = reader->line.line;
    vector->script.config.events = vector_tap_all_events;
    reader->at_us = 0;
}

static enum side
side_read(struct reader *reader)
{
    char word[16];

    vector_cursor_word(&reader->line, word, sizeof(word));
    if (strcmp(word, "client") == 0) {
        return SIDE_CLIENT;
    }
    if (strcmp(word, "server") != 0) {
        vector_cursor_fail(&reader->line, "client or server is missing");
    }
    return SIDE_SERVER;
}

static void
input_read(struct reader *reader)
{
    static struct vector_cursor fields[FIELDS_MAX];
    struct vector *vector = reader_vector(reader);
    enum side from = side_read(reader);
    struct vector_cursor line;
    struct vector_step *step;
    size_t n = 0;

    vector_cursor_space(&reader->line);
    line = reader->line;
    if (vector_cursor_is(&line, "EOF")) {
        vector_script_add(&vector->script, VECTOR_STEP_EOF, from,
                          reader->at_us);
        return;
    }
    while (reader_more(reader)) {
        if (n == FIELDS_MAX) {
            vector_cursor_fail(&reader->line, "too many header lines");
        }
        fields[n++] = reader->line;
    }
    step = vector_script_add(&vector->script, VECTOR_STEP_BYTES, from,
                             reader->at_us);
    vector_frame_read(&step->bytes, &line, fields, n);
    if (step->bytes.len == 0) {
        vector_cursor_fail(&line, "nothing to send");
    }
}

static void
want_read(struct reader *reader)
{
    struct vector *vector = reader_vector(reader);
    struct vector_cursor start = reader->line;
    struct vector_buf text = {0};
    struct vector_want want;

    do {
        vector_buf_add(&text, reader->line.p,
                       (size_t)(reader->line.end - reader->line.p));
    } while (reader_more(reader));
    want.line = start.line;
    want.event = cJSON_ParseWithLengthOpts((const char *)text.data,
                                           text.len + 1, NULL, 1);
    if (!cJSON_IsObject(want.event)) {
        vector_cursor_fail(&start, "not a JSON object");
    }
    vector_buf_clear(&text);
    vector->wants =
        vector_grow(vector->wants, vector->n_wants + 1, sizeof(want));
    vector->wants[vector->n_wants++] = want;
}

static void
close_read(struct reader *reader)
{
    static const char *const reasons[] = {
        "client_closed",  "server_closed", "client_reset", "server_reset",
        "connect_failed", "timeout",       "shutdown"};
    char word[32];

    vector_cursor_word(&reader->line, word, sizeof(word));
    for (unsigned i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
        if (strcmp(word, reasons[i]) == 0) {
            vector_script_add(&reader_vector(reader)->script, VECTOR_STEP_CLOSE,
                              SIDE_CLIENT, reader->at_us)
                ->reason = (enum conn_reason)i;
            return;
        }
    }
    vector_cursor_fail(&reader->line, "an unknown reason");
}

/* at_read reads a time: `+` makes it relative to the time before. */
static void
at_read(struct reader *reader)
{
    char word[32];
    char *end;
    uint64_t value;
    uint64_t base;

    vector_cursor_word(&reader->line, word, sizeof(word));
    base = word[0] == '+' ? reader->at_us : 0;
    value = strtoull(word + (word[0] == '+'), &end, 10);
    if (strcmp(end, "s") == 0) {
        value *= 1000000;
    } else if (strcmp(end, "ms") == 0) {
        value *= 1000;
    } else if (strcmp(end, "us") != 0) {
        vector_cursor_fail(&reader->line, "a time needs us, ms or s");
    }
    if (base + value < reader->at_us) {
        vector_cursor_fail(&reader->line, "time runs backwards");
    }
    reader->at_us = base + value;
}

/* kinds_read adds to |*mask| the kinds in a list with commas. */
static void
kinds_read(struct reader *reader, unsigned *mask)
{
    const char *word = reader->line.p;

    while (word < reader->line.end && *word == ' ') {
        word++;
    }
    while (word < reader->line.end) {
        const char *end = memchr(word, ',', (size_t)(reader->line.end - word));

        end = end == NULL ? reader->line.end : end;
        if (event_kind_select(mask, word, (size_t)(end - word)) != 0) {
            vector_cursor_fail(&reader->line, "an unknown event");
        }
        word = end + 1;
    }
}

static void
text_read(struct reader *reader, int is_absent)
{
    struct vector *vector = reader_vector(reader);
    struct vector_text *text;

    vector->texts =
        vector_grow(vector->texts, vector->n_texts + 1, sizeof(*vector->texts));
    text = &vector->texts[vector->n_texts++];
    memset(text, 0, sizeof(*text));
    text->is_absent = is_absent;
    text->line = reader->line.line;
    vector_expr_read(&reader->line, &text->text);
}

static void
redact_read(struct reader *reader)
{
    struct vector *vector = reader_vector(reader);
    struct tap_config *config = &vector->script.config;
    char word[64];
    size_t len;

    for (;;) {
        len = vector_cursor_word(&reader->line, word, sizeof(word));
        if (len == 0) {
            break;
        }
        vector->redact = vector_grow(vector->redact, config->n_redact + 1,
                                     sizeof(*vector->redact));
        vector->redact[config->n_redact++] = text_copy(word, len);
    }
    config->redact = (const char *const *)vector->redact;
}

/* control_read reads codes of notices: that none of them may come is checked
 * as for any vector, that each code has such a control by tests/check_docs. */
static void
control_read(struct reader *reader)
{
    struct vector *vector = reader_vector(reader);
    char word[64];
    size_t len;

    for (;;) {
        len = vector_cursor_word(&reader->line, word, sizeof(word));
        if (len == 0) {
            break;
        }
        vector->controls = vector_grow(vector->controls,
                                       vector->n_controls + 1,
                                       sizeof(*vector->controls));
        vector->controls[vector->n_controls++] = text_copy(word, len);
    }
}

/* option_read reads the lines that set something up; returns 0 for others. */
static int
option_read(struct reader *reader)
{
    struct vector_cursor *line = &reader->line;

    if (vector_cursor_is(line, "events ")) {
        reader_vector(reader)->script.config.events = 0;
        kinds_read(reader, &reader_vector(reader)->script.config.events);
    } else if (vector_cursor_is(line, "loose ")) {
        kinds_read(reader, &reader_vector(reader)->loose);
    } else if (vector_cursor_is(line, "absent ")) {
        text_read(reader, 1);
    } else if (vector_cursor_is(line, "present ")) {
        text_read(reader, 0);
    } else if (vector_cursor_is(line, "redact ")) {
        redact_read(reader);
    } else if (vector_cursor_is(line, "control ")) {
        control_read(reader);
    } else if (vector_cursor_is(line, "show_secrets")) {
        reader_vector(reader)->script.config.show_secrets = 1;
    } else if (vector_cursor_is(line, "max_decoded ")) {
        reader_vector(reader)->script.config.max_decoded_bytes =
            vector_cursor_number(line);
    } else {
        return 0;
    }
    return 1;
}

static void
line_read(struct reader *reader)
{
    struct vector_cursor *line = &reader->line;

    if (reader->line.p < reader->line.end && option_read(reader)) {
        return;
    }
    if (vector_cursor_is(line, "==")) {
        title_read(reader);
    } else if (vector_cursor_is(line, ">")) {
        input_read(reader);
    } else if (vector_cursor_is(line, "=")) {
        want_read(reader);
    } else if (vector_cursor_is(line, "close ")) {
        close_read(reader);
    } else if (vector_cursor_is(line, "at ")) {
        at_read(reader);
    } else if (!vector_cursor_space(line)) {
        vector_cursor_fail(line, "cannot read");
    }
}

void
vector_file_load(struct vector_file *file, const char *path)
{
    struct vector_buf text = {0};
    struct reader reader;

    if (vector_file_read(&text, path) != 0) {
        vector_die("cannot read %s", path);
    }
    memset(file, 0, sizeof(*file));
    memset(&reader, 0, sizeof(reader));
    reader.file = file;
    reader.line.file = path;
    reader.next = (const char *)text.data;
    reader.end = reader.next + text.len;
    while (reader_line(&reader)) {
        line_read(&reader);
    }
    vector_buf_clear(&text);
}

static void
vector_clear(struct vector *vector)
{
    for (size_t i = 0; i < vector->n_wants; i++) {
        cJSON_Delete(vector->wants[i].event);
    }
    for (unsigned i = 0; i < vector->script.config.n_redact; i++) {
        free(vector->redact[i]);
    }
    for (size_t i = 0; i < vector->n_texts; i++) {
        vector_buf_clear(&vector->texts[i].text);
    }
    for (size_t i = 0; i < vector->n_controls; i++) {
        free(vector->controls[i]);
    }
    free(vector->controls);
    free(vector->texts);
    free(vector->redact);
    free(vector->wants);
    free(vector->name);
    vector_script_clear(&vector->script);
}

void
vector_file_clear(struct vector_file *file)
{
    for (size_t i = 0; i < file->n; i++) {
        vector_clear(&file->vectors[i]);
    }
    free(file->vectors);
    memset(file, 0, sizeof(*file));
}
