/* SPDX-License-Identifier: MIT */
/*
 * h1dec: both directions of one HTTP/1.x connection, as a bystander sees them.
 *
 * Model.  A connection is fed the bytes that each side sent, cut anywhere, and
 * reports exchanges: a request and its final response, matched in order
 * (RFC 9112, section 9.3.2).  Pipelined requests open exchanges ahead of their
 * responses; 1xx responses belong to the exchange they precede.  The library
 * keeps the books: each byte fed has exactly one owner.
 *
 * When an exchange hands the connection over (101, or 2xx to CONNECT), the
 * direction takes no more: see h1dec_conn_feed.  What the client sends between
 * its request for that and the answer is nobody's until the answer is there.
 *
 * Ownership.  Memory given to a callback is valid until it returns; memory
 * given to a function stays the caller's.  A struct h1dec_exchange lives from
 * exchange_open to the return of exchange_end.
 *
 * Units.  Sizes and offsets are bytes, offsets count from the first byte of a
 * direction.  Time is microseconds on any clock the caller likes.
 *
 * The library does no I/O, reads no clock and holds no mutable globals.
 * Nothing in it depends on how the input was cut.
 */
#ifndef H1DEC_H
#define H1DEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits ---------------------------------------------------------- */

/* H1DEC_EXCHANGES_MAX bounds the requests that wait for a response; clients
 * that pipeline keep tens, load generators thousands. */
#define H1DEC_EXCHANGES_MAX 16384

/* H1DEC_HEAD_MAX bounds a head as sent, from the start line to the blank line,
 * and likewise a chunk-size line with its extensions, and a trailer section.
 * Servers refuse heads of more than 8 to 80 KiB.  http_parser itself gives up
 * at 80 KiB, at a byte that depends on the cuts; it counts the last byte of a
 * head twice, so this is the most that it never refuses.  A longer one ends
 * decoding of the direction. */
#define H1DEC_HEAD_MAX ((80u << 10) - 1)

/* H1DEC_FIELDS_MAX bounds the fields kept of one head; the rest is counted. */
#define H1DEC_FIELDS_MAX 1024

/* H1DEC_PENDING_MAX bounds the client's bytes that are held because they come
 * behind a CONNECT or an Upgrade that is not answered yet: what a client sends
 * ahead is a TLS hello or a few requests.  Of more none is kept, and if the
 * answer is a refusal the rest of the direction is undecoded. */
#define H1DEC_PENDING_MAX (64u << 10)

/* H1DEC_MARKS_MAX bounds the times kept of those bytes, one for each feed: 16
 * KiB.  Of more, the last one stands for all that follow. */
#define H1DEC_MARKS_MAX 1024

/* ---- Errors ---------------------------------------------------------- */

/* enum h1dec_error is what functions return; 0 is success.  A fatal error is
 * sticky: from there on bytes are only counted, as undecoded. */
enum h1dec_error {
    H1DEC_OK = 0,
    /* Fatal: a callback returned non-zero. */
    H1DEC_ERR_CALLBACK = -101,
    /* Fatal: out of memory. */
    H1DEC_ERR_NOMEM = -102,
    /* Fatal: more than H1DEC_EXCHANGES_MAX requests wait. */
    H1DEC_ERR_EXCHANGES = -103
};

/* h1dec_strerror returns a short English text for |error|. */
const char *h1dec_strerror(int error);

/* ---- What is reported ------------------------------------------------ */

/* enum h1dec_side is the sender of bytes; also an index. */
enum h1dec_side { H1DEC_CLIENT = 0, H1DEC_SERVER = 1 };

/*
 * struct h1dec_ledger is what one direction of one exchange has cost; its sum
 * is framing_bytes + header_block_bytes + body_bytes.  A line or a head counts
 * once it is complete, a body as it passes.
 */
struct h1dec_ledger {
    /* framing_bytes is chunk-size lines with their CRLFs, the CRLF behind
     * each chunk, and the one that ends a chunked body. */
    uint64_t framing_bytes;
    /* header_block_bytes is start lines, header lines, blank lines and
     * trailer lines, those of 1xx responses included. */
    uint64_t header_block_bytes;
    /* header_list_bytes is names and values of all fields; not a part of the
     * sum. */
    uint64_t header_list_bytes;
    /* body_bytes is the body without chunk overhead. */
    uint64_t body_bytes;
    /* chunks counts chunks but the last one, which is empty. */
    uint64_t chunks;
};

/*
 * struct h1dec_books is one direction of the connection:
 * bytes = exchange_bytes + connection_bytes + undecoded_bytes.
 */
struct h1dec_books {
    /* bytes is all that was fed and used, but for what the callback handed
     * gave back. */
    uint64_t bytes;
    /* exchange_bytes is the sum of the ledgers of all exchanges. */
    uint64_t exchange_bytes;
    /* connection_bytes is empty lines between messages (RFC 9112, section
     * 2.2), before the first and after the last one as well. */
    uint64_t connection_bytes;
    /* undecoded_bytes is what could not be parsed: what follows a fault, and
     * a head, a chunk-size line or trailers that the fault or the end has cut
     * short. */
    uint64_t undecoded_bytes;
};

/*
 * struct h1dec_field is one field.  Not NUL-terminated.  A value that was
 * folded over lines (RFC 9112, section 5.2) has lost its line ends and kept
 * the blanks behind them.
 */
struct h1dec_field {
    /* name is in lower case. */
    const char *name;
    /* value has no blanks around it. */
    const char *value;
    uint32_t name_len;
    uint32_t value_len;
};

/* enum h1dec_length says how the length of a body is told (RFC 9112,
 * section 6.3). */
enum h1dec_length {
    H1DEC_LENGTH_NONE,      /* there is no body: HEAD, 1xx, 204, 304, ... */
    H1DEC_LENGTH_DECLARED,  /* Content-Length */
    H1DEC_LENGTH_CHUNKED,   /* Transfer-Encoding: chunked */
    H1DEC_LENGTH_CLOSE      /* until the server closes */
};

/* struct h1dec_head is a start line and its fields. */
struct h1dec_head {
    enum h1dec_side side;
    /* major and minor of the version; a request line without one is 0.9. */
    uint8_t major;
    uint8_t minor;
    /* Of a request: method and target as sent. */
    const char *method;
    size_t method_len;
    const char *target;
    size_t target_len;
    /* Of a response: the status, 100 to 999. */
    unsigned status;
    /* fields in the order sent, n_fields of them, n_omitted more. */
    const struct h1dec_field *fields;
    size_t n_fields;
    size_t n_omitted;
    /* length and, when DECLARED, how many bytes; 0 otherwise. */
    enum h1dec_length length;
    uint64_t declared;
    /* head_bytes is the head as sent, blank line included; list_bytes is
     * names and values. */
    uint64_t head_bytes;
    uint64_t list_bytes;
    /* switches is 1 when the connection is handed over after this head:
     * 101, or 2xx to CONNECT. */
    uint8_t switches;
};

/* struct h1dec_trailers is the trailer section of a chunked body; one without
 * lines is not reported. */
struct h1dec_trailers {
    enum h1dec_side side;
    /* fields in the order sent, n_fields of them, n_omitted more. */
    const struct h1dec_field *fields;
    size_t n_fields;
    size_t n_omitted;
    /* list_bytes is names and values; bytes is the lines as sent, without
     * the blank one behind them. */
    uint64_t list_bytes;
    uint64_t bytes;
};

/* struct h1dec_exchange is a request and its response.  begun[H1DEC_CLIENT] is
 * 0 for good when the response is one that nobody asked for. */
struct h1dec_exchange {
    /* id counts the exchanges of the connection from 1. */
    uint64_t id;
    /* ended[side] is 1 once that side's message is complete; of the server,
     * its final response. */
    uint8_t ended[2];
    /* begun[side] is 1 once that side's final head was complete. */
    uint8_t begun[2];
    /* opened_us is when the first byte of it passed, ended_us[side] when the
     * last one of that side's message did. */
    uint64_t opened_us;
    uint64_t ended_us[2];
    /* passed_us[side] is when the bytes passed that are being reported: for
     * those that were held, before the answer that let them go. */
    uint64_t passed_us[2];
    /* ledger[side] is what it has cost so far. */
    struct h1dec_ledger ledger[2];
    /* length and declared are as in the final head of each side. */
    enum h1dec_length length[2];
    uint64_t declared[2];
    /* user is the caller's, NULL at first. */
    void *user;
    /* Private: the exchange opened after this one, and what its request was:
     * HEAD, CONNECT, any with an Upgrade field. */
    struct h1dec_exchange *next;
    uint8_t is_head;
    uint8_t is_connect;
    uint8_t is_upgrade;
};

/*
 * enum h1dec_end says how an exchange ended.  CONNECTION comes as soon as it
 * is known that what is missing will never come: a side was finished, or
 * lost, or has announced its last message (Connection: close), and the other
 * side's message is complete or can not be completed either.  So requests
 * that no response can follow do not pile up.
 */
enum h1dec_end {
    H1DEC_END_COMPLETE,  /* both messages are complete */
    H1DEC_END_SWITCHED,  /* the connection was handed over */
    H1DEC_END_CONNECTION /* the connection ended, or decoding did */
};

/* enum h1dec_fault_code is what a peer did wrong. */
enum h1dec_fault_code {
    /* The bytes are not HTTP/1.x; the rest of the direction is undecoded.
     * |offset| is the byte that is wrong. */
    H1DEC_FAULT_PARSE,
    /* Bytes of the server after a complete response, when no request waited
     * for one and they do not begin with HTTP/, or when it was to be the last
     * one (Connection: close).  The rest of the direction is undecoded.
     * |offset| is the first of these bytes. */
    H1DEC_FAULT_DESYNC,
    /* The side ended inside a body: |declared| (see has_declared) and
     * |received| body bytes; or inside a head: |received| bytes of it. */
    H1DEC_FAULT_CLOSED_EARLY,
    /* Not a fault of a peer alone: a head, a chunk-size line or trailers
     * above H1DEC_HEAD_MAX.  The rest of the direction is undecoded. */
    H1DEC_FAULT_HEAD_LIMIT,
    /* Likewise: more than H1DEC_PENDING_MAX bytes were held, the first one at
     * |offset|, and the request before them was refused. */
    H1DEC_FAULT_PENDING_LIMIT
};

/* struct h1dec_fault is one fault. */
struct h1dec_fault {
    enum h1dec_fault_code code;
    /* side is the sender of the bytes. */
    enum h1dec_side side;
    /* exchange it happened in, or 0. */
    uint64_t exchange;
    /* offset is where, see the codes. */
    uint64_t offset;
    /* declared is 0 when has_declared is, the length was not told then. */
    uint64_t declared;
    uint64_t received;
    uint8_t has_declared;
    /* is_answered is 1 when the final response to the request that was cut
     * short had begun: a client may stop then, and does when its Expect was
     * refused (RFC 9112, section 9.5). */
    uint8_t is_answered;
    /* reason is a static sentence without full stop, never NULL. */
    const char *reason;
};

/*
 * struct h1dec_callbacks is who listens.  Each pointer may be NULL.  Each
 * function returns 0, or non-zero to stop the connection for good
 * (H1DEC_ERR_CALLBACK).
 */
struct h1dec_callbacks {
    /* exchange_open: the head of a request is complete, or that of a response
     * nobody asked for: a 408 on an idle connection, say.  It has the length,
     * and the head in its ledger.  Called before head. */
    int (*exchange_open)(struct h1dec_exchange *exchange, void *user);
    /* head: a head is complete; those of 1xx responses come before that of
     * the final one.  A 1xx nobody asked for is an exchange of its own. */
    int (*head)(const struct h1dec_head *head,
                struct h1dec_exchange *exchange, void *user);
    /* body: a piece of the body, never empty; |chunk| numbers the chunk from 1
     * (0 when not chunked).  How a body is cut into pieces is the one thing
     * that depends on the input's cuts. */
    int (*body)(struct h1dec_exchange *exchange, enum h1dec_side side,
                const uint8_t *data, size_t len, uint64_t chunk, void *user);
    /* trailers: comes between the last chunk and message_end. */
    int (*trailers)(const struct h1dec_trailers *trailers,
                    struct h1dec_exchange *exchange, void *user);
    /* message_end: |side|'s message is complete; not called for 1xx but the
     * 101 that hands the connection over. */
    int (*message_end)(struct h1dec_exchange *exchange, enum h1dec_side side,
                       void *user);
    /* handed: the connection was handed over, and the client had already sent
     * |len| bytes behind the request, which are now the caller's to count, and
     * come before all that h1dec_conn_feed leaves.  |len| is 0 when they were
     * more than H1DEC_PENDING_MAX: then they are undecoded bytes of this
     * connection.  Comes after exchange_end, and not at all without bytes. */
    int (*handed)(const uint8_t *data, size_t len, void *user);
    /* exchange_end: it is freed on return; the return value is ignored. */
    void (*exchange_end)(struct h1dec_exchange *exchange, enum h1dec_end end,
                         void *user);
    /* fault: comes before the ends it causes. */
    int (*fault)(const struct h1dec_fault *fault, void *user);
};

/* ---- The connection -------------------------------------------------- */

struct h1dec_conn;

/* h1dec_conn_new makes a connection and sets |*conn|.  |callbacks| must
 * outlive it.  Returns 0 or H1DEC_ERR_NOMEM. */
int h1dec_conn_new(struct h1dec_conn **conn,
                   const struct h1dec_callbacks *callbacks, void *user);

/* h1dec_conn_free frees |conn|; NULL is fine.  Calls nobody back. */
void h1dec_conn_free(struct h1dec_conn *conn);

/*
 * h1dec_conn_feed takes bytes that |side| sent and sets |*used|: less than
 * |len| only when the connection has been handed over to another protocol;
 * the rest, and all that follows, is the caller's to count.  The client's
 * direction is handed over when the server's response says so: a message of it
 * that is still under way then ends there, and bytes behind the request that
 * asked for it are held until then, see the callback handed.  If the response
 * says otherwise, they are parsed as the next requests.  Feed the two sides in
 * the order the bytes passed: a response is matched with the requests fed
 * before it.  Returns 0 or the fatal error.
 */
int h1dec_conn_feed(struct h1dec_conn *conn, enum h1dec_side side,
                    const uint8_t *data, size_t len, size_t *used,
                    uint64_t now_us);

/* h1dec_conn_is_switched returns 1 once the connection has been handed
 * over. */
int h1dec_conn_is_switched(const struct h1dec_conn *conn);

/* h1dec_conn_finish says that |side| sends nothing more: the end of a
 * response whose length nothing else tells.  Bytes of it after that are
 * undecoded. */
void h1dec_conn_finish(struct h1dec_conn *conn, enum h1dec_side side);

/* h1dec_conn_abandon says that |side| will not be decoded further, by the
 * caller's choice or because a reset has cut it: no fault is reported, and a
 * response until the close is not taken for complete. */
void h1dec_conn_abandon(struct h1dec_conn *conn, enum h1dec_side side);

/* h1dec_conn_close ends the connection: both sides are finished, and each
 * exchange still open ends with H1DEC_END_CONNECTION, in order.  Works after
 * a fatal error too. */
void h1dec_conn_close(struct h1dec_conn *conn);

/* h1dec_conn_books returns the books of what |side| sent. */
const struct h1dec_books *h1dec_conn_books(const struct h1dec_conn *conn,
                                           enum h1dec_side side);

/* h1dec_conn_is_lost returns 1 once |side| can no longer be parsed. */
int h1dec_conn_is_lost(const struct h1dec_conn *conn, enum h1dec_side side);

#ifdef __cplusplus
}
#endif

#endif
