/* SPDX-License-Identifier: MIT */
/*
 * Header blocks that come again.  In steady state most blocks of a connection
 * are byte by byte those of a call before, and inflating them is the largest
 * part of what a small call costs.
 *
 * A block is remembered when it leaves the HPACK table as it is: it consists
 * of indexed fields and of literals that are not added (RFC 7541, sections 6.1,
 * 6.2.2, 6.2.3).  What it means then depends on its bytes and the table alone,
 * so it may be taken from here until the table changes.
 */
#ifndef RECENT_H
#define RECENT_H

#include "h2dec.h"

/* struct recent_block is a block and what it means. */
struct recent_block {
    /* bytes are the block as sent, len of them; 0: nothing is remembered. */
    uint8_t bytes[H2DEC_RECENT_LEN_MAX];
    uint32_t len;
    /* fields are n_fields, and behind them text_len bytes of names and values,
     * in one allocation of room bytes: no more than what such blocks need. */
    struct h2dec_field *fields;
    size_t n_fields;
    size_t text_len;
    size_t room;
    /* mark is the caller's, see struct h2dec_headers. */
    uint32_t mark;
};

/* struct recent is the memory of a direction. */
struct recent {
    /* blocks are allocated one by one, when first needed. */
    struct recent_block *blocks[H2DEC_RECENT_MAX];
    /* next is the one to be given up for the next block. */
    unsigned next;
    /* made is the block under way, made_len bytes long; NULL: it is not to be
     * remembered. */
    struct recent_block *made;
    uint32_t made_len;
};

/* h2dec_recent_find returns the block that was sent as these bytes, or NULL. */
struct recent_block *h2dec_recent_find(const struct recent *recent,
                                       const uint8_t *data, size_t len);

/* h2dec_recent_offer takes the bytes of a whole block that is being inflated.
 * One that changes the table makes all others forgotten. */
void h2dec_recent_offer(struct recent *recent, const uint8_t *data,
                        size_t len);

/* h2dec_recent_keep says what the block offered last has turned out to mean:
 * |text| of |text_len| bytes holds names and values.  Returns it as it is
 * remembered, or NULL when it is not. */
struct recent_block *h2dec_recent_keep(struct recent *recent,
                                       const struct h2dec_field *fields,
                                       size_t n_fields, const char *text,
                                       size_t text_len);

/* h2dec_recent_forget forgets all: the table has changed, or may have. */
void h2dec_recent_forget(struct recent *recent);

/* h2dec_recent_clear frees the memory. */
void h2dec_recent_clear(struct recent *recent);

#endif
