/* SPDX-License-Identifier: MIT */
/*
 * Owns the walk over frames: lengths, types, streams, padding.  What a frame
 * does to a stream or a table is for others.
 */
#include "vector_walk.h"

#include <stdlib.h>
#include <string.h>

#include "vector_frame.h"

static uint32_t
number(const uint8_t *bytes, unsigned n)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < n; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static size_t
find(const struct vector_buf *buf, const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i + len <= buf->len; i++) {
        if (memcmp(buf->data + i, text, len) == 0) {
            return i + len;
        }
    }
    return buf->len;
}

/* all_bytes returns the bytes of |from| within the first |limit|. */
static struct vector_buf
all_bytes(const struct vector_script *script, size_t limit, enum side from)
{
    struct vector_buf all = {0};

    for (size_t i = 0; i < script->n_steps; i++) {
        const struct vector_step *step = &script->steps[i];
        size_t n = step->bytes.len < limit ? step->bytes.len : limit;

        limit -= n;
        if (step->from == from) {
            vector_buf_add(&all, step->bytes.data, n);
        }
    }
    return all;
}

/* begin returns where frames of |from| begin: behind the preface, and of an
 * upgraded connection behind the head of the 101 as well. */
static size_t
begin(const struct vector_script *script, size_t limit, enum side from,
      int is_upgraded)
{
    struct vector_buf all = all_bytes(script, limit, from);
    size_t at = 0;

    if (is_upgraded) {
        at = find(&all, from == SIDE_CLIENT ? VECTOR_PREFACE : "\r\n\r\n");
    } else if (from == SIDE_CLIENT && all.len >= VECTOR_PREFACE_LEN &&
               memcmp(all.data, VECTOR_PREFACE, VECTOR_PREFACE_LEN) == 0) {
        at = VECTOR_PREFACE_LEN;
    }
    vector_buf_clear(&all);
    return at;
}

static void
frame_add(struct vector_walk *walk, enum side side, size_t step,
          size_t step_at)
{
    const uint8_t *head = walk->bytes[side].data + walk->at[side];
    struct walk_frame *frame;

    walk->frames =
        vector_grow(walk->frames, walk->n + 1, sizeof(*walk->frames));
    frame = &walk->frames[walk->n++];
    frame->side = side;
    frame->len = number(head, 3);
    frame->type = head[3];
    frame->flags = head[4];
    frame->stream = number(head + 5, 4) & 0x7fffffffu;
    frame->offset = walk->at[side];
    frame->step = step;
    frame->is_split = frame->offset < step_at;
    walk->at[side] += WALK_HEAD + frame->len;
}

/* frames_take takes the frames that are whole now. */
static void
frames_take(struct vector_walk *walk, enum side side, size_t end, size_t step,
            size_t step_at)
{
    const struct vector_buf *bytes = &walk->bytes[side];

    end = end < bytes->len ? end : bytes->len;
    while (walk->at[side] + WALK_HEAD <= end &&
           walk->at[side] + WALK_HEAD +
                   number(bytes->data + walk->at[side], 3) <=
               end) {
        frame_add(walk, side, step, step_at);
    }
}

void
vector_walk_frames(struct vector_walk *walk,
                   const struct vector_script *script, size_t limit,
                   const size_t ends[2], int is_upgraded)
{
    int is_over[2] = {0, 0};

    memset(walk, 0, sizeof(*walk));
    walk->at[0] = begin(script, limit, SIDE_CLIENT, is_upgraded);
    walk->at[1] = begin(script, limit, SIDE_SERVER, is_upgraded);
    for (size_t i = 0; i < script->n_steps; i++) {
        const struct vector_step *step = &script->steps[i];
        size_t n = step->bytes.len < limit ? step->bytes.len : limit;
        size_t step_at = walk->bytes[step->from].len;

        limit -= n;
        if (step->kind == VECTOR_STEP_EOF) {
            is_over[step->from] = 1;
        } else if (is_over[step->from]) {
            walk->after[step->from] += n;
        } else {
            vector_buf_add(&walk->bytes[step->from], step->bytes.data, n);
            frames_take(walk, step->from, ends[step->from], i, step_at);
        }
    }
}

const uint8_t *
vector_walk_payload(const struct vector_walk *walk,
                    const struct walk_frame *frame)
{
    return walk->bytes[frame->side].data + frame->offset + WALK_HEAD;
}

const uint8_t *
vector_walk_block(const struct vector_walk *walk,
                  const struct walk_frame *frame, size_t *len)
{
    const uint8_t *at = vector_walk_payload(walk, frame);
    size_t skip = 0;
    size_t padding = 0;

    if (frame->type != VECTOR_FRAME_CONTINUATION &&
        (frame->flags & VECTOR_FLAG_PADDED) != 0) {
        skip = 1;
        padding = frame->len > 0 ? at[0] : 0;
    }
    if (frame->type == VECTOR_FRAME_PUSH_PROMISE) {
        skip += 4;
    } else if (frame->type == VECTOR_FRAME_HEADERS &&
               (frame->flags & VECTOR_FLAG_PRIORITY) != 0) {
        skip += 5;
    }
    if (skip + padding > frame->len) {
        return NULL;
    }
    *len = frame->len - skip - padding;
    return at + skip;
}

uint32_t
vector_walk_promised(const struct vector_walk *walk,
                     const struct walk_frame *frame)
{
    size_t len;
    const uint8_t *block = vector_walk_block(walk, frame, &len);

    if (frame->type != VECTOR_FRAME_PUSH_PROMISE || block == NULL) {
        return 0;
    }
    return number(block - 4, 4) & 0x7fffffffu;
}

void
vector_walk_clear(struct vector_walk *walk)
{
    vector_buf_clear(&walk->bytes[0]);
    vector_buf_clear(&walk->bytes[1]);
    free(walk->frames);
    memset(walk, 0, sizeof(*walk));
}
