/* SPDX-License-Identifier: MIT */
/*
 * Owns the books: which stream, or what else, each byte of a frame is booked
 * to.  When a frame is complete, and what it does, is for others.
 */
#include "conn.h"

#include <assert.h>

uint64_t
h2dec_ledger_sum(const struct h2dec_ledger *ledger)
{
    return ledger->framing_bytes + ledger->header_block_bytes +
           ledger->padding_bytes + ledger->control_bytes + ledger->body_bytes;
}

void
h2dec_books_data(struct direction *dir, uint64_t n, size_t account)
{
    dir->books.frames[H2DEC_DATA].bytes += n;
    if (dir->data_stream != NULL) {
        struct h2dec_ledger *ledger = &dir->data_stream->ledger[dir->side];

        *(uint64_t *)((char *)ledger + account) += n;
        dir->books.stream_bytes += n;
    } else if (dir->data_past == STREAM_ENDED) {
        dir->books.late_bytes += n;
    } else {
        dir->books.connection_bytes += n;
    }
}

/* The header block bytes and the padding of the frame that is complete. */
static void
shares_of(const struct direction *dir, uint64_t *block, uint64_t *padding)
{
    const struct h2dec_frame *frame = &dir->frame;

    *block = 0;
    *padding = 0;
    if (dir->ignored) {
        return;
    }
    if (h2dec_frame_is_padded(frame)) {
        *padding = 1u + dir->pad_length;
    }
    if (h2dec_frame_has_block(frame->type)) {
        *block = frame->length - *padding - dir->fixed_len;
    }
}

void
h2dec_books_frame(struct direction *dir, struct h2dec_stream *stream,
                  enum stream_past past)
{
    uint64_t total = dir->unbooked;
    struct h2dec_count *count =
        &dir->books.frames[h2dec_frame_index(dir->frame.type)];

    assert(total == H2DEC_FRAME_HEADER_LEN + (uint64_t)dir->frame.length);
    dir->unbooked = 0;
    count->count++;
    count->bytes += total;
    if (stream != NULL) {
        struct h2dec_ledger *ledger = &stream->ledger[dir->side];
        uint64_t block;
        uint64_t padding;

        shares_of(dir, &block, &padding);
        ledger->frames++;
        ledger->framing_bytes += H2DEC_FRAME_HEADER_LEN;
        ledger->header_block_bytes += block;
        ledger->padding_bytes += padding;
        ledger->control_bytes += dir->frame.length - block - padding;
        dir->books.stream_bytes += total;
    } else if (past == STREAM_ENDED) {
        dir->books.late_bytes += total;
    } else {
        dir->books.connection_bytes += total;
    }
}
