/* SPDX-License-Identifier: MIT */
/*
 * Owns rule 5: frames of a stream whose call has been written are late bytes,
 * and their header blocks still feed HPACK.  For the latter it decodes every
 * block of a direction with an inflater of its own, which takes tables of any
 * size and so never says no where the decoder says yes.
 */
#include "vector_rules.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "../h2dec/h2dec.h"
#include "../proxy/kind.h"
#include "vector_frame.h"

/* TABLE_SIZE is what the second inflater takes; the decoder follows less. */
#define TABLE_SIZE (1u << 30)

/* struct blocks is the header blocks of one direction under way. */
struct blocks {
    /* run and side say of what. */
    struct rules_run *run;
    enum side side;
    /* inflater is NULL once a block could not be decoded. */
    nghttp2_hd_inflater *inflater;
    /* block is the one being put together. */
    struct vector_buf block;
    /* line is where in the lines the last `headers` event was. */
    size_t line;
    /* is_told is 1 after a notice that the fields are unknown. */
    int is_told;
};

static const cJSON *
get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static int
is_from(const cJSON *event, enum side side)
{
    return strcmp(vector_lines_string(event, "from"), rules_side(side)) == 0;
}

/* ---- Header blocks --------------------------------------------------- */

/* event_next returns the `headers` event of the next block, or NULL; one with
 * a start line is of HTTP/1.1, before an upgrade. */
static const cJSON *
event_next(struct blocks *blocks)
{
    const struct vector_lines *lines = blocks->run->lines;

    while (blocks->line < lines->n) {
        const cJSON *event = lines->events[blocks->line++];

        if (strcmp(vector_lines_string(event, "code"), "hpack_error") == 0 &&
            is_from(event, blocks->side)) {
            blocks->is_told = 1;
        }
        if (strcmp(vector_lines_event(event), "headers") == 0 &&
            cJSON_IsNull(get(event, "start_line")) &&
            is_from(event, blocks->side)) {
            return event;
        }
    }
    return NULL;
}

/* is_plain returns 1 when |text| stands in JSON as it is. */
static int
is_plain(const uint8_t *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e) {
            return 0;
        }
    }
    return 1;
}

static int
text_matches(const cJSON *text, const uint8_t *want, size_t len)
{
    return !is_plain(want, len) ||
           strcmp(text->valuestring, "[redacted]") == 0 ||
           (strlen(text->valuestring) == len &&
            memcmp(text->valuestring, want, len) == 0);
}

/* pair_check compares a field with |*pair| and moves on; fields beyond what
 * an event shows are only counted. */
static void
pair_check(struct blocks *blocks, const cJSON **pair, const nghttp2_nv *nv)
{
    if (*pair == NULL) {
        return;
    }
    if (!text_matches((*pair)->child, nv->name, nv->namelen) ||
        !text_matches((*pair)->child->next, nv->value, nv->valuelen)) {
        vector_format(blocks->run->problem,
                      "rule 5: the %s's field %.*s is not what HPACK says; ",
                      rules_side(blocks->side), (int)nv->namelen, nv->name);
    }
    *pair = (*pair)->next;
}

/* decode goes through the block; |pair| is NULL when there is nothing to
 * compare.  Returns 0, or -1 when it cannot be decoded; |*bytes| becomes the
 * length of the list. */
static int
decode(struct blocks *blocks, const cJSON *pair, size_t *bytes)
{
    const uint8_t *at = blocks->block.data;
    size_t left = blocks->block.len;
    int flags = 0;

    *bytes = 0;
    while ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
        nghttp2_nv nv;
        ssize_t n = nghttp2_hd_inflate_hd2(blocks->inflater, &nv, &flags, at,
                                           left, 1);

        if (n < 0) {
            return -1;
        }
        at += n;
        left -= (size_t)n;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
            *bytes += nv.namelen + nv.valuelen;
            pair_check(blocks, &pair, &nv);
        }
    }
    nghttp2_hd_inflate_end_headers(blocks->inflater);
    return 0;
}

static void
inflater_drop(struct blocks *blocks)
{
    nghttp2_hd_inflate_del(blocks->inflater);
    blocks->inflater = NULL;
}

/* block_end compares the block that is complete with its event. */
static void
block_end(struct blocks *blocks)
{
    const cJSON *event = event_next(blocks);
    const cJSON *pairs = get(event, "headers");
    size_t bytes;

    if (event == NULL) {
        vector_format(blocks->run->problem,
                      "rule 5: a header block of the %s is in no event; ",
                      rules_side(blocks->side));
        return;
    }
    if (blocks->inflater != NULL &&
        decode(blocks, cJSON_IsArray(pairs) ? pairs->child : NULL, &bytes) !=
            0) {
        inflater_drop(blocks);
    }
    if (blocks->inflater == NULL || blocks->is_told) {
        if (cJSON_IsArray(pairs)) {
            vector_format(blocks->run->problem,
                          "rule 5: fields of the %s from a lost table; ",
                          rules_side(blocks->side));
        }
    } else if (!cJSON_IsArray(pairs) ||
               get(event, "header_list_bytes")->valuedouble !=
                   (double)bytes) {
        vector_format(blocks->run->problem,
                      "rule 5: a header block of the %s holds %zu bytes; ",
                      rules_side(blocks->side), bytes);
    }
}

static void
block_add(struct blocks *blocks, const struct walk_frame *frame)
{
    size_t len = 0;
    const uint8_t *part = vector_walk_block(&blocks->run->walk, frame, &len);

    if (part == NULL && blocks->inflater != NULL) {
        inflater_drop(blocks);
    }
    vector_buf_add(&blocks->block, part, len);
    if ((frame->flags & VECTOR_FLAG_END_HEADERS) != 0) {
        block_end(blocks);
        blocks->block.len = 0;
    }
}

static void
blocks_check(struct rules_run *run, enum side side)
{
    struct blocks blocks = {.run = run, .side = side};

    if (nghttp2_hd_inflate_new(&blocks.inflater) != 0 ||
        nghttp2_hd_inflate_change_table_size(blocks.inflater, TABLE_SIZE) !=
            0) {
        vector_die("no inflater");
    }
    for (size_t i = 0; i < run->walk.n && run->problem->len == 0; i++) {
        const struct walk_frame *frame = &run->walk.frames[i];

        if (frame->side == side &&
            (frame->type == VECTOR_FRAME_HEADERS ||
             frame->type == VECTOR_FRAME_PUSH_PROMISE ||
             frame->type == VECTOR_FRAME_CONTINUATION)) {
            block_add(&blocks, frame);
        }
    }
    if (run->problem->len == 0 && event_next(&blocks) != NULL) {
        vector_format(run->problem,
                      "rule 5: a headers event of the %s without a block; ",
                      rules_side(side));
    }
    if (blocks.inflater != NULL) {
        inflater_drop(&blocks);
    }
    vector_buf_clear(&blocks.block);
}

/* ---- Late bytes ------------------------------------------------------ */

/* struct late is the sum of what comes after the calls. */
struct late {
    /* called are n_called streams whose call has been seen. */
    uint32_t *called;
    size_t n_called;
    /* bytes of each direction are late for certain, up to slack more. */
    size_t bytes[2];
    size_t slack[2];
    /* open is the last frame of each direction, stream 0 for none that can
     * be cut by the end of its stream: DATA that came in pieces. */
    uint32_t open[2];
    size_t open_len[2];
};

static int
late_has(const struct late *late, uint32_t stream)
{
    for (size_t i = 0; i < late->n_called; i++) {
        if (late->called[i] == stream) {
            return 1;
        }
    }
    return 0;
}

/* came_whole returns 1 when the frame at |offset| came in one step. */
static int
came_whole(const struct vector_walk *walk, enum side side, size_t offset)
{
    for (size_t i = 0; i < walk->n; i++) {
        const struct walk_frame *frame = &walk->frames[i];

        if (frame->side == side && frame->offset == offset) {
            return !frame->is_split;
        }
    }
    return 0;
}

static void
late_frame(struct late *late, const struct rules_run *run,
           const cJSON *event)
{
    enum side side = is_from(event, SIDE_CLIENT) ? SIDE_CLIENT : SIDE_SERVER;
    uint32_t stream = (uint32_t)get(event, "stream")->valuedouble;
    size_t offset = (size_t)get(event, "offset")->valuedouble;
    size_t len = WALK_HEAD + (size_t)get(event, "length")->valuedouble;
    size_t sent = run->walk.bytes[side].len - offset;

    len = len < sent ? len : sent;
    late->open[side] = 0;
    if (late_has(late, stream)) {
        late->bytes[side] += len;
    } else if (!came_whole(&run->walk, side, offset)) {
        late->open[side] = stream;
        late->open_len[side] = len;
    }
}

static void
late_call(struct late *late, const cJSON *event)
{
    uint32_t stream = (uint32_t)get(event, "stream")->valuedouble;

    late->called = vector_grow(late->called, late->n_called + 1,
                               sizeof(*late->called));
    late->called[late->n_called++] = stream;
    for (int side = 0; side < 2; side++) {
        if (late->open[side] == stream) {
            late->slack[side] += late->open_len[side];
            late->open[side] = 0;
        }
    }
}

static void
late_check(struct rules_run *run)
{
    struct late late;

    memset(&late, 0, sizeof(late));
    for (size_t i = 0; i < run->lines->n; i++) {
        const cJSON *event = run->lines->events[i];

        if (strcmp(vector_lines_event(event), "frame") == 0) {
            late_frame(&late, run, event);
        } else if (strcmp(vector_lines_event(event), "call") == 0) {
            late_call(&late, event);
        }
    }
    for (int side = 0; side < 2; side++) {
        const cJSON *books =
            get(run->close, side == 0 ? "from_client" : "from_server");
        size_t got = (size_t)get(books, "late_bytes")->valuedouble;

        if (got < late.bytes[side] ||
            got > late.bytes[side] + late.slack[side]) {
            vector_format(run->problem,
                          "rule 5: %zu late bytes of the %s, not %zu; ", got,
                          rules_side((enum side)side), late.bytes[side]);
        }
    }
    free(late.called);
}

void
vector_rules_late(struct rules_run *run)
{
    if (run->events != vector_tap_all_events || run->has_gaps) {
        return;
    }
    late_check(run);
    /* Without the beginning, or with more than is followed, the table is
     * another one. */
    if (!rules_notice(run->lines, "joined_mid_connection", NULL) &&
        !rules_notice(run->lines, "tap_limit", NULL) &&
        !rules_notice(run->lines, "tap_failed", NULL)) {
        blocks_check(run, SIDE_CLIENT);
        blocks_check(run, SIDE_SERVER);
    }
}
