/* SPDX-License-Identifier: MIT */
/*
 * Owns the connection: feeding, the preface, frame headers and their order,
 * what is lost, and the end of streams.  Payloads are payload.c's.
 */
#include "conn.h"

#include <stdlib.h>
#include <string.h>

/* The default of RFC 9113, section 6.5.2. */
#define MAX_FRAME_SIZE_FIRST 16384

int
h2dec_conn_new(struct h2dec_conn **conn,
               const struct h2dec_callbacks *callbacks, void *user)
{
    struct h2dec_conn *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        return H2DEC_ERR_NOMEM;
    }
    c->callbacks = callbacks;
    c->user = user;
    for (int i = 0; i < 2; i++) {
        c->dir[i].side = (enum h2dec_side)i;
        c->dir[i].state = i == H2DEC_CLIENT ? DIR_PREFACE : DIR_HEADER;
        c->dir[i].max_frame_size = MAX_FRAME_SIZE_FIRST;
        c->dir[i].goaway_limit = UINT32_MAX;
        c->dir[i].list_limit = UINT64_MAX;
        h2dec_window_init(&c->dir[i]);
    }
    *conn = c;
    return 0;
}

void
h2dec_conn_free(struct h2dec_conn *conn)
{
    if (conn == NULL) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        h2dec_headers_clear(&conn->dir[i]);
        free(conn->dir[i].debug);
    }
    h2dec_stream_clear(&conn->streams);
    free(conn);
}

void
h2dec_conn_join(struct h2dec_conn *conn)
{
    conn->joined = 1;
    conn->windows_lost = 1;
    conn->dir[H2DEC_CLIENT].state = DIR_HEADER;
    conn->dir[H2DEC_CLIENT].hpack_late = 1;
    conn->dir[H2DEC_SERVER].hpack_late = 1;
}

static int fail(struct h2dec_conn *conn, int error);

int
h2dec_conn_upgrade(struct h2dec_conn *conn,
                   const struct h2dec_upgrade *upgrade)
{
    struct h2dec_stream *stream;
    int rv;

    conn->dir[H2DEC_CLIENT].offset_base = upgrade->offset[H2DEC_CLIENT];
    conn->dir[H2DEC_SERVER].offset_base = upgrade->offset[H2DEC_SERVER];
    rv = h2dec_settings_upgrade(conn, upgrade->settings,
                                upgrade->settings_len);
    if (rv == 0) {
        rv = h2dec_stream_open(&conn->streams, 1, &stream);
    }
    if (rv == 0) {
        h2dec_window_open(conn, stream);
        h2dec_conn_count(conn, stream);
        stream->opened_us = upgrade->opened_us;
        stream->ended[H2DEC_CLIENT] = 1;
        stream->blocks[H2DEC_CLIENT] = 1;
        if (conn->callbacks->stream_open != NULL &&
            conn->callbacks->stream_open(stream, conn->user) != 0) {
            rv = H2DEC_ERR_CALLBACK;
        }
    }
    return rv == 0 ? 0 : fail(conn, rv);
}

/* ---- Faults ---------------------------------------------------------- */

int
h2dec_conn_report(struct h2dec_conn *conn, const struct direction *dir,
                  struct h2dec_fault *fault)
{
    fault->side = dir->side;
    fault->last_good_valid = dir->seen_frame;
    fault->last_good = dir->last_good;
    if (conn->callbacks->fault == NULL) {
        return 0;
    }
    return conn->callbacks->fault(fault, conn->user) ? H2DEC_ERR_CALLBACK : 0;
}

int
h2dec_conn_fault(struct h2dec_conn *conn, const struct direction *dir,
                 enum h2dec_fault_code code, uint64_t value, uint64_t limit,
                 const char *reason)
{
    struct h2dec_fault fault = {
        .code = code,
        .stream_id = dir->frame.stream_id,
        .type = dir->frame.type,
        .offset = dir->frame.offset,
        .value = value,
        .limit = limit,
        .reason = reason,
    };

    return h2dec_conn_report(conn, dir, &fault);
}

/* What |dir| has not booked, and all that follows, is undecoded.  Without one
 * side's frames the other's windows are unknown. */
static void
lose(struct h2dec_conn *conn, struct direction *dir)
{
    conn->windows_lost = 1;
    dir->books.undecoded_bytes += dir->unbooked;
    dir->unbooked = 0;
    dir->state = DIR_LOST;
    dir->data_stream = NULL;
    dir->block.open = 0;
}

static int
lose_framing(struct h2dec_conn *conn, struct direction *dir,
             const char *reason)
{
    lose(conn, dir);
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_FRAMING_LOST, 0, 0,
                            reason);
}

/* ---- Streams --------------------------------------------------------- */

static enum h2dec_side
opener_of(uint32_t id)
{
    return id % 2 == 1 ? H2DEC_CLIENT : H2DEC_SERVER;
}

void
h2dec_conn_count(struct h2dec_conn *conn, struct h2dec_stream *stream)
{
    struct h2dec_concurrency *opened = &conn->opened[opener_of(stream->id)];

    if (stream->counted) {
        return;
    }
    stream->counted = 1;
    opened->open++;
    if (opened->open > opened->peak) {
        opened->peak = opened->open;
    }
}

void
h2dec_conn_end(struct h2dec_conn *conn, struct h2dec_stream *stream,
               const struct h2dec_ending *ending)
{
    for (int i = 0; i < 2; i++) {
        /* The rest of a DATA frame under way comes too late. */
        if (conn->dir[i].data_stream == stream) {
            conn->dir[i].data_stream = NULL;
            conn->dir[i].data_past = STREAM_ENDED;
        }
    }
    h2dec_window_end(conn, stream);
    conn->opened[opener_of(stream->id)].open -= stream->counted;
    if (conn->callbacks->stream_end != NULL) {
        conn->callbacks->stream_end(stream, ending, conn->user);
    }
    h2dec_stream_remove(&conn->streams, stream);
}

/* A refused stream gets no answer: it is over when its opener is done. */
static void
end_if_over(struct h2dec_conn *conn, struct h2dec_stream *stream)
{
    struct h2dec_ending ending = { .end = H2DEC_END_COMPLETE };

    if (stream->ended[H2DEC_CLIENT] && stream->ended[H2DEC_SERVER]) {
        h2dec_conn_end(conn, stream, &ending);
    } else if (stream->refused && stream->ended[opener_of(stream->id)]) {
        ending.end = H2DEC_END_REFUSED;
        h2dec_conn_end(conn, stream, &ending);
    }
}

int
h2dec_conn_end_side(struct h2dec_conn *conn, struct h2dec_stream *stream,
                    enum h2dec_side side)
{
    int rv = 0;

    if (stream->ended[side]) {
        return 0; /* a second END_STREAM has been told as a fault */
    }
    stream->ended[side] = 1;
    if (conn->callbacks->end_stream != NULL) {
        rv = conn->callbacks->end_stream(stream, side, conn->user)
                 ? H2DEC_ERR_CALLBACK
                 : 0;
    }
    if (rv == 0) {
        end_if_over(conn, stream);
    }
    return rv;
}

uint32_t
h2dec_goaway_limit(const struct h2dec_conn *conn, uint32_t id)
{
    enum h2dec_side receiver =
        opener_of(id) == H2DEC_CLIENT ? H2DEC_SERVER : H2DEC_CLIENT;

    return conn->dir[receiver].goaway_limit;
}

static void
refuse_streams(struct h2dec_conn *conn)
{
    struct h2dec_stream *stream = conn->streams.first;

    while (stream != NULL) {
        struct h2dec_stream *next = stream->next;

        /* One that is being answered was not excluded after all. */
        if (stream->blocks[H2DEC_SERVER] == 0 &&
            stream->id > h2dec_goaway_limit(conn, stream->id)) {
            stream->refused = 1;
            end_if_over(conn, stream);
        }
        stream = next;
    }
}

int
h2dec_goaway_end(struct h2dec_conn *conn, struct direction *dir)
{
    struct h2dec_goaway goaway = {
        .side = dir->side,
        .last_stream_id = dir->goaway_last,
        .code = dir->goaway_code,
        .debug = dir->debug,
        .debug_len = dir->debug_len,
        .debug_total = dir->frame.length - dir->fixed_len,
    };

    if (conn->callbacks->goaway != NULL &&
        conn->callbacks->goaway(&goaway, conn->user) != 0) {
        return H2DEC_ERR_CALLBACK;
    }
    /* Further GOAWAYs may only lower it (section 6.8). */
    if (dir->goaway_last < dir->goaway_limit) {
        dir->goaway_limit = dir->goaway_last;
    }
    /* A peer that sends many is not worth a walk through the streams each
     * time: they still end as refused, when they end. */
    if (dir->n_goaways < H2DEC_GOAWAYS_MAX) {
        dir->n_goaways++;
        refuse_streams(conn);
    }
    return 0;
}

/* ---- Frame headers --------------------------------------------------- */

/* Whether the frame may follow what came before it (section 6.10). */
static const char *
order_fault(const struct direction *dir)
{
    int is_continuation = dir->frame.type == H2DEC_CONTINUATION;

    if (dir->block.open && !is_continuation) {
        return "a header block is interrupted by another frame";
    }
    if (dir->block.open && dir->frame.stream_id != dir->block.frame_stream) {
        return "a header block is continued on another stream";
    }
    if (!dir->block.open && is_continuation) {
        return "CONTINUATION without a header block to continue";
    }
    return NULL;
}

static int
check_first(struct h2dec_conn *conn, struct direction *dir)
{
    if (dir->seen_frame || conn->joined ||
        (dir->frame.type == H2DEC_SETTINGS &&
         !(dir->frame.flags & H2DEC_FLAG_ACK))) {
        return 0;
    }
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_FIRST_FRAME, 0, 0,
                            "the first frame is not SETTINGS");
}

static int
header_done(struct h2dec_conn *conn, struct direction *dir)
{
    uint32_t limit = h2dec_settings_frame_limit(dir);
    const char *fault;
    int rv;

    h2dec_frame_parse(&dir->frame, dir->small);
    fault = order_fault(dir);
    if (fault != NULL) {
        rv = h2dec_conn_fault(conn, dir, H2DEC_FAULT_CONTINUATION, 0, 0,
                              fault);
        return rv ? rv : lose_framing(conn, dir, fault);
    }
    /* What was allowed before we joined is unknown. */
    if (dir->frame.length > limit &&
        !(conn->joined && dir->frame.type < H2DEC_UNKNOWN_TYPE)) {
        rv = h2dec_conn_fault(conn, dir, H2DEC_FAULT_FRAME_SIZE,
                              dir->frame.length, limit,
                              "the frame is longer than the receiver allows");
        return rv ? rv
                  : lose_framing(conn, dir, "a frame of impossible length");
    }
    rv = check_first(conn, dir);
    return rv ? rv : h2dec_payload_begin(conn, dir);
}

static int
feed_header(struct h2dec_conn *conn, struct direction *dir,
            const uint8_t *data, size_t len, size_t *used, uint64_t now_us)
{
    size_t need = H2DEC_FRAME_HEADER_LEN - (size_t)dir->small_len;

    if (dir->small_len == 0) {
        dir->frame.offset = dir->offset_base + dir->books.bytes;
        dir->frame.first_byte_us = now_us;
        dir->frame.side = dir->side;
    }
    *used = len < need ? len : need;
    memcpy(dir->small + dir->small_len, data, *used);
    dir->small_len = (uint8_t)(dir->small_len + *used);
    dir->unbooked += *used;
    return *used == need ? header_done(conn, dir) : 0;
}

/* ---- Feeding --------------------------------------------------------- */

static int
feed_preface(struct h2dec_conn *conn, struct direction *dir,
             const uint8_t *data, size_t len, size_t *used)
{
    size_t at = (size_t)dir->unbooked;
    size_t n = H2DEC_PREFACE_LEN - at;

    if (len < n) {
        n = len;
    }
    *used = n;
    dir->unbooked += n;
    if (memcmp(data, h2dec_preface + at, n) != 0) {
        dir->frame.offset = dir->offset_base;
        return lose_framing(conn, dir, "the client's preface is missing");
    }
    if (dir->unbooked == H2DEC_PREFACE_LEN) {
        dir->books.connection_bytes += H2DEC_PREFACE_LEN;
        dir->unbooked = 0;
        dir->state = DIR_HEADER;
    }
    return 0;
}

/* One step in the state |dir| is in. */
static int
feed_step(struct h2dec_conn *conn, struct direction *dir, const uint8_t *data,
          size_t len, size_t *used, uint64_t now_us)
{
    switch (dir->state) {
    case DIR_PREFACE:
        return feed_preface(conn, dir, data, len, used);
    case DIR_HEADER:
        return feed_header(conn, dir, data, len, used, now_us);
    case DIR_PAYLOAD:
        return h2dec_payload_feed(conn, dir, data, len, used);
    case DIR_LOST:
        break;
    }
    dir->books.undecoded_bytes += len;
    *used = len;
    return 0;
}

/* After a fatal error nothing is decoded any more. */
static int
fail(struct h2dec_conn *conn, int error)
{
    conn->error = error;
    lose(conn, &conn->dir[H2DEC_CLIENT]);
    lose(conn, &conn->dir[H2DEC_SERVER]);
    return error;
}

/* A frame without payload is complete with its header: there is a step to
 * make although no byte is left. */
static int
has_step(const struct direction *dir, size_t len)
{
    return len > 0 || (dir->state == DIR_PAYLOAD && dir->left == 0);
}

int
h2dec_conn_feed(struct h2dec_conn *conn, enum h2dec_side side,
                const uint8_t *data, size_t len, uint64_t now_us)
{
    struct direction *dir = &conn->dir[side];

    conn->now_us = now_us;
    if (dir->finished) {
        dir->books.bytes += len;
        dir->books.undecoded_bytes += len;
        return conn->error;
    }
    while (has_step(dir, len)) {
        size_t used = 0;
        int rv = feed_step(conn, dir, data, len, &used, now_us);

        dir->books.bytes += used;
        data += used;
        len -= used;
        if (rv != 0) {
            fail(conn, rv);
        }
    }
    return conn->error;
}

void
h2dec_conn_abandon(struct h2dec_conn *conn, enum h2dec_side side)
{
    lose(conn, &conn->dir[side]);
}

void
h2dec_conn_finish(struct h2dec_conn *conn, enum h2dec_side side)
{
    struct direction *dir = &conn->dir[side];

    dir->books.undecoded_bytes += dir->unbooked;
    dir->unbooked = 0;
    dir->finished = 1;
}

void
h2dec_conn_close(struct h2dec_conn *conn)
{
    struct h2dec_ending ending = { .end = H2DEC_END_CONNECTION };

    h2dec_conn_finish(conn, H2DEC_CLIENT);
    h2dec_conn_finish(conn, H2DEC_SERVER);
    while (conn->streams.first != NULL) {
        struct h2dec_stream *stream = conn->streams.first;

        ending.end =
            stream->refused ? H2DEC_END_REFUSED : H2DEC_END_CONNECTION;
        h2dec_conn_end(conn, stream, &ending);
    }
    h2dec_window_close(conn);
}

/* ---- Questions ------------------------------------------------------- */

const struct h2dec_books *
h2dec_conn_books(const struct h2dec_conn *conn, enum h2dec_side side)
{
    return &conn->dir[side].books;
}

int
h2dec_conn_is_lost(const struct h2dec_conn *conn, enum h2dec_side side)
{
    return conn->dir[side].state == DIR_LOST;
}

const struct h2dec_concurrency *
h2dec_conn_concurrency(const struct h2dec_conn *conn, enum h2dec_side side)
{
    return &conn->opened[side];
}

size_t
h2dec_conn_streams(const struct h2dec_conn *conn)
{
    return conn->streams.count;
}
