/* SPDX-License-Identifier: MIT */
/* The head or the trailers under way: target and fields, kept until they are
 * complete.  What is parsed is bounded by the caller. */
#ifndef STORE_H
#define STORE_H

#include "h1dec.h"

/* enum store_part is what the last piece belonged to. */
enum store_part { STORE_NOTHING, STORE_NAME, STORE_VALUE };

/*
 * struct field_store holds one text: the target, then name and value of each
 * field without anything between.  It moves while it grows, so fields have
 * lengths only until h1dec_store_finish.
 */
struct field_store {
    /* text is text_len of text_cap bytes. */
    char *text;
    size_t text_len;
    size_t text_cap;
    /* target_len is how much of the beginning is the target. */
    size_t target_len;
    /* fields is n_fields of fields_cap; n_omitted more were not kept. */
    struct h1dec_field *fields;
    size_t n_fields;
    size_t fields_cap;
    size_t n_omitted;
    /* list_bytes is names and values of all that are complete. */
    uint64_t list_bytes;
    /* current is the field under way, part what was last added of it. */
    struct h1dec_field current;
    enum store_part part;
};

/* h1dec_store_target adds to the target.  Returns 0 or H1DEC_ERR_NOMEM, as
 * the two that follow. */
int h1dec_store_target(struct field_store *store, const char *at, size_t len);

/* h1dec_store_name adds to the name of a field; after a value, that of the
 * next one. */
int h1dec_store_name(struct field_store *store, const char *at, size_t len);

/* h1dec_store_value adds to the value, whose first byte is no blank. */
int h1dec_store_value(struct field_store *store, const char *at, size_t len);

/* h1dec_store_finish completes the last field: the fields can be read until
 * the next reset.  Returns 0 or H1DEC_ERR_NOMEM. */
int h1dec_store_finish(struct field_store *store);

/* h1dec_store_reset empties |store| for the next head. */
void h1dec_store_reset(struct field_store *store);

/* h1dec_store_clear frees what |store| holds. */
void h1dec_store_clear(struct field_store *store);

#endif
