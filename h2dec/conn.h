/* SPDX-License-Identifier: MIT */
/*
 * The connection as the files of this library share it: two directions, the
 * streams, and who is called back.
 *
 * A byte's way: conn.c takes it from a feed; the preface and frame headers
 * are its own, the rest goes by payload.c, which gives header block fragments
 * to headers.c (which asks recent.c first) and parameters to settings.c.  When
 * the frame is complete act.c books it (books.c; DATA is booked as it passes),
 * reports it and does what it asks for; what that means for windows is
 * window.c's.
 */
#ifndef CONN_H
#define CONN_H

#include <nghttp2/nghttp2.h>

#include "frame.h"
#include "recent.h"
#include "stream.h"

/* enum dir_state is where a direction stands between two bytes. */
enum dir_state {
    DIR_PREFACE, /* in the client's preface */
    DIR_HEADER,  /* in a frame header */
    DIR_PAYLOAD, /* in a frame's payload, see enum payload_part */
    DIR_LOST     /* not to be framed any more */
};

/* enum payload_part is the part of a payload that comes next. */
enum payload_part {
    PART_PAD_LENGTH,
    PART_FIXED,
    PART_BODY,
    PART_PADDING,
    PART_SKIP /* the payload of a faulty frame */
};

/* SMALL_LEN holds the fixed part of any frame, and one SETTINGS entry. */
#define SMALL_LEN 9

/* struct block is the header block under way in a direction. */
struct block {
    /* open is 1 from HEADERS or PUSH_PROMISE up to END_HEADERS. */
    uint8_t open;
    /* broken is 1 when a fragment of it could not be found or decoded. */
    uint8_t broken;
    /* end_stream is the flag of its HEADERS frame. */
    uint8_t end_stream;
    /* promise is 1 when PUSH_PROMISE began it. */
    uint8_t promise;
    /* frame_stream is the stream its frames are on. */
    uint32_t frame_stream;
    /* about is the stream its fields are about. */
    uint32_t about;
    /* offset and type are of the frame that began it. */
    uint64_t offset;
    uint8_t type;
    /* block_bytes and list_bytes are as in struct h2dec_headers. */
    uint64_t block_bytes;
    uint64_t list_bytes;
    uint64_t n_omitted;
    /* known is where it is remembered, from a block like it that came before,
     * or from now on; NULL: it is not. */
    struct recent_block *known;
};

/* struct field_store keeps the fields of a block until it is complete. */
struct field_store {
    /* text holds names and values, text_len of text_cap bytes. */
    char *text;
    size_t text_len;
    size_t text_cap;
    /* fields point into text, n_fields of fields_cap. */
    struct h2dec_field *fields;
    size_t n_fields;
    size_t fields_cap;
};

/* struct announced is the values of one parameter in a SETTINGS frame. */
struct announced {
    /* is_set is 1 when it was there: the smallest, the largest, the last. */
    uint8_t is_set;
    uint32_t least;
    uint32_t most;
    uint32_t last;
};

/* struct pending is a SETTINGS frame that waits for its ACK. */
struct pending {
    /* acks is how many frames share this place. */
    uint32_t acks;
    /* table is HEADER_TABLE_SIZE, window INITIAL_WINDOW_SIZE, list
     * MAX_HEADER_LIST_SIZE. */
    struct announced table;
    struct announced window;
    struct announced list;
    /* max_frame_size is 0 when it was not in it. */
    uint32_t max_frame_size;
};

/* struct window_change is a change of the initial window of a sender. */
struct window_change {
    /* at_us is when it passed. */
    uint64_t at_us;
    /* offset is that of the SETTINGS frame. */
    uint64_t offset;
    /* most and sent are as in struct flow_control, after it. */
    uint32_t most;
    uint32_t sent;
};

/* struct flow_control is what a sender may send, by what the other side has
 * told it. */
struct flow_control {
    /* initial is the initial window that the sender has acknowledged. */
    uint32_t initial;
    /* most is the largest that it may know of: initial, or one that waits
     * for its ACK. */
    uint32_t most;
    /* sent is what the other side has told it last. */
    uint32_t sent;
    /* changes is a ring of the last ones, of n_changes altogether. */
    uint32_t n_changes;
    struct window_change changes[H2DEC_CHANGES_MAX];
    /* window is the connection's; its delta is all of it. */
    struct h2dec_window window;
};

/* struct direction is what one side sends. */
struct direction {
    enum h2dec_side side;
    enum dir_state state;
    enum payload_part part;
    /* finished is 1 after the side's last byte. */
    uint8_t finished;
    /* seen_frame is 1 once last_good is valid. */
    uint8_t seen_frame;
    /* hpack_lost is 1 when header blocks can no longer be decoded; hpack_late
     * is 1 when the beginning of the table is unknown. */
    uint8_t hpack_lost;
    uint8_t hpack_late;
    /* table_told is 1 after H2DEC_FAULT_TABLE_LIMIT. */
    uint8_t table_told;
    /* small collects preface, header and fixed parts; small_len of it. */
    uint8_t small_len;
    uint8_t small[SMALL_LEN];
    /* pad_length is the Pad Length field of the frame. */
    uint8_t pad_length;
    /* ignored is 1 when the frame is framed but not acted on. */
    uint8_t ignored;
    /* fixed_len is the length of PART_FIXED, left what remains of the part
     * under way. */
    uint32_t fixed_len;
    uint32_t left;
    /* n_goaways counts those that have been acted on at once. */
    uint8_t n_goaways;
    /* offset_base is how many bytes came before HTTP/2 began. */
    uint64_t offset_base;
    /* unbooked is how many bytes of the frame wait for an owner. */
    uint64_t unbooked;
    /* frame under way, and the one before it. */
    struct h2dec_frame frame;
    struct h2dec_frame last_good;
    /* data_stream is who owns the DATA frame under way; NULL: see
     * data_past. */
    struct h2dec_stream *data_stream;
    enum stream_past data_past;
    /* promised is the Promised Stream ID of the PUSH_PROMISE under way. */
    uint32_t promised;
    struct block block;
    struct field_store store;
    struct recent recent;
    nghttp2_hd_inflater *inflater;
    /* max_frame_size is what the other side has allowed and this one has
     * acknowledged. */
    uint32_t max_frame_size;
    /* list_limit is the largest header list that the other side takes, as
     * acknowledged; UINT64_MAX: it has not said. */
    uint64_t list_limit;
    /* flow is what this side may send. */
    struct flow_control flow;
    /* pending are the SETTINGS of the other side that this one has not yet
     * acknowledged. */
    struct pending pending[H2DEC_PENDING_MAX];
    unsigned n_pending;
    /* entries of the SETTINGS frame under way. */
    struct h2dec_setting entries[H2DEC_SETTINGS_MAX];
    size_t n_entries;
    size_t n_entries_omitted;
    struct pending settings;
    /* settings_told has a bit for each parameter of which a fault has been
     * told: a frame may repeat it some thousand times. */
    uint8_t settings_told;
    /* debug data of the GOAWAY under way; allocated at the first one. */
    uint8_t *debug;
    size_t debug_len;
    /* goaway_code and goaway_last are its fixed fields. */
    uint32_t goaway_code;
    uint32_t goaway_last;
    /* goaway_limit is the highest stream of the other side that this one will
     * still act on. */
    uint32_t goaway_limit;
    struct h2dec_books books;
};

struct h2dec_conn {
    struct direction dir[2];
    struct stream_table streams;
    /* opened[side] counts the streams that side has opened. */
    struct h2dec_concurrency opened[2];
    /* now_us is the time of the last feed. */
    uint64_t now_us;
    const struct h2dec_callbacks *callbacks;
    void *user;
    /* error is sticky. */
    int error;
    /* joined is 1 when the beginning was missed. */
    uint8_t joined;
    /* windows_lost is 1 when the windows can no longer be known. */
    uint8_t windows_lost;
};

/* ---- conn.c ---- */

/* h2dec_conn_fault reports a fault at the frame under way. */
int h2dec_conn_fault(struct h2dec_conn *conn, const struct direction *dir,
                     enum h2dec_fault_code code, uint64_t value,
                     uint64_t limit, const char *reason);

/* h2dec_conn_report reports |fault|, its side and its last good frame being
 * those of |dir|. */
int h2dec_conn_report(struct h2dec_conn *conn, const struct direction *dir,
                      struct h2dec_fault *fault);

/* h2dec_conn_count counts |stream| as open, if it is not yet. */
void h2dec_conn_count(struct h2dec_conn *conn, struct h2dec_stream *stream);

/* h2dec_conn_end ends |stream|: called back, then freed. */
void h2dec_conn_end(struct h2dec_conn *conn, struct h2dec_stream *stream,
                    const struct h2dec_ending *ending);

/* h2dec_conn_end_side notes END_STREAM of |side|; |*stream| becomes NULL when
 * that was the end of it. */
int h2dec_conn_end_side(struct h2dec_conn *conn, struct h2dec_stream *stream,
                        enum h2dec_side side);

/* h2dec_goaway_end completes a GOAWAY: reported, and the streams it excludes
 * are marked. */
int h2dec_goaway_end(struct h2dec_conn *conn, struct direction *dir);

/* h2dec_goaway_limit returns the highest stream that the receiver of |id|'s
 * request has not excluded by a GOAWAY; UINT32_MAX without one. */
uint32_t h2dec_goaway_limit(const struct h2dec_conn *conn, uint32_t id);

/* ---- books.c ---- */

/* h2dec_books_data books |n| bytes of a DATA frame as they pass; |account| is
 * the offset of a field in the ledger of its stream. */
void h2dec_books_data(struct direction *dir, uint64_t n, size_t account);

/* h2dec_books_frame books the whole frame, which is not DATA; NULL |stream|:
 * see |past|. */
void h2dec_books_frame(struct direction *dir, struct h2dec_stream *stream,
                       enum stream_past past);

/* ---- payload.c ---- */

/* h2dec_payload_begin prepares for the payload of dir->frame. */
int h2dec_payload_begin(struct h2dec_conn *conn, struct direction *dir);

/* h2dec_payload_feed takes payload bytes and sets |*used|. */
int h2dec_payload_feed(struct h2dec_conn *conn, struct direction *dir,
                       const uint8_t *data, size_t len, size_t *used);

/* ---- act.c ---- */

/* h2dec_act_report reports the frame. */
int h2dec_act_report(struct h2dec_conn *conn, struct direction *dir,
                     struct h2dec_stream *stream);

/* h2dec_act_idle reports a frame that must not come for a stream that has
 * never been opened. */
int h2dec_act_idle(struct h2dec_conn *conn, struct direction *dir);

/* h2dec_act_after_end reports DATA or HEADERS after the side's END_STREAM. */
int h2dec_act_after_end(struct h2dec_conn *conn, struct direction *dir,
                        const struct h2dec_stream *stream);

/* h2dec_act_data and h2dec_act_frame do what a complete frame asks for: DATA,
 * and every other type. */
int h2dec_act_data(struct h2dec_conn *conn, struct direction *dir);
int h2dec_act_frame(struct h2dec_conn *conn, struct direction *dir);

/* ---- window.c ---- */

/* h2dec_window_init sets up what |dir| may send. */
void h2dec_window_init(struct direction *dir);

/* h2dec_window_open sets up the windows of a new stream. */
void h2dec_window_open(struct h2dec_conn *conn, struct h2dec_stream *stream);

/* h2dec_window_data takes the header of a DATA frame: it is checked against
 * both windows and taken from them. */
int h2dec_window_data(struct h2dec_conn *conn, struct direction *dir);

/* h2dec_window_sent looks whether |dir| can go on after a frame that is
 * complete; |stream| is NULL when nothing more comes on it. */
void h2dec_window_sent(struct h2dec_conn *conn, struct direction *dir,
                       struct h2dec_stream *stream);

/* h2dec_window_update takes a WINDOW_UPDATE of |dir|; |stream| is NULL for
 * the connection. */
int h2dec_window_update(struct h2dec_conn *conn, struct direction *dir,
                        struct h2dec_stream *stream, uint32_t increment);

/* h2dec_window_initial follows a change of what |dir| has been told (|sent|,
 * by the SETTINGS frame at |offset|) or has acknowledged. */
void h2dec_window_initial(struct h2dec_conn *conn, struct direction *dir,
                          uint32_t sent, uint64_t offset);

/* h2dec_window_catch_up brings |stream| up to the last such change. */
int h2dec_window_catch_up(struct h2dec_conn *conn, struct direction *dir,
                          struct h2dec_stream *stream);

/* h2dec_window_end reports what |stream|, about to end, had to wait for. */
void h2dec_window_end(struct h2dec_conn *conn, struct h2dec_stream *stream);

/* h2dec_window_close reports the connection's stalls at its end. */
void h2dec_window_close(struct h2dec_conn *conn);

/* ---- headers.c ---- */

/* h2dec_headers_begin starts the block of dir->frame. */
void h2dec_headers_begin(struct direction *dir);

/* h2dec_headers_fragment decodes a piece of the block. */
int h2dec_headers_fragment(struct h2dec_conn *conn, struct direction *dir,
                           const uint8_t *data, size_t len);

/* h2dec_headers_break says that a part of the block is not to be had. */
void h2dec_headers_break(struct direction *dir);

/* h2dec_headers_end completes the block and reports it. */
int h2dec_headers_end(struct h2dec_conn *conn, struct direction *dir);

/* h2dec_headers_table applies a table size that |dir| has acknowledged. */
int h2dec_headers_table(struct h2dec_conn *conn, struct direction *dir,
                        const struct announced *table);

/* h2dec_headers_clear frees what headers.c keeps in |dir|. */
void h2dec_headers_clear(struct direction *dir);

/* ---- settings.c ---- */

/* h2dec_settings_begin starts a SETTINGS frame. */
void h2dec_settings_begin(struct direction *dir);

/* h2dec_settings_entry takes the 6 bytes in dir->small. */
int h2dec_settings_entry(struct h2dec_conn *conn, struct direction *dir);

/* h2dec_settings_end completes the frame: parameters begin to wait for their
 * ACK, an ACK puts those of the other side in force. */
int h2dec_settings_end(struct h2dec_conn *conn, struct direction *dir);

/* h2dec_settings_upgrade takes the client's parameters from HTTP2-Settings. */
int h2dec_settings_upgrade(struct h2dec_conn *conn, const uint8_t *settings,
                           size_t len);

/* h2dec_settings_frame_limit returns the longest frame |dir| may send: the
 * larger of what is in force and what waits for the ACK. */
uint32_t h2dec_settings_frame_limit(const struct direction *dir);

/* h2dec_settings_list_limit returns the largest header list |dir| may send,
 * in the same way; UINT64_MAX: any. */
uint64_t h2dec_settings_list_limit(const struct direction *dir);

#endif
