/* SPDX-License-Identifier: MIT */
/*
 * Owns the table of open streams and the memory of which ids were skipped.
 * Does not know what happens on a stream.
 */
#include "stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 16

/* Ids are the peer's to choose.  The table's own address, which no peer knows,
 * goes into the product, so that they cannot all be made to meet in one
 * bucket. */
static size_t
bucket_of(const struct stream_table *table, size_t n_buckets, uint32_t id)
{
    uint64_t seed = (uint64_t)(uintptr_t)table >> 4;
    uint64_t hash = ((uint64_t)id ^ seed) * 0x9e3779b97f4a7c15u;

    return (size_t)(hash >> 40) & (n_buckets - 1);
}

struct h2dec_stream *
h2dec_stream_find(const struct stream_table *table, uint32_t id)
{
    struct h2dec_stream *stream;

    if (table->n_buckets == 0) {
        return NULL;
    }
    stream = table->buckets[bucket_of(table, table->n_buckets, id)];
    while (stream != NULL && stream->id != id) {
        stream = stream->chain;
    }
    return stream;
}

static int
gap_find(const struct stream_table *table, uint32_t id)
{
    for (unsigned i = table->n_gaps; i > 0; i--) {
        const struct stream_gap *gap = &table->gaps[i - 1];

        if (id >= gap->first && id <= gap->last && id % 2 == gap->first % 2) {
            return (int)(i - 1);
        }
    }
    return -1;
}

enum stream_past
h2dec_stream_past(const struct stream_table *table, uint32_t id)
{
    if (id > table->highest[id % 2] || gap_find(table, id) >= 0) {
        return STREAM_IDLE;
    }
    return STREAM_ENDED;
}

static void
gap_drop(struct stream_table *table, unsigned index)
{
    table->n_gaps--;
    memmove(&table->gaps[index], &table->gaps[index + 1],
            (table->n_gaps - index) * sizeof(table->gaps[0]));
}

static void
gap_add(struct stream_table *table, uint32_t first, uint32_t last)
{
    if (first > last) {
        return;
    }
    if (table->n_gaps == H2DEC_GAPS_MAX) {
        gap_drop(table, 0);
    }
    table->gaps[table->n_gaps].first = first;
    table->gaps[table->n_gaps].last = last;
    table->n_gaps++;
}

/* Takes |id| out of the gaps, or adds the gap that opening it leaves. */
static void
gap_update(struct stream_table *table, uint32_t id)
{
    uint32_t *highest = &table->highest[id % 2];
    int index;

    if (id > *highest) {
        uint32_t first = *highest == 0 ? (id % 2 ? 1 : 2) : *highest + 2;

        if (first < id) {
            gap_add(table, first, id - 2);
        }
        *highest = id;
        return;
    }
    index = gap_find(table, id);
    if (index >= 0) {
        struct stream_gap gap = table->gaps[index];

        gap_drop(table, (unsigned)index);
        if (gap.first < id) {
            gap_add(table, gap.first, id - 2);
        }
        gap_add(table, id + 2, gap.last);
    }
}

static int
table_grow(struct stream_table *table)
{
    size_t n = table->n_buckets ? table->n_buckets * 2 : BUCKETS_FIRST;
    struct h2dec_stream **buckets = calloc(n, sizeof(*buckets));

    if (buckets == NULL) {
        return H2DEC_ERR_NOMEM;
    }
    for (struct h2dec_stream *s = table->first; s != NULL; s = s->next) {
        struct h2dec_stream **bucket = &buckets[bucket_of(table, n, s->id)];

        s->chain = *bucket;
        *bucket = s;
    }
    free(table->buckets);
    table->buckets = buckets;
    table->n_buckets = n;
    return 0;
}

static void
table_link(struct stream_table *table, struct h2dec_stream *stream)
{
    struct h2dec_stream **bucket =
        &table->buckets[bucket_of(table, table->n_buckets, stream->id)];

    stream->chain = *bucket;
    *bucket = stream;
    stream->prev = table->last;
    if (table->last != NULL) {
        table->last->next = stream;
    } else {
        table->first = stream;
    }
    table->last = stream;
    table->count++;
}

int
h2dec_stream_open(struct stream_table *table, uint32_t id,
                  struct h2dec_stream **stream)
{
    int rv;

    assert(h2dec_stream_find(table, id) == NULL);
    if (table->count >= H2DEC_STREAMS_MAX) {
        return H2DEC_ERR_STREAMS;
    }
    if (table->count >= table->n_buckets) {
        rv = table_grow(table);
        if (rv != 0) {
            return rv;
        }
    }
    /* Not calloc: it passes by what malloc keeps at hand of this size. */
    *stream = malloc(sizeof(**stream));
    if (*stream == NULL) {
        return H2DEC_ERR_NOMEM;
    }
    memset(*stream, 0, sizeof(**stream));
    (*stream)->id = id;
    table_link(table, *stream);
    gap_update(table, id);
    return 0;
}

void
h2dec_stream_remove(struct stream_table *table, struct h2dec_stream *stream)
{
    struct h2dec_stream **link =
        &table->buckets[bucket_of(table, table->n_buckets, stream->id)];

    while (*link != stream) {
        link = &(*link)->chain;
    }
    *link = stream->chain;
    if (stream->prev != NULL) {
        stream->prev->next = stream->next;
    } else {
        table->first = stream->next;
    }
    if (stream->next != NULL) {
        stream->next->prev = stream->prev;
    } else {
        table->last = stream->prev;
    }
    table->count--;
    free(stream);
}

void
h2dec_stream_clear(struct stream_table *table)
{
    while (table->first != NULL) {
        h2dec_stream_remove(table, table->first);
    }
    free(table->buckets);
    table->buckets = NULL;
    table->n_buckets = 0;
}
