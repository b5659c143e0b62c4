/* SPDX-License-Identifier: MIT */
/*
 * h2dec: both directions of one HTTP/2 connection, as a bystander sees them.
 *
 * Model.  An observer is not an endpoint: it enforces no window, answers
 * nothing, and keeps going where an endpoint would hang up.  It sees things
 * earlier or later than the endpoints do: where that matters, a side is only
 * at fault if it is by all that it may have known.  A connection is
 * fed the bytes that each side sent, cut anywhere, and reports frames, header
 * blocks, DATA payload, the life of streams, and faults against RFC 9113 and
 * RFC 7541.  It also keeps the books: each byte fed has exactly one owner
 * (struct h2dec_ledger for a stream, struct h2dec_books for the rest).
 *
 * What the bytes did not say is not reported: after an HPACK error, or when
 * the beginning of the connection was missed, header fields are unknown, and
 * said to be.
 *
 * Ownership.  Memory given to a callback is valid until it returns; memory
 * given to a function stays the caller's.  A struct h2dec_stream lives from
 * stream_open to the return of stream_end.
 *
 * Units.  Sizes and offsets are bytes, offsets count from the first byte of a
 * direction.  Time is microseconds on any clock the caller likes.
 *
 * The library does no I/O, reads no clock and holds no mutable globals.
 * Nothing in it depends on how the input was cut.
 */
#ifndef H2DEC_H
#define H2DEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits: everything that grows has a ceiling --------------------- */

/* H2DEC_STREAMS_MAX bounds the streams open at once.  Servers announce 100 to
 * 1,000; without an announcement HTTP/2 has no bound, so this is ours. */
#define H2DEC_STREAMS_MAX 16384

/* H2DEC_FIELDS_LEN_MAX bounds the names and values kept of one header block;
 * the rest is decoded and counted, not kept.  Servers refuse lists over 8 to
 * 64 KiB, gRPC's default is 16 KiB. */
#define H2DEC_FIELDS_LEN_MAX (256u << 10)

/* H2DEC_FIELDS_MAX bounds the number of fields kept of one block. */
#define H2DEC_FIELDS_MAX 1024

/* H2DEC_TABLE_SIZE_MAX bounds the HPACK dynamic table that is followed;
 * RFC 7541's default is 4,096, browsers use 65,536. */
#define H2DEC_TABLE_SIZE_MAX (1u << 20)

/* H2DEC_STRING_MAX is the longest name or value, as sent, that nghttp2's
 * inflater takes; a longer one is reported as H2DEC_FAULT_HPACK, because it
 * cannot be told apart. */
#define H2DEC_STRING_MAX 65536

/* H2DEC_SETTINGS_MAX bounds the parameters reported of one SETTINGS frame;
 * RFC 9113 defines six. All of them take effect. */
#define H2DEC_SETTINGS_MAX 32

/* H2DEC_GOAWAYS_MAX bounds the GOAWAY frames of a side that end streams at
 * once; a graceful shutdown has two. */
#define H2DEC_GOAWAYS_MAX 8

/* H2DEC_DEBUG_MAX bounds the debug data reported of one GOAWAY frame. */
#define H2DEC_DEBUG_MAX 1024

/* H2DEC_GAPS_MAX bounds the ranges of skipped stream ids that are remembered,
 * to tell a stream that never was from one that has ended. */
#define H2DEC_GAPS_MAX 32

/* H2DEC_CHANGES_MAX bounds the changes of the initial window that are kept
 * for streams on which nothing has happened since.  Of more, a stream sees the
 * latest only: a stall's times may then be those of a later change. */
#define H2DEC_CHANGES_MAX 8

/* H2DEC_PENDING_MAX bounds the SETTINGS frames remembered one by one until
 * their ACK; further ones share the last place. */
#define H2DEC_PENDING_MAX 8

/* H2DEC_RECENT_MAX is how many header blocks of a direction are remembered in
 * case they come again: a server alternates between headers and trailers, a
 * client between methods.  H2DEC_RECENT_LEN_MAX, _TEXT_MAX and _FIELDS_MAX
 * bound one of them, its bytes, its names and values, its fields: 14 KiB a
 * connection at most. */
#define H2DEC_RECENT_MAX 4
#define H2DEC_RECENT_LEN_MAX 128
#define H2DEC_RECENT_TEXT_MAX 1024
#define H2DEC_RECENT_FIELDS_MAX 16

/* ---- Errors ---------------------------------------------------------- */

/* enum h2dec_error is what functions return; 0 is success.  A fatal error is
 * sticky: from there on bytes are only counted, as undecoded.  Faults of the
 * peers are no errors of the library: they come through the fault callback. */
enum h2dec_error {
    H2DEC_OK = 0,
    /* An argument breaks the contract of the function. */
    H2DEC_ERR_INVALID = -1,
    /* Fatal: a callback returned non-zero. */
    H2DEC_ERR_CALLBACK = -101,
    /* Fatal: out of memory. */
    H2DEC_ERR_NOMEM = -102,
    /* Fatal: more than H2DEC_STREAMS_MAX streams are open. */
    H2DEC_ERR_STREAMS = -103
};

/* h2dec_strerror returns a short English text for |error|. */
const char *h2dec_strerror(int error);

/* h2dec_error_is_fatal returns 1 when the connection cannot go on. */
int h2dec_error_is_fatal(int error);

/* ---- Names of RFC 9113 ----------------------------------------------- */

/* enum h2dec_side is the sender of bytes; also an index. */
enum h2dec_side { H2DEC_CLIENT = 0, H2DEC_SERVER = 1 };

/* enum h2dec_type is the type of a frame (RFC 9113, section 6). */
enum h2dec_type {
    H2DEC_DATA = 0,
    H2DEC_HEADERS = 1,
    H2DEC_PRIORITY = 2,
    H2DEC_RST_STREAM = 3,
    H2DEC_SETTINGS = 4,
    H2DEC_PUSH_PROMISE = 5,
    H2DEC_PING = 6,
    H2DEC_GOAWAY = 7,
    H2DEC_WINDOW_UPDATE = 8,
    H2DEC_CONTINUATION = 9,
    /* Every other type; also the number of known ones. */
    H2DEC_UNKNOWN_TYPE = 10
};

/* H2DEC_TYPES is the length of an array indexed by enum h2dec_type. */
#define H2DEC_TYPES 11

/* Flags of frames (RFC 9113, section 6). */
#define H2DEC_FLAG_END_STREAM 0x01
#define H2DEC_FLAG_ACK 0x01
#define H2DEC_FLAG_END_HEADERS 0x04
#define H2DEC_FLAG_PADDED 0x08
#define H2DEC_FLAG_PRIORITY 0x20

/* H2DEC_FRAME_HEADER_LEN is the length of a frame header (section 4.1). */
#define H2DEC_FRAME_HEADER_LEN 9

/* H2DEC_WINDOW_MAX is the largest window there may be (section 6.9.1). */
#define H2DEC_WINDOW_MAX 0x7fffffff

/* H2DEC_FIELD_OVERHEAD is what a field counts beyond its name and value
 * against SETTINGS_MAX_HEADER_LIST_SIZE (section 6.5.2). */
#define H2DEC_FIELD_OVERHEAD 32

/* H2DEC_PING_LEN is the length of the opaque data of a PING. */
#define H2DEC_PING_LEN 8

/* H2DEC_NEVER is a time that has not come. */
#define H2DEC_NEVER UINT64_MAX

/* H2DEC_PREFACE_LEN is the length of the client's preface (section 3.4). */
#define H2DEC_PREFACE_LEN 24

/* h2dec_preface is the client's preface. */
extern const char h2dec_preface[H2DEC_PREFACE_LEN + 1];

/* h2dec_type_name returns "DATA", ..., or "UNKNOWN". */
const char *h2dec_type_name(unsigned type);

/* h2dec_code_name returns the name of an error code ("CANCEL", section 7), or
 * NULL for one that has none. */
const char *h2dec_code_name(uint32_t code);

/* h2dec_setting_name returns "SETTINGS_HEADER_TABLE_SIZE", ..., or NULL. */
const char *h2dec_setting_name(uint16_t id);

/* ---- The books ------------------------------------------------------- */

/* struct h2dec_ledger is what one direction of one stream has cost. */
struct h2dec_ledger {
    /* frames is the number of frames. */
    uint64_t frames;
    /* framing_bytes is 9 a frame. */
    uint64_t framing_bytes;
    /* header_block_bytes is HPACK as sent. */
    uint64_t header_block_bytes;
    /* padding_bytes is Pad Length fields and padding. */
    uint64_t padding_bytes;
    /* control_bytes is everything else that is not DATA: priority fields,
     * the payload of RST_STREAM, WINDOW_UPDATE, unknown and faulty frames. */
    uint64_t control_bytes;
    /* body_bytes is DATA payload without padding. */
    uint64_t body_bytes;
    /* header_list_bytes is names and values of the header blocks, decoded;
     * not a part of the sum. */
    uint64_t header_list_bytes;
};

/* h2dec_ledger_sum returns the bytes on the wire that |ledger| owns. */
uint64_t h2dec_ledger_sum(const struct h2dec_ledger *ledger);

/* struct h2dec_count is how often a type of frame came, and its bytes. */
struct h2dec_count {
    uint64_t count;
    uint64_t bytes;
};

/* struct h2dec_books is one direction of the connection:
 * bytes = stream_bytes + connection_bytes + late_bytes + undecoded_bytes. */
struct h2dec_books {
    /* bytes is all that was fed. */
    uint64_t bytes;
    /* stream_bytes is the sum of the ledgers of all streams. */
    uint64_t stream_bytes;
    /* connection_bytes is the preface, and frames of no stream or of one that
     * never carried HEADERS. */
    uint64_t connection_bytes;
    /* late_bytes is frames of a stream after its stream_end. */
    uint64_t late_bytes;
    /* undecoded_bytes is what could not be framed, a frame cut short by the
     * end included (but for DATA, whose bytes have an owner as they pass). */
    uint64_t undecoded_bytes;
    /* frames counts by type. */
    struct h2dec_count frames[H2DEC_TYPES];
};

/* ---- What is reported ------------------------------------------------ */

/* struct h2dec_frame is a frame header that made sense. */
struct h2dec_frame {
    /* side is who sent it. */
    enum h2dec_side side;
    /* type as sent; may be one that is not in enum h2dec_type. */
    uint8_t type;
    uint8_t flags;
    uint32_t stream_id;
    /* length of the payload. */
    uint32_t length;
    /* offset of the frame's first byte. */
    uint64_t offset;
    /* first_byte_us is when that byte was fed. */
    uint64_t first_byte_us;
};

/* struct h2dec_window is a flow-control window, of a stream or a connection,
 * as far as a bystander can know it; the fields are private. */
struct h2dec_window {
    /* delta plus the initial window is the window. */
    int64_t delta;
    /* stalled_us is when the sender used it up, reopened_us when it was
     * opened again. */
    uint64_t stalled_us;
    uint64_t reopened_us;
    /* n_changes counts the changes of the initial window it has seen. */
    uint32_t n_changes;
    uint8_t is_stalled;
    uint8_t is_reopened;
    /* is_broken is 1 after a fault: what it is worth is unknown then. */
    uint8_t is_broken;
};

/* struct h2dec_stream is a stream that has carried HEADERS or was promised. */
struct h2dec_stream {
    uint32_t id;
    /* ended[side] is 1 once that side has sent END_STREAM. */
    uint8_t ended[2];
    /* blocks[side] counts header blocks, 1xx ones apart; it stays at 255. */
    uint8_t blocks[2];
    /* promised is 1 for a stream that PUSH_PROMISE opened. */
    uint8_t promised;
    /* refused is 1 once a GOAWAY has excluded the stream (section 6.8). */
    uint8_t refused;
    /* opened_us is when the first byte of its first frame passed. */
    uint64_t opened_us;
    /* headers_us[side] is when that side's first header block, 1xx ones
     * apart, was complete; H2DEC_NEVER before.  Of a promised stream
     * the client's is the promise. */
    uint64_t headers_us[2];
    /* first_data_us[side] is when the first byte of that side's first DATA
     * frame that is not empty passed; H2DEC_NEVER before. */
    uint64_t first_data_us[2];
    /* ledger[side] is what that side sent on it. */
    struct h2dec_ledger ledger[2];
    /* user is the caller's, NULL at first. */
    void *user;
    /* private: whether it counts as open, see struct h2dec_concurrency. */
    uint8_t counted;
    /* private: window[side] is what that side may send on it. */
    struct h2dec_window window[2];
    /* private: the streams of a connection in order, and of a bucket. */
    struct h2dec_stream *prev;
    struct h2dec_stream *next;
    struct h2dec_stream *chain;
};

/* struct h2dec_field is one header field, decoded; not NUL-terminated. */
struct h2dec_field {
    const char *name;
    const char *value;
    uint32_t name_len;
    uint32_t value_len;
};

/* enum h2dec_block says what a header block is. */
enum h2dec_block {
    H2DEC_BLOCK_REQUEST,
    H2DEC_BLOCK_RESPONSE,
    H2DEC_BLOCK_INFORMATIONAL, /* 1xx */
    H2DEC_BLOCK_TRAILERS,
    H2DEC_BLOCK_PROMISE
};

/* struct h2dec_headers is one header block, complete. */
struct h2dec_headers {
    enum h2dec_side side;
    enum h2dec_block block;
    /* stream_id is the stream the fields are about: of a promise, the
     * promised one. */
    uint32_t stream_id;
    /* end_stream is 1 when the block's HEADERS frame had END_STREAM. */
    uint8_t end_stream;
    /* known is 0 when the fields could not be decoded: there are none then,
     * and their absence means nothing. */
    uint8_t known;
    /* fields in the order sent, n_fields of them. */
    const struct h2dec_field *fields;
    size_t n_fields;
    /* n_omitted counts the fields that were decoded but not kept. */
    uint64_t n_omitted;
    /* list_bytes is the length of all names and values. */
    uint64_t list_bytes;
    /* block_bytes is the length of the block as sent. */
    uint64_t block_bytes;
    /* mark is for the caller to note what it has found out about the fields:
     * when the same ones come again, it may find it there.  0 at first; NULL:
     * they are not remembered. */
    uint32_t *mark;
};

/* struct h2dec_setting is one parameter of a SETTINGS frame. */
struct h2dec_setting {
    uint16_t id;
    uint32_t value;
};

/* struct h2dec_settings is one SETTINGS frame. */
struct h2dec_settings {
    enum h2dec_side side;
    uint8_t ack;
    const struct h2dec_setting *entries;
    size_t n_entries;
    /* n_omitted counts the parameters beyond H2DEC_SETTINGS_MAX. */
    size_t n_omitted;
};

/* struct h2dec_goaway is one GOAWAY frame. */
struct h2dec_goaway {
    enum h2dec_side side;
    uint32_t last_stream_id;
    uint32_t code;
    /* debug holds the first debug_len bytes of the debug data, of
     * debug_total. */
    const uint8_t *debug;
    size_t debug_len;
    size_t debug_total;
};

/* struct h2dec_ping is one PING frame. */
struct h2dec_ping {
    enum h2dec_side side;
    uint8_t ack;
    /* opaque is what an ACK repeats. */
    uint8_t opaque[H2DEC_PING_LEN];
};

/* enum h2dec_window_kind says what a window is the limit of. */
enum h2dec_window_kind { H2DEC_WINDOW_STREAM, H2DEC_WINDOW_CONNECTION };

/* struct h2dec_stall is a time during which a sender could not send.  That it
 * wanted to is not on the wire: whoever listens has to judge by |resumed|, by
 * the time from reopened_us to ended_us, and by what had been sent before. */
struct h2dec_stall {
    /* side is the sender. */
    enum h2dec_side side;
    enum h2dec_window_kind window;
    /* reopened is 1 when the window was opened again, at reopened_us. */
    uint8_t reopened;
    /* resumed is 1 when the side sent again, which ended it; otherwise the
     * stream or the connection ended. */
    uint8_t resumed;
    /* started_us is when the window was used up. */
    uint64_t started_us;
    uint64_t reopened_us;
    uint64_t ended_us;
};

/* struct h2dec_concurrency counts the streams that one side has opened, the
 * promised ones once their response has begun (RFC 9113, section 5.1.2). */
struct h2dec_concurrency {
    /* open is how many there are, peak how many there were at most. */
    uint32_t open;
    uint32_t peak;
    /* limit is the other side's SETTINGS_MAX_CONCURRENT_STREAMS, sent last;
     * has_limit is 0 while it has sent none. */
    uint32_t limit;
    uint8_t has_limit;
};

/* enum h2dec_end says how a stream ended. */
enum h2dec_end {
    H2DEC_END_COMPLETE,  /* END_STREAM from both sides */
    H2DEC_END_RESET,     /* RST_STREAM */
    H2DEC_END_REFUSED,   /* above the last_stream_id of a GOAWAY */
    H2DEC_END_CONNECTION /* the connection ended */
};

/* struct h2dec_ending is the end of a stream. */
struct h2dec_ending {
    enum h2dec_end end;
    /* side and code of the RST_STREAM, for H2DEC_END_RESET. */
    enum h2dec_side side;
    uint32_t code;
    /* refused is 1 when a GOAWAY had excluded the stream. */
    uint8_t refused;
};

/* enum h2dec_fault_code is what a peer did wrong. */
enum h2dec_fault_code {
    /* A header block that HPACK cannot decode (RFC 7541, section 2.1..6.3);
     * header fields of that direction are unknown from here. */
    H2DEC_FAULT_HPACK,
    /* The direction cannot be framed from |offset| on. */
    H2DEC_FAULT_FRAMING_LOST,
    /* A header block is interrupted, or continued where none is open. */
    H2DEC_FAULT_CONTINUATION,
    /* Padding as long as the payload or longer. */
    H2DEC_FAULT_PADDING,
    /* |value| bytes, above |limit| or not the size of the type. */
    H2DEC_FAULT_FRAME_SIZE,
    /* A frame on a stream it must not be on. */
    H2DEC_FAULT_STREAM_ID,
    /* A window increment of 0, or an initial window above 2^31-1. */
    H2DEC_FAULT_FLOW_CONTROL,
    /* A DATA frame of |value| bytes where the window has |limit| left; once
     * for each window. */
    H2DEC_FAULT_WINDOW_EXCEEDED,
    /* A window made |value|, above |limit|; once for each window.  Of a
     * SETTINGS frame it is found with the stream's next frame. */
    H2DEC_FAULT_WINDOW_OVERFLOW,
    /* A parameter |value| that SETTINGS does not allow. */
    H2DEC_FAULT_SETTINGS,
    /* The first frame of a side is not SETTINGS. */
    H2DEC_FAULT_FIRST_FRAME,
    /* DATA or HEADERS after the side's END_STREAM, on a stream that the other
     * side has not ended. */
    H2DEC_FAULT_AFTER_END,
    /* Not a fault, but likely to be refused: a header list of |value| bytes,
     * H2DEC_FIELD_OVERHEAD for each field included, where the other side has
     * announced |limit|. */
    H2DEC_FAULT_HEADER_LIST,
    /* A stream opened although a GOAWAY had excluded it; |limit| is the
     * GOAWAY's last stream. */
    H2DEC_FAULT_AFTER_GOAWAY,
    /* Not a fault of a peer: an HPACK table above H2DEC_TABLE_SIZE_MAX was
     * announced (|value|) and is followed only up to |limit|. */
    H2DEC_FAULT_TABLE_LIMIT
};

/* struct h2dec_fault is one fault, reported where it happened. */
struct h2dec_fault {
    enum h2dec_fault_code code;
    /* side is the one at fault. */
    enum h2dec_side side;
    uint32_t stream_id;
    /* type and offset of the frame at fault. */
    uint8_t type;
    uint64_t offset;
    /* value and limit, where the code has figures. */
    uint64_t value;
    uint64_t limit;
    /* last_good is the frame before it; last_good_valid is 0 where there is
     * none. */
    uint8_t last_good_valid;
    struct h2dec_frame last_good;
    /* reason is a static sentence without full stop, never NULL. */
    const char *reason;
};

/* struct h2dec_callbacks is who listens.  Each pointer may be NULL.  Each
 * function returns 0, or non-zero to stop the connection for good
 * (H2DEC_ERR_CALLBACK). */
struct h2dec_callbacks {
    /* frame: of DATA when its header has passed, of other types when the
     * whole frame has; before anything else that comes of the frame.
     * |stream| is NULL when it is on no open stream. */
    int (*frame)(const struct h2dec_frame *frame, struct h2dec_stream *stream,
                 void *user);
    /* stream_open: the first frame of a stream. */
    int (*stream_open)(struct h2dec_stream *stream, void *user);
    /* headers: a header block, complete; |stream| is NULL for a block on a
     * stream that has ended or that cannot be. */
    int (*headers)(const struct h2dec_headers *headers,
                   struct h2dec_stream *stream, void *user);
    /* data: a piece of DATA payload, |frame| telling which frame it is in.
     * A frame comes in any number of pieces. */
    int (*data)(const struct h2dec_frame *frame, struct h2dec_stream *stream,
                const uint8_t *data, size_t len, void *user);
    /* end_stream: |side| has sent END_STREAM, and all before it. */
    int (*end_stream)(struct h2dec_stream *stream, enum h2dec_side side,
                      void *user);
    /* stream_end: the stream is over; it is freed on return.  The return
     * value is ignored. */
    void (*stream_end)(struct h2dec_stream *stream,
                       const struct h2dec_ending *ending, void *user);
    int (*settings)(const struct h2dec_settings *settings, void *user);
    int (*goaway)(const struct h2dec_goaway *goaway, void *user);
    int (*ping)(const struct h2dec_ping *ping, void *user);
    /* stall: a stall is over.  |stream| is the one it is about; of the
     * connection's window the one that sends again (NULL when it has ended),
     * or one that ends while the window is empty, or at last, as the
     * connection ends, NULL.  The return value is ignored at such an end. */
    int (*stall)(const struct h2dec_stall *stall, struct h2dec_stream *stream,
                 void *user);
    int (*fault)(const struct h2dec_fault *fault, void *user);
};

/* ---- The connection -------------------------------------------------- */

/* struct h2dec_conn is one connection, both directions. */
struct h2dec_conn;

/*
 * h2dec_conn_new makes a connection that begins with the client's preface and
 * sets |*conn|.  |callbacks| must outlive it.  Returns 0 or H2DEC_ERR_NOMEM.
 */
int h2dec_conn_new(struct h2dec_conn **conn,
                   const struct h2dec_callbacks *callbacks, void *user);

/* h2dec_conn_free frees |conn|; NULL is fine.  Calls nobody back: see
 * h2dec_conn_close. */
void h2dec_conn_free(struct h2dec_conn *conn);

/* h2dec_conn_join says, before any byte of the client is fed, that the
 * beginning of the connection was missed: there is no preface, and HPACK
 * fields that refer to what came before are unknown. */
void h2dec_conn_join(struct h2dec_conn *conn);

/* struct h2dec_upgrade is how an HTTP/1.1 connection became HTTP/2 (RFC 7540,
 * section 3.2). */
struct h2dec_upgrade {
    /* settings is the payload of HTTP2-Settings, decoded: settings_len bytes
     * that count as the client's first SETTINGS, already acknowledged. */
    const uint8_t *settings;
    size_t settings_len;
    /* offset[side] is how many bytes of that direction came before. */
    uint64_t offset[2];
    /* opened_us is when the upgraded request began. */
    uint64_t opened_us;
};

/* h2dec_conn_upgrade says, before any byte is fed, that the connection was
 * upgraded: stream 1 is open, and the client has sent its request.  Returns 0
 * or the fatal error. */
int h2dec_conn_upgrade(struct h2dec_conn *conn,
                       const struct h2dec_upgrade *upgrade);

/* h2dec_conn_feed takes the next |len| bytes that |side| sent.  All of them
 * are accounted for, whatever it returns: 0, or the fatal error.  No bytes at
 * all tell the time, for what h2dec_conn_close finds unfinished. */
int h2dec_conn_feed(struct h2dec_conn *conn, enum h2dec_side side,
                    const uint8_t *data, size_t len, uint64_t now_us);

/* h2dec_conn_abandon gives up framing |side|: what it has sent of an
 * unfinished frame and all it will send is undecoded. */
void h2dec_conn_abandon(struct h2dec_conn *conn, enum h2dec_side side);

/* h2dec_conn_finish says that |side| sends nothing more. */
void h2dec_conn_finish(struct h2dec_conn *conn, enum h2dec_side side);

/* h2dec_conn_close ends the connection: both sides are finished, and each
 * stream still open ends with H2DEC_END_CONNECTION, in the order they were
 * opened.  Works after a fatal error too. */
void h2dec_conn_close(struct h2dec_conn *conn);

/* h2dec_conn_books returns the books of what |side| sent. */
const struct h2dec_books *h2dec_conn_books(const struct h2dec_conn *conn,
                                           enum h2dec_side side);

/* h2dec_conn_is_lost returns 1 once |side| can no longer be framed. */
int h2dec_conn_is_lost(const struct h2dec_conn *conn, enum h2dec_side side);

/* h2dec_conn_concurrency returns the count of streams that |side| has
 * opened.  In stream_open it has the new stream, in stream_end no longer. */
const struct h2dec_concurrency *
h2dec_conn_concurrency(const struct h2dec_conn *conn, enum h2dec_side side);

/* h2dec_conn_streams returns the number of open streams. */
size_t h2dec_conn_streams(const struct h2dec_conn *conn);

/* h2dec_frame_plausible returns 1 when the 9 bytes at |header| can be the
 * first frame header that |side| sends: a known type, no longer than any peer
 * may send unasked, on a stream where that type may be. */
int h2dec_frame_plausible(const uint8_t *header, enum h2dec_side side);

#ifdef __cplusplus
}
#endif

#endif
