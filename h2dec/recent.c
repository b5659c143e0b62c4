/* SPDX-License-Identifier: MIT */
/*
 * Owns the memory of header blocks that may come again, and the knowledge of
 * which those are.  Inflating is headers.c's.
 */
#include "recent.h"

#include <stdlib.h>
#include <string.h>

/* ---- What a block does to the table ---------------------------------- */

/* struct walk is a place in a block. */
struct walk {
    const uint8_t *at;
    const uint8_t *end;
};

/* Reads an integer behind |prefix| bits (RFC 7541, section 5.1); returns 0
 * where it is cut short or longer than a block can be. */
static int
walk_integer(struct walk *walk, unsigned prefix, uint32_t *value)
{
    uint32_t most = (1u << prefix) - 1;
    unsigned shift = 0;

    *value = *walk->at++ & most;
    if (*value < most) {
        return 1;
    }
    while (walk->at < walk->end && shift <= 14) {
        uint8_t byte = *walk->at++;

        *value += (uint32_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte < 0x80) {
            return 1;
        }
    }
    return 0;
}

static int
walk_string(struct walk *walk)
{
    uint32_t len;

    if (walk->at == walk->end || !walk_integer(walk, 7, &len) ||
        len > (size_t)(walk->end - walk->at)) {
        return 0;
    }
    walk->at += len;
    return 1;
}

/* One representation (section 6); returns 0 when it changes the table, or is
 * none. */
static int
walk_field(struct walk *walk)
{
    uint8_t first = *walk->at;
    uint32_t index;

    if (first & 0x80) {
        return walk_integer(walk, 7, &index);
    }
    if (first & 0x60) {
        return 0; /* incremental indexing, or a size update */
    }
    if (!walk_integer(walk, 4, &index)) {
        return 0;
    }
    return (index != 0 || walk_string(walk)) && walk_string(walk);
}

static int
leaves_table(const uint8_t *data, size_t len)
{
    struct walk walk = {data, data + len};

    while (walk.at < walk.end) {
        if (!walk_field(&walk)) {
            return 0;
        }
    }
    return 1;
}

/* ---- The memory ------------------------------------------------------ */

struct recent_block *
h2dec_recent_find(const struct recent *recent, const uint8_t *data, size_t len)
{
    for (unsigned i = 0;
         i < H2DEC_RECENT_MAX && recent->blocks[i] != NULL; i++) {
        struct recent_block *block = recent->blocks[i];

        if (block->len == len && memcmp(block->bytes, data, len) == 0) {
            return block;
        }
    }
    return NULL;
}

/* The next place; NULL without memory, which only costs time. */
static struct recent_block *
take_place(struct recent *recent)
{
    struct recent_block **place = &recent->blocks[recent->next];

    if (*place == NULL) {
        *place = calloc(1, sizeof(**place));
    }
    if (*place != NULL) {
        (*place)->len = 0;
        recent->next = (recent->next + 1) % H2DEC_RECENT_MAX;
    }
    return *place;
}

void
h2dec_recent_offer(struct recent *recent, const uint8_t *data, size_t len)
{
    recent->made = NULL;
    if (!leaves_table(data, len)) {
        h2dec_recent_forget(recent);
        return;
    }
    if (len <= H2DEC_RECENT_LEN_MAX) {
        recent->made = take_place(recent);
    }
    if (recent->made != NULL) {
        memcpy(recent->made->bytes, data, len);
        recent->made_len = (uint32_t)len;
    }
}

/* Makes room for fields and text; 0 without memory. */
static int
make_room(struct recent_block *block, size_t need)
{
    struct h2dec_field *fields;

    if (need <= block->room) {
        return 1;
    }
    fields = malloc(need);
    if (fields == NULL) {
        return 0;
    }
    free(block->fields);
    block->fields = fields;
    block->room = need;
    return 1;
}

/* |field| of |from| as it is in |to|. */
static struct h2dec_field
moved(const struct h2dec_field *field, const char *from, const char *to)
{
    struct h2dec_field copy = *field;

    copy.name = to + (field->name - from);
    copy.value = to + (field->value - from);
    return copy;
}

struct recent_block *
h2dec_recent_keep(struct recent *recent, const struct h2dec_field *fields,
                  size_t n_fields, const char *text, size_t text_len)
{
    struct recent_block *block = recent->made;
    size_t fields_len = n_fields * sizeof(*fields);
    char *copy;

    recent->made = NULL;
    if (block == NULL || n_fields == 0 || n_fields > H2DEC_RECENT_FIELDS_MAX ||
        text_len > H2DEC_RECENT_TEXT_MAX ||
        !make_room(block, fields_len + text_len)) {
        return NULL;
    }
    copy = (char *)block->fields + fields_len;
    memcpy(copy, text, text_len);
    block->text_len = text_len;
    for (size_t i = 0; i < n_fields; i++) {
        block->fields[i] = moved(&fields[i], text, copy);
    }
    block->n_fields = n_fields;
    block->mark = 0;
    block->len = recent->made_len;
    return block;
}

void
h2dec_recent_forget(struct recent *recent)
{
    for (unsigned i = 0;
         i < H2DEC_RECENT_MAX && recent->blocks[i] != NULL; i++) {
        recent->blocks[i]->len = 0;
    }
    recent->made = NULL;
}

void
h2dec_recent_clear(struct recent *recent)
{
    for (unsigned i = 0; i < H2DEC_RECENT_MAX; i++) {
        if (recent->blocks[i] != NULL) {
            free(recent->blocks[i]->fields);
        }
        free(recent->blocks[i]);
        recent->blocks[i] = NULL;
    }
    recent->made = NULL;
}
