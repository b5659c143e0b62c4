/* SPDX-License-Identifier: MIT */
/*
 * The connection as the files of this library share it: two directions, the
 * exchanges, and who is called back.
 *
 * A byte's way: conn.c takes it from a feed and owns what lies between
 * messages; the bytes of one go by message.c through the parser, which gives
 * the pieces of heads and trailers to store.c.  Bytes are booked when the
 * part they belong to is complete, those of bodies as they pass.
 */
#ifndef CONN_H
#define CONN_H

#include "parser.h"
#include "store.h"

/* RESPONSE_BEGIN is how every response begins; conn.c has seen it before the
 * parser does. */
#define RESPONSE_BEGIN "HTTP/"

/* enum dir_state is where a direction stands between two bytes. */
enum dir_state {
    DIR_IDLE,    /* between messages */
    DIR_VERSION, /* in the first bytes of a response: HTTP/ */
    DIR_MESSAGE, /* in a message, see the parser */
    DIR_HELD,    /* held until an answer decides, see held.c */
    DIR_HANDED,  /* handed over to another protocol */
    DIR_ENDED,   /* after its last byte */
    DIR_LOST     /* not to be parsed any more */
};

/* struct direction is what one side sends. */
struct direction {
    enum h1dec_side side;
    enum dir_state state;
    /* conn is whom the direction belongs to, for the parser's sink. */
    struct h1dec_conn *conn;
    /* was_asked is 1 when a request waited as the response under way began;
     * has_answered is 1 after the first final response. */
    uint8_t was_asked;
    uint8_t has_answered;
    /* is_closing is 1 after the last message that the side has announced. */
    uint8_t is_closing;
    /* version_len is how much of HTTP/ has passed. */
    uint8_t version_len;
    /* is_informational is 1 in a 1xx response, switches in one that hands
     * the connection over. */
    uint8_t is_informational;
    uint8_t switches;
    /* now_us is when the bytes being fed passed. */
    uint64_t now_us;
    /* start and start_us are of the first byte of the message. */
    uint64_t start;
    uint64_t start_us;
    /* unbooked is how many bytes of the message wait for an owner. */
    uint64_t unbooked;
    /* exchange owns the message under way; NULL until its head is
     * complete. */
    struct h1dec_exchange *exchange;
    struct h1dec_parser *parser;
    struct field_store store;
    struct h1dec_books books;
};

/* struct held_mark says when bytes passed. */
struct held_mark {
    uint64_t at_us;
    /* end is that of the bytes, counted from the first that are held. */
    size_t end;
};

/* struct held is what the client sent while it is DIR_HELD. */
struct held {
    /* exchange is the one whose answer decides; NULL: nothing is held. */
    struct h1dec_exchange *exchange;
    /* data holds len bytes of cap. */
    uint8_t *data;
    size_t len;
    size_t cap;
    /* is_over is 1 when they were too many, and none is kept. */
    uint8_t is_over;
    /* is_finished is 1 when the side has ended behind them. */
    uint8_t is_finished;
    /* marks are n_marks times in order, of marks_cap. */
    struct held_mark *marks;
    size_t n_marks;
    size_t marks_cap;
};

struct h1dec_conn {
    struct direction dir[2];
    struct held held;
    /* first and last are the ends of the list of open exchanges, in opening
     * order; n_exchanges of them. */
    struct h1dec_exchange *first;
    struct h1dec_exchange *last;
    size_t n_exchanges;
    /* last_id is that of the newest exchange. */
    uint64_t last_id;
    const struct h1dec_callbacks *callbacks;
    void *user;
    /* error is sticky. */
    int error;
    /* is_switched is 1 once the connection has been handed over. */
    uint8_t is_switched;
};

/* ---- conn.c ---- */

/* h1dec_conn_fault fills in the side and the exchange of |fault| and reports
 * it.  Returns 0 or H1DEC_ERR_CALLBACK. */
int h1dec_conn_fault(struct h1dec_conn *conn, const struct direction *dir,
                     struct h1dec_fault fault);

/* h1dec_conn_lose reports |fault|, and what |dir| has not booked and all that
 * follows becomes undecoded. */
int h1dec_conn_lose(struct h1dec_conn *conn, struct direction *dir,
                    struct h1dec_fault fault);

/* h1dec_conn_hand_over ends |exchange| as switched, and decoding. */
void h1dec_conn_hand_over(struct h1dec_conn *conn,
                          struct h1dec_exchange *exchange);

/* h1dec_conn_stop ends the decoding of |dir|, which is in |state| then; what
 * it has not booked is undecoded. */
void h1dec_conn_stop(struct direction *dir, enum dir_state state);

/* h1dec_conn_feed_side feeds |dir| until all is used or it is handed over.
 * Returns how much was used; errors are in conn->error. */
size_t h1dec_conn_feed_side(struct h1dec_conn *conn, struct direction *dir,
                            const uint8_t *data, size_t len, uint64_t now_us);

/* h1dec_conn_take counts |n| bytes that wait for an owner. */
void h1dec_conn_take(struct direction *dir, size_t n);

/* ---- held.c ---- */

/* h1dec_held_begin holds what the client sends until |exchange| is answered. */
void h1dec_held_begin(struct h1dec_conn *conn, struct h1dec_exchange *exchange);

/* h1dec_held_take holds |len| bytes.  Returns 0 or H1DEC_ERR_NOMEM. */
int h1dec_held_take(struct h1dec_conn *conn, const uint8_t *data, size_t len,
                    uint64_t now_us);

/* h1dec_held_release parses what is held: it was refused.  Returns 0 or the
 * fatal error. */
int h1dec_held_release(struct h1dec_conn *conn);

/* h1dec_held_hand_over hands the connection over, and what is held to the
 * caller.  Returns 0 or H1DEC_ERR_CALLBACK. */
int h1dec_held_hand_over(struct h1dec_conn *conn,
                         struct h1dec_exchange *exchange);

/* h1dec_held_drop leaves what is held undecoded: no answer will come. */
void h1dec_held_drop(struct h1dec_conn *conn);

/* h1dec_held_clear frees what is held. */
void h1dec_held_clear(struct held *held);

/* ---- message.c ---- */

/* h1dec_message_sink puts the pieces into the store of a struct direction. */
extern const struct parser_sink h1dec_message_sink;

/* h1dec_message_begin starts a message. */
void h1dec_message_begin(struct direction *dir);

/* h1dec_message_feed goes on by one step and sets |*used|. */
int h1dec_message_feed(struct h1dec_conn *conn, struct direction *dir,
                       const uint8_t *data, size_t len, size_t *used);

/* h1dec_message_cut ends the message under way at the end of |dir|: complete
 * if that tells its length, a fault otherwise. */
int h1dec_message_cut(struct h1dec_conn *conn, struct direction *dir);

/* ---- exchange.c ---- */

/* h1dec_exchange_new adds an exchange.  Returns 0, H1DEC_ERR_NOMEM or
 * H1DEC_ERR_EXCHANGES. */
int h1dec_exchange_new(struct h1dec_conn *conn, uint64_t now_us,
                       struct h1dec_exchange **exchange);

/* h1dec_exchange_waiting returns the exchange that the next response belongs
 * to, or NULL. */
struct h1dec_exchange *h1dec_exchange_waiting(const struct h1dec_conn *conn);

/* h1dec_exchange_end ends |exchange|: called back, then freed. */
void h1dec_exchange_end(struct h1dec_conn *conn,
                        struct h1dec_exchange *exchange, enum h1dec_end end);

/* h1dec_exchange_settle ends |exchange| if nothing more can come of it. */
void h1dec_exchange_settle(struct h1dec_conn *conn,
                           struct h1dec_exchange *exchange);

/* h1dec_exchange_settle_all does so with each, after a side is over. */
void h1dec_exchange_settle_all(struct h1dec_conn *conn);

/* h1dec_exchange_clear frees all and calls nobody back. */
void h1dec_exchange_clear(struct h1dec_conn *conn);

#endif
