/* SPDX-License-Identifier: MIT */
/*
 * Owns the writing of frames: attributes, flags, padding, splitting of header
 * blocks.  What stands in one header line is vector_field.c's.
 */
#include "vector_frame.h"

#include <stdlib.h>
#include <string.h>

#include "vector_field.h"

/* FRAME_SPLITS is the most CONTINUATION frames one line can make. */
#define FRAME_SPLITS 64

/* FRAME_RAW is the type of FRAME until type= says which it is. */
#define FRAME_RAW 255

/* struct frame is a frame being put together. */
struct frame {
    /* type, flags and stream are what the frame header will say. */
    unsigned type;
    unsigned flags;
    uint32_t stream;
    /* is_raw is 1 for FRAME: nothing is put before the payload. */
    int is_raw;
    /* length is what the frame header will say; UINT64_MAX: the truth. */
    uint64_t length;
    /* pad is the number of bytes of padding; -1: not padded. */
    int pad;
    /* dep and weight are the priority fields, dep with its exclusive bit. */
    uint32_t dep;
    unsigned weight;
    /* number is the promised stream, the error code or the increment. */
    uint32_t number;
    /* last is the last stream of GOAWAY. */
    uint32_t last;
    /* splits are the places at which the header block is cut. */
    size_t splits[FRAME_SPLITS];
    size_t n_splits;
    /* settings are identifiers and values as on the wire. */
    struct vector_buf settings;
};

/* struct name gives a number a name. */
struct name {
    /* name is as vectors write it. */
    const char *name;
    /* value is what it stands for. */
    unsigned value;
};

static const struct name frame_types[] = {
    {"DATA", 0},         {"HEADERS", 1},       {"PRIORITY", 2},
    {"RST_STREAM", 3},   {"SETTINGS", 4},      {"PUSH_PROMISE", 5},
    {"PING", 6},         {"GOAWAY", 7},        {"WINDOW_UPDATE", 8},
    {"CONTINUATION", 9}, {"FRAME", FRAME_RAW}, {NULL, 0},
};

static const struct name frame_flags[] = {
    {"END_STREAM", 1}, {"ACK", 1},       {"END_HEADERS", 4},
    {"PADDED", 8},     {"PRIORITY", 32}, {NULL, 0},
};

static const struct name settings_ids[] = {
    {"HEADER_TABLE_SIZE", 1},
    {"ENABLE_PUSH", 2},
    {"MAX_CONCURRENT_STREAMS", 3},
    {"INITIAL_WINDOW_SIZE", 4},
    {"MAX_FRAME_SIZE", 5},
    {"MAX_HEADER_LIST_SIZE", 6},
    {NULL, 0},
};

static const struct name error_codes[] = {
    {"NO_ERROR", 0},
    {"PROTOCOL_ERROR", 1},
    {"INTERNAL_ERROR", 2},
    {"FLOW_CONTROL_ERROR", 3},
    {"SETTINGS_TIMEOUT", 4},
    {"STREAM_CLOSED", 5},
    {"FRAME_SIZE_ERROR", 6},
    {"REFUSED_STREAM", 7},
    {"CANCEL", 8},
    {"COMPRESSION_ERROR", 9},
    {"CONNECT_ERROR", 10},
    {"ENHANCE_YOUR_CALM", 11},
    {"INADEQUATE_SECURITY", 12},
    {"HTTP_1_1_REQUIRED", 13},
    {NULL, 0},
};

static int
name_find(const struct name *names, const char *name)
{
    for (; names->name != NULL; names++) {
        if (strcmp(names->name, name) == 0) {
            return (int)names->value;
        }
    }
    return -1;
}

const char *
vector_frame_type_name(unsigned type)
{
    return type <= VECTOR_FRAME_CONTINUATION ? frame_types[type].name : NULL;
}

void
vector_frame_head(struct vector_buf *out, size_t length, unsigned type,
                  unsigned flags, uint32_t stream)
{
    vector_buf_be(out, length, 3);
    vector_buf_be(out, type, 1);
    vector_buf_be(out, flags, 1);
    vector_buf_be(out, stream, 4);
}

/* frame_code reads an error code: a name or a number. */
static uint32_t
frame_code(struct vector_cursor *line)
{
    struct vector_cursor start = *line;
    char word[64];
    int value;

    vector_cursor_word(line, word, sizeof(word));
    value = name_find(error_codes, word);
    if (value >= 0) {
        return (uint32_t)value;
    }
    *line = start;
    return (uint32_t)vector_cursor_number(line);
}

static void
frame_splits(struct frame *frame, struct vector_cursor *line)
{
    char word[256];
    char *p = word;

    vector_cursor_word(line, word, sizeof(word));
    while (*p != 0) {
        if (frame->n_splits == FRAME_SPLITS) {
            vector_cursor_fail(line, "too many splits");
        }
        frame->splits[frame->n_splits++] = strtoul(p, &p, 10);
        p += *p == ',';
    }
}

/* frame_attribute_known takes the value of attribute |name|; returns 0 when
 * there is no such attribute. */
static int
frame_attribute_known(struct frame *frame, struct vector_cursor *line,
                      const char *name)
{
    if (strcmp(name, "stream") == 0) {
        frame->stream = (uint32_t)vector_cursor_number(line);
    } else if (strcmp(name, "type") == 0) {
        frame->type = (unsigned)vector_cursor_number(line);
    } else if (strcmp(name, "flags") == 0) {
        frame->flags |= (unsigned)vector_cursor_number(line);
    } else if (strcmp(name, "length") == 0) {
        frame->length = vector_cursor_number(line);
    } else if (strcmp(name, "pad") == 0) {
        frame->pad = (int)vector_cursor_number(line);
    } else if (strcmp(name, "dep") == 0) {
        frame->dep = (uint32_t)vector_cursor_number(line);
    } else if (strcmp(name, "weight") == 0) {
        frame->weight = (unsigned)vector_cursor_number(line);
    } else if (strcmp(name, "code") == 0) {
        frame->number = frame_code(line);
    } else if (strcmp(name, "promised") == 0 ||
               strcmp(name, "increment") == 0) {
        frame->number = (uint32_t)vector_cursor_number(line);
    } else if (strcmp(name, "last") == 0) {
        frame->last = (uint32_t)vector_cursor_number(line);
    } else if (strcmp(name, "split") == 0) {
        frame_splits(frame, line);
    } else {
        return 0;
    }
    return 1;
}

static void
frame_attribute(struct frame *frame, struct vector_cursor *line,
                const char *name)
{
    int id;

    if (frame_attribute_known(frame, line, name)) {
        return;
    }
    id = name_find(settings_ids, name);
    if (id < 0) {
        char *end;

        id = (int)strtoul(name, &end, 0);
        if (*end != 0) {
            vector_cursor_fail(line, "an unknown attribute");
        }
    }
    vector_buf_be(&frame->settings, (uint64_t)id, 2);
    vector_buf_be(&frame->settings, vector_cursor_number(line), 4);
}

/* frame_words reads attributes and flags up to where the payload starts. */
static void
frame_words(struct frame *frame, struct vector_cursor *line)
{
    while (!vector_cursor_space(line)) {
        struct vector_cursor start = *line;
        char word[64];
        int flag;

        vector_cursor_word(line, word, sizeof(word));
        flag = name_find(frame_flags, word);
        if (vector_cursor_is(line, "=")) {
            frame_attribute(frame, line, word);
        } else if (flag >= 0) {
            frame->flags |= (unsigned)flag;
        } else if (strcmp(word, "EXCLUSIVE") == 0) {
            frame->dep |= 0x80000000u;
        } else {
            *line = start;
            return;
        }
    }
}

/* frame_fixed appends the fields that stand before the rest of the payload
 * in frames of this type. */
static void
frame_fixed(const struct frame *frame, struct vector_buf *out)
{
    if (frame->is_raw) {
        return;
    }
    switch (frame->type) {
    case VECTOR_FRAME_HEADERS:
        if ((frame->flags & VECTOR_FLAG_PRIORITY) == 0) {
            break;
        }
        /* fall through */
    case VECTOR_FRAME_PRIORITY:
        vector_buf_be(out, frame->dep, 4);
        vector_buf_be(out, frame->weight, 1);
        break;
    case VECTOR_FRAME_RST_STREAM:
    case VECTOR_FRAME_PUSH_PROMISE:
    case VECTOR_FRAME_WINDOW_UPDATE:
        vector_buf_be(out, frame->number, 4);
        break;
    case VECTOR_FRAME_GOAWAY:
        vector_buf_be(out, frame->last, 4);
        vector_buf_be(out, frame->number, 4);
        break;
    default:
        vector_buf_add(out, frame->settings.data, frame->settings.len);
        break;
    }
}

/* frame_first writes the frame itself, with |block_len| bytes of |block|. */
static void
frame_first(const struct frame *frame, struct vector_buf *out,
            const struct vector_buf *block, size_t block_len)
{
    struct vector_buf payload = {0};
    unsigned flags = frame->flags;

    if (frame->pad >= 0) {
        flags |= VECTOR_FLAG_PADDED;
        vector_buf_be(&payload, (uint64_t)frame->pad, 1);
    }
    frame_fixed(frame, &payload);
    vector_buf_add(&payload, block->data, block_len);
    for (int i = 0; i < frame->pad; i++) {
        vector_buf_be(&payload, 0, 1);
    }
    if (frame->n_splits > 0) {
        flags &= ~(unsigned)VECTOR_FLAG_END_HEADERS;
    }
    vector_frame_head(out,
                      frame->length == UINT64_MAX ? payload.len : frame->length,
                      frame->type, flags, frame->stream);
    vector_buf_add(out, payload.data, payload.len);
    vector_buf_clear(&payload);
}

static void
frame_write(const struct frame *frame, struct vector_buf *out,
            const struct vector_buf *block, const struct vector_cursor *line)
{
    size_t at = frame->n_splits > 0 ? frame->splits[0] : block->len;

    if (at > block->len) {
        vector_cursor_fail(line, "a split is past the header block");
    }
    frame_first(frame, out, block, at);
    for (size_t i = 0; i < frame->n_splits; i++) {
        int is_last = i + 1 == frame->n_splits;
        size_t end = is_last ? block->len : frame->splits[i + 1];

        if (end < at || end > block->len) {
            vector_cursor_fail(line, "splits are not in order");
        }
        vector_frame_head(out, end - at, VECTOR_FRAME_CONTINUATION,
                          is_last ? frame->flags & VECTOR_FLAG_END_HEADERS : 0,
                          frame->stream);
        vector_buf_add(out, block->data + at, end - at);
        at = end;
    }
}

static void
frame_read_typed(struct vector_buf *out, struct vector_cursor *line,
                 unsigned type, struct vector_cursor *fields, size_t n_fields)
{
    struct frame frame;
    struct vector_buf block = {0};

    memset(&frame, 0, sizeof(frame));
    frame.type = type;
    frame.is_raw = type == FRAME_RAW;
    frame.length = UINT64_MAX;
    frame.pad = -1;
    frame_words(&frame, line);
    vector_expr_read(line, &block);
    for (size_t i = 0; i < n_fields; i++) {
        int is_empty = vector_cursor_space(&fields[i]);

        if (type == VECTOR_FRAME_DATA && !is_empty && *fields[i].p != '[') {
            vector_expr_read(&fields[i], &block);
        } else {
            vector_field_read(&block, &fields[i]);
        }
    }
    if (type == VECTOR_FRAME_PING && block.len == 0) {
        vector_buf_be(&block, 0, 8);
    }
    frame_write(&frame, out, &block, line);
    vector_buf_clear(&frame.settings);
    vector_buf_clear(&block);
}

void
vector_frame_read(struct vector_buf *out, struct vector_cursor *line,
                  struct vector_cursor *fields, size_t n_fields)
{
    struct vector_cursor start = *line;
    char word[64];
    int type;

    vector_cursor_word(line, word, sizeof(word));
    type = name_find(frame_types, word);
    if (type >= 0) {
        frame_read_typed(out, line, (unsigned)type, fields, n_fields);
    } else {
        if (strcmp(word, "PREFACE") == 0) {
            vector_buf_add(out, VECTOR_PREFACE, VECTOR_PREFACE_LEN);
        } else {
            *line = start;
        }
        vector_expr_read(line, out);
        for (size_t i = 0; i < n_fields; i++) {
            vector_expr_read(&fields[i], out);
        }
    }
    if (!vector_cursor_space(line)) {
        vector_cursor_fail(line, "cannot read");
    }
}
