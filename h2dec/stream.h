/* SPDX-License-Identifier: MIT */
/* The streams of one connection: id to struct h2dec_stream. */
#ifndef STREAM_H
#define STREAM_H

#include "h2dec.h"

/* struct stream_gap is a range of ids of one parity that were skipped, both
 * ends included. */
struct stream_gap {
    uint32_t first;
    uint32_t last;
};

/* struct stream_table owns the open streams.  Ended ones cost nothing. */
struct stream_table {
    /* buckets holds n_buckets (a power of two, or 0) chains. */
    struct h2dec_stream **buckets;
    size_t n_buckets;
    /* count is the number of open streams. */
    size_t count;
    /* first and last are the ends of the list in opening order. */
    struct h2dec_stream *first;
    struct h2dec_stream *last;
    /* highest[parity] is the highest id opened: [1] by clients. */
    uint32_t highest[2];
    /* gaps are the skipped ranges below highest, the newest last. */
    struct stream_gap gaps[H2DEC_GAPS_MAX];
    unsigned n_gaps;
};

/* enum stream_past is what is known of an id without an open stream. */
enum stream_past {
    STREAM_IDLE, /* it has never carried HEADERS */
    STREAM_ENDED /* it has, and is over */
};

/* h2dec_stream_find returns the open stream |id|, or NULL. */
struct h2dec_stream *h2dec_stream_find(const struct stream_table *table,
                                       uint32_t id);

/* h2dec_stream_past says what an |id| without an open stream is. */
enum stream_past h2dec_stream_past(const struct stream_table *table,
                                   uint32_t id);

/* h2dec_stream_open adds |id|, which must not be open, to |table|.  Returns 0,
 * H2DEC_ERR_NOMEM or H2DEC_ERR_STREAMS. */
int h2dec_stream_open(struct stream_table *table, uint32_t id,
                      struct h2dec_stream **stream);

/* h2dec_stream_remove frees |stream|. */
void h2dec_stream_remove(struct stream_table *table,
                         struct h2dec_stream *stream);

/* h2dec_stream_clear frees all streams and what |table| holds. */
void h2dec_stream_clear(struct stream_table *table);

#endif
