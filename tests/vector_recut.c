/* SPDX-License-Identifier: MIT */
/*
 * Owns the cutting of frames into more frames and the comparing of events
 * apart from what that changes.  Where frames are is vector_walk.c's.
 */
#include "vector_recut.h"

#include <stdlib.h>
#include <string.h>

#include "vector_frame.h"
#include "vector_rules.h"

/* PIECES_MAX is the most frames that one becomes. */
#define PIECES_MAX 4

/* struct recut is a script being cut. */
struct recut {
    /* walk holds the frames, next is the first that is not cut yet. */
    struct vector_walk walk;
    size_t next;
    /* out is what becomes of the script. */
    struct vector_script out;
    /* state is that of the random generator, n_added counts frames. */
    uint32_t state;
    size_t n_added;
};

static size_t
random_below(struct recut *recut, size_t limit)
{
    recut->state = recut->state * 1664525u + 1013904223u;
    return (size_t)(recut->state >> 8) % limit;
}

/* ---- Cutting --------------------------------------------------------- */

/* struct part is a frame taken apart. */
struct part {
    /* frame is what it was. */
    const struct walk_frame *frame;
    /* before is what stands between the frame's head and its body, after
     * the padding behind it. */
    const uint8_t *before;
    size_t before_len;
    const uint8_t *body;
    size_t body_len;
    const uint8_t *after;
    size_t after_len;
};

/* part_find returns 1 when |frame| is one that can be cut. */
static int
part_find(const struct vector_walk *walk, const struct walk_frame *frame,
          struct part *part)
{
    memset(part, 0, sizeof(*part));
    if (frame->type != VECTOR_FRAME_DATA &&
        frame->type != VECTOR_FRAME_HEADERS &&
        frame->type != VECTOR_FRAME_PUSH_PROMISE &&
        frame->type != VECTOR_FRAME_CONTINUATION) {
        return 0;
    }
    part->frame = frame;
    part->before = vector_walk_payload(walk, frame);
    part->body = vector_walk_block(walk, frame, &part->body_len);
    if (part->body == NULL || part->body_len < 2) {
        return 0;
    }
    part->before_len = (size_t)(part->body - part->before);
    part->after = part->body + part->body_len;
    part->after_len = frame->len - part->before_len - part->body_len;
    return 1;
}

/* flags_of returns the flags of piece |i| of |n|: padding stays with the last
 * piece of DATA, and with the first of a header block. */
static unsigned
flags_of(const struct part *part, size_t i, size_t n)
{
    unsigned flags = part->frame->flags;

    if (part->frame->type == VECTOR_FRAME_DATA) {
        return i + 1 == n ? flags
                          : flags & ~(unsigned)(VECTOR_FLAG_END_STREAM |
                                                VECTOR_FLAG_PADDED);
    }
    if (i > 0) {
        flags &= VECTOR_FLAG_END_HEADERS;
    }
    return i + 1 == n ? flags : flags & ~(unsigned)VECTOR_FLAG_END_HEADERS;
}

static void
piece_add(struct vector_buf *out, const struct part *part, size_t at,
          size_t len, unsigned flags, int is_whole)
{
    unsigned type = part->frame->type;
    size_t extra = is_whole ? part->before_len + part->after_len : 0;

    if (at > 0 && type != VECTOR_FRAME_DATA) {
        type = VECTOR_FRAME_CONTINUATION;
    }
    vector_frame_head(out, len + extra, type, flags, part->frame->stream);
    if (is_whole) {
        vector_buf_add(out, part->before, part->before_len);
    }
    vector_buf_add(out, part->body + at, len);
    if (is_whole) {
        vector_buf_add(out, part->after, part->after_len);
    }
}

static void
part_cut(struct recut *recut, struct vector_buf *out, const struct part *part)
{
    size_t cuts[PIECES_MAX + 1] = {0};
    size_t n = 0;

    while (cuts[n] < part->body_len) {
        size_t left = part->body_len - cuts[n];

        cuts[n + 1] = cuts[n] + (n + 1 == PIECES_MAX
                                     ? left
                                     : 1 + random_below(recut, left));
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        size_t keeper = part->frame->type == VECTOR_FRAME_DATA ? n - 1 : 0;

        piece_add(out, part, cuts[i], cuts[i + 1] - cuts[i],
                  flags_of(part, i, n), i == keeper);
    }
    recut->n_added += n - 1;
}

/* step_cut copies a step, its whole frames cut. */
static void
step_cut(struct recut *recut, const struct vector_step *from, size_t index,
         size_t start, struct vector_buf *out)
{
    size_t at = 0;

    while (recut->next < recut->walk.n &&
           recut->walk.frames[recut->next].step == index) {
        const struct walk_frame *frame = &recut->walk.frames[recut->next++];
        struct part part;
        size_t begin = frame->offset - start;

        if (frame->is_split || !part_find(&recut->walk, frame, &part)) {
            continue;
        }
        vector_buf_add(out, from->bytes.data + at, begin - at);
        part_cut(recut, out, &part);
        at = begin + WALK_HEAD + frame->len;
    }
    vector_buf_add(out, from->bytes.data + at, from->bytes.len - at);
}

static void
script_cut(struct recut *recut, const struct vector_script *script)
{
    size_t start[2] = {0, 0};

    recut->out.config = script->config;
    for (size_t i = 0; i < script->n_steps; i++) {
        const struct vector_step *from = &script->steps[i];
        struct vector_step *to = vector_script_add(
            &recut->out, from->kind, from->from, from->at_us);

        to->reason = from->reason;
        if (from->bytes.len > 0) {
            step_cut(recut, from, i, start[from->from], &to->bytes);
            start[from->from] += from->bytes.len;
        }
    }
}

/* ---- Comparing ------------------------------------------------------- */

/* strip takes away what more frames change: their number, what they cost, and
 * where the next one is. */
static void
strip(cJSON *json)
{
    static const char *const names[] = {"frames",     "framing_bytes",
                                        "wire_bytes", "offset",
                                        "bytes",      "call_bytes",
                                        "late_bytes", "detail"};
    cJSON *child;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        cJSON_DeleteItemFromObjectCaseSensitive(json, names[i]);
    }
    cJSON_ArrayForEach(child, json)
    {
        strip(child);
    }
}

/* rest_of returns the events but for frames, a line each. */
static struct vector_buf
rest_of(const struct vector_lines *lines)
{
    struct vector_buf text = {0};

    for (size_t i = 0; i < lines->n; i++) {
        cJSON *copy;
        char *line;

        if (strcmp(vector_lines_event(lines->events[i]), "frame") == 0) {
            continue;
        }
        copy = cJSON_Duplicate(lines->events[i], 1);
        strip(copy);
        line = cJSON_PrintUnformatted(copy);
        vector_buf_text(&text, line);
        vector_buf_text(&text, "\n");
        cJSON_free(line);
        cJSON_Delete(copy);
    }
    return text;
}

static void
compare(const struct vector_lines *whole, const struct vector_lines *lines,
        struct vector_buf *problem)
{
    struct vector_buf a = rest_of(whole);
    struct vector_buf b = rest_of(lines);
    size_t at = 0;
    size_t line = 0;

    for (; at < a.len && at < b.len && a.data[at] == b.data[at]; at++) {
        line = a.data[at] == '\n' ? at + 1 : line;
    }
    if (at < a.len || at < b.len) {
        const char *x = (const char *)a.data + line;
        const char *y = (const char *)b.data + line;

        vector_format(problem,
                      "rule 2: cut frames give other events\n"
                      "    as it is: %.*s\n    cut:      %.*s",
                      (int)strcspn(x, "\n"), x, (int)strcspn(y, "\n"), y);
    }
    vector_buf_clear(&a);
    vector_buf_clear(&b);
}

/* is_cuttable returns 1 when every frame is well-formed HTTP/2. */
static int
is_cuttable(const struct vector_lines *lines)
{
    int is_h2 = 0;

    for (size_t i = 0; i < lines->n; i++) {
        const cJSON *event = lines->events[i];

        if (strcmp(vector_lines_string(event, "severity"), "error") == 0) {
            return 0;
        }
        is_h2 |= strcmp(vector_lines_event(event), "connection_close") == 0 &&
                 strcmp(vector_lines_string(event, "protocol"), "h2") == 0;
    }
    return is_h2;
}

size_t
vector_recut_check(const struct vector_script *script, uint32_t seed,
                   const struct vector_lines *lines,
                   struct vector_buf *problem)
{
    static const size_t no_end[2] = {SIZE_MAX, SIZE_MAX};
    struct vector_cut cut = {VECTOR_CUT_WHOLE, 0, 0};
    struct vector_lines got;
    struct vector_run run;
    struct recut recut;

    memset(&recut, 0, sizeof(recut));
    memset(&run, 0, sizeof(run));
    if (!is_cuttable(lines)) {
        return 0;
    }
    recut.state = seed;
    vector_walk_frames(&recut.walk, script, SIZE_MAX, no_end,
                       rules_notice(lines, "h2c_upgrade", NULL));
    if (rules_has_preface(&recut.walk)) {
        script_cut(&recut, script);
        vector_tap_play(&recut.out, &cut, &run);
        if (vector_lines_parse(&got, &run.text, problem) == 0) {
            compare(lines, &got, problem);
        }
        vector_lines_clear(&got);
        vector_buf_clear(&run.text);
        vector_script_clear(&recut.out);
    }
    vector_walk_clear(&recut.walk);
    return recut.n_added;
}
