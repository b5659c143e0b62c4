/* SPDX-License-Identifier: MIT */
/*
 * Plays the frames of http2-frame-test-case: the valid ones must come out as
 * `frame` events as the files say, the faulty ones must give a notice of
 * severity error.
 *
 *     corpus_frames [CORPORA]
 */
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "vector_expr.h"
#include "vector_frame.h"

static const cJSON *
get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* case_build plays the frame of |file|, from the side that may send it.  A
 * CONTINUATION frame is only one after a header block has been opened. */
static void
case_build(struct vector_script *script, const cJSON *file)
{
    struct vector_cursor cursor;
    struct vector_buf wire = {0};
    struct vector_step *step;
    unsigned type;

    memset(&cursor, 0, sizeof(cursor));
    cursor.p = vector_lines_string(file, "wire");
    cursor.end = cursor.p + strlen(cursor.p);
    vector_expr_read(&cursor, &wire);
    corpus_hello(script);
    type = wire.len > 3 ? wire.data[3] : 255u;
    step = vector_script_add(
        script, VECTOR_STEP_BYTES,
        type == VECTOR_FRAME_PUSH_PROMISE ? SIDE_SERVER : SIDE_CLIENT, 0);
    if (type == VECTOR_FRAME_CONTINUATION) {
        vector_frame_head(&step->bytes, 0, VECTOR_FRAME_HEADERS, 0,
                          wire.data[8]);
    }
    vector_buf_add(&step->bytes, wire.data, wire.len);
    vector_buf_clear(&wire);
}

static int
frame_matches(const cJSON *event, const cJSON *frame)
{
    const char *type =
        vector_frame_type_name((unsigned)get(frame, "type")->valueint);

    return strcmp(vector_lines_event(event), "frame") == 0 &&
           strcmp(vector_lines_string(event, "type"), type) == 0 &&
           cJSON_Compare(get(event, "flags"), get(frame, "flags"), 1) &&
           cJSON_Compare(get(event, "length"), get(frame, "length"), 1) &&
           cJSON_Compare(get(event, "stream"), get(frame, "stream_identifier"),
                         1);
}

static void
case_compare(const cJSON *file, const struct vector_lines *lines,
             struct vector_buf *problem)
{
    const cJSON *frame = get(file, "frame");
    int n_errors = 0;
    int n_frames = 0;

    for (size_t i = 0; i < lines->n; i++) {
        const cJSON *event = lines->events[i];

        n_errors +=
            strcmp(vector_lines_string(event, "severity"), "error") == 0;
        n_frames += cJSON_IsObject(frame) && frame_matches(event, frame);
    }
    if (cJSON_IsObject(frame) && n_frames != 1) {
        vector_format(problem, "the frame was not decoded");
    } else if (!cJSON_IsObject(frame) && n_errors == 0) {
        vector_format(problem, "%s: no notice",
                      vector_lines_string(file, "description"));
    }
}

static void
file_play(const char *path, struct vector_buf *problem)
{
    struct vector_buf text = {0};
    struct vector_script script;
    struct vector_lines lines;
    cJSON *file = NULL;

    memset(&script, 0, sizeof(script));
    script.config.events = vector_tap_all_events;
    if (vector_file_read(&text, path) == 0) {
        file = cJSON_Parse((const char *)text.data);
    }
    if (file == NULL) {
        vector_format(problem, "cannot be read");
    } else {
        case_build(&script, file);
        corpus_play(&script, 2, &lines, problem);
        if (problem->len == 0) {
            case_compare(file, &lines, problem);
        }
        vector_lines_clear(&lines);
    }
    cJSON_Delete(file);
    vector_script_clear(&script);
    vector_buf_clear(&text);
}

int
main(int argc, char **argv)
{
    char *directory = corpus_directory(argc, argv, "frames");
    struct corpus corpus;

    memset(&corpus, 0, sizeof(corpus));
    corpus_add(&corpus, directory, ".json");
    for (size_t i = 0; i < corpus.n_files; i++) {
        struct vector_buf problem = {0};

        file_play(corpus.files[i], &problem);
        corpus_result(&corpus, corpus.files[i], &problem);
    }
    free(directory);
    return corpus_end(&corpus);
}
