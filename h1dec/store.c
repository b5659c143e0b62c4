/* SPDX-License-Identifier: MIT */
/* Owns the memory of heads and trailers under way.  It knows blanks and
 * letters, but not what fields mean. */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_CAP_FIRST 512
#define FIELDS_CAP_FIRST 16

/* TEXT_CAP_KEPT is the most that stays allocated between heads: an ordinary
 * head fits, and one of a size that never comes again costs nothing after. */
#define TEXT_CAP_KEPT 8192

static int
grow_text(struct field_store *store, size_t len)
{
    size_t need = store->text_len + len;
    size_t cap = store->text_cap > 0 ? store->text_cap : TEXT_CAP_FIRST;
    char *text;

    if (need <= store->text_cap) {
        return 0;
    }
    while (cap < need) {
        cap *= 2;
    }
    text = realloc(store->text, cap);
    if (text == NULL) {
        return H1DEC_ERR_NOMEM;
    }
    store->text = text;
    store->text_cap = cap;
    return 0;
}

static int
add(struct field_store *store, const char *at, size_t len)
{
    int rv;

    if (len == 0) {
        return 0;
    }
    rv = grow_text(store, len);
    if (rv == 0) {
        memcpy(store->text + store->text_len, at, len);
        store->text_len += len;
    }
    return rv;
}

int
h1dec_store_target(struct field_store *store, const char *at, size_t len)
{
    int rv = add(store, at, len);

    store->target_len = store->text_len;
    return rv;
}

/* ---- Fields ---------------------------------------------------------- */

static int
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int
keep_field(struct field_store *store)
{
    if (store->n_fields == store->fields_cap) {
        size_t cap = store->fields_cap > 0 ? 2 * store->fields_cap
                                           : FIELDS_CAP_FIRST;
        struct h1dec_field *fields =
            realloc(store->fields, cap * sizeof(*fields));

        if (fields == NULL) {
            return H1DEC_ERR_NOMEM;
        }
        store->fields = fields;
        store->fields_cap = cap;
    }
    store->fields[store->n_fields] = store->current;
    store->n_fields++;
    return 0;
}

static int
end_field(struct field_store *store)
{
    struct h1dec_field *field = &store->current;
    int rv = 0;

    if (store->part == STORE_NOTHING) {
        return 0;
    }
    while (field->value_len > 0 && is_blank(store->text[store->text_len - 1])) {
        store->text_len--;
        field->value_len--;
    }
    store->list_bytes += (uint64_t)field->name_len + field->value_len;
    if (store->n_fields < H1DEC_FIELDS_MAX) {
        rv = keep_field(store);
    } else {
        store->n_omitted++;
    }
    memset(field, 0, sizeof(*field));
    store->part = STORE_NOTHING;
    return rv;
}

int
h1dec_store_name(struct field_store *store, const char *at, size_t len)
{
    int rv = store->part == STORE_VALUE ? end_field(store) : 0;
    char *c;

    if (rv == 0) {
        rv = add(store, at, len);
    }
    if (rv != 0 || len == 0) {
        return rv;
    }
    /* Not tolower: the program's locale has no say in it. */
    for (c = store->text + store->text_len - len;
         c < store->text + store->text_len; c++) {
        if (*c >= 'A' && *c <= 'Z') {
            *c = (char)(*c - 'A' + 'a');
        }
    }
    store->current.name_len += (uint32_t)len;
    store->part = STORE_NAME;
    return 0;
}

int
h1dec_store_value(struct field_store *store, const char *at, size_t len)
{
    int rv = add(store, at, len);

    store->part = STORE_VALUE;
    if (rv == 0) {
        store->current.value_len += (uint32_t)len;
    }
    return rv;
}

/* ---- The whole ------------------------------------------------------- */

int
h1dec_store_finish(struct field_store *store)
{
    int rv = end_field(store);
    const char *at = store->text;

    if (rv != 0 || store->n_fields == 0) {
        return rv;
    }
    at += store->target_len;
    for (size_t i = 0; i < store->n_fields; i++) {
        struct h1dec_field *field = &store->fields[i];

        field->name = at;
        field->value = at + field->name_len;
        at = field->value + field->value_len;
    }
    return 0;
}

void
h1dec_store_reset(struct field_store *store)
{
    if (store->text_cap > TEXT_CAP_KEPT) {
        h1dec_store_clear(store);
    }
    store->text_len = 0;
    store->target_len = 0;
    store->n_fields = 0;
    store->n_omitted = 0;
    store->list_bytes = 0;
    memset(&store->current, 0, sizeof(store->current));
    store->part = STORE_NOTHING;
}

void
h1dec_store_clear(struct field_store *store)
{
    free(store->text);
    free(store->fields);
    memset(store, 0, sizeof(*store));
}
