/* SPDX-License-Identifier: MIT */
/*
 * Owns the messages of a direction: what of the parser's events is booked
 * where, reported, and which exchange it belongs to.  What lies between
 * messages is conn.c's, when exchanges end is exchange.c's.
 */
#include "conn.h"

#include <string.h>

/* ---- What the parser asks and tells ---------------------------------- */

static int
sink_target(void *user, const char *at, size_t len)
{
    struct direction *dir = user;

    return h1dec_store_target(&dir->store, at, len);
}

static int
sink_name(void *user, const char *at, size_t len)
{
    struct direction *dir = user;

    return h1dec_store_name(&dir->store, at, len);
}

static int
sink_value(void *user, const char *at, size_t len)
{
    struct direction *dir = user;

    return h1dec_store_value(&dir->store, at, len);
}

static int
is_switch(const struct h1dec_exchange *exchange, unsigned status)
{
    return exchange != NULL &&
           ((status == 101 && exchange->is_upgrade) ||
            (status / 100 == 2 && exchange->is_connect));
}

/* RFC 9112, section 6.3. */
static int
sink_bodiless(void *user, unsigned status)
{
    const struct direction *dir = user;
    const struct h1dec_exchange *x = h1dec_exchange_waiting(dir->conn);

    return status / 100 == 1 || status == 204 || status == 304 ||
           (x != NULL && x->is_head) || is_switch(x, status);
}

const struct parser_sink h1dec_message_sink = {
    .target = sink_target,
    .name = sink_name,
    .value = sink_value,
    .bodiless = sink_bodiless,
};

void
h1dec_message_begin(struct direction *dir)
{
    size_t used;

    dir->state = DIR_MESSAGE;
    h1dec_store_reset(&dir->store);
    h1dec_parser_begin(dir->parser, dir->side);
    if (dir->side == H1DEC_SERVER) {
        h1dec_parser_feed(dir->parser, (const uint8_t *)RESPONSE_BEGIN,
                          sizeof(RESPONSE_BEGIN) - 1, &used);
    }
}

/* ---- Heads ----------------------------------------------------------- */

static void
fill_head(const struct direction *dir, struct h1dec_head *head)
{
    const struct parser_head *parsed = h1dec_parser_head(dir->parser);
    const struct field_store *store = &dir->store;

    memset(head, 0, sizeof(*head));
    head->side = dir->side;
    head->major = parsed->major;
    head->minor = parsed->minor;
    if (parsed->method != NULL) {
        head->method = parsed->method;
        head->method_len = strlen(parsed->method);
        head->target = store->text;
        head->target_len = store->target_len;
    }
    head->status = parsed->status;
    head->fields = store->fields;
    head->n_fields = store->n_fields;
    head->n_omitted = store->n_omitted;
    head->length = parsed->length;
    head->declared = parsed->declared;
    head->head_bytes = dir->unbooked;
    head->list_bytes = store->list_bytes;
}

/* A response that no request waits for gets an exchange of its own. */
static int
find_owner(struct h1dec_conn *conn, const struct direction *dir,
           struct h1dec_exchange **exchange, int *is_new)
{
    *exchange = NULL;
    if (dir->side == H1DEC_SERVER) {
        *exchange = h1dec_exchange_waiting(conn);
    }
    *is_new = *exchange == NULL;
    return *is_new ? h1dec_exchange_new(conn, dir->start_us, exchange) : 0;
}

/* book_lines books |n| bytes of head or trailers. */
static void
book_lines(struct direction *dir, struct h1dec_exchange *exchange, uint64_t n)
{
    struct h1dec_ledger *ledger = &exchange->ledger[dir->side];

    ledger->header_block_bytes += n;
    ledger->header_list_bytes += dir->store.list_bytes;
    dir->books.exchange_bytes += n;
    dir->unbooked -= n;
}

static void
book_framing(struct direction *dir, uint64_t n)
{
    dir->exchange->ledger[dir->side].framing_bytes += n;
    dir->books.exchange_bytes += n;
    dir->unbooked -= n;
}

/* note_head keeps what the rest of the exchange depends on. */
static void
note_head(struct direction *dir, struct h1dec_exchange *exchange,
          const struct h1dec_head *head)
{
    const struct parser_head *parsed = h1dec_parser_head(dir->parser);

    dir->exchange = exchange;
    exchange->passed_us[dir->side] = dir->now_us;
    dir->switches = head->switches;
    dir->is_informational =
        dir->side == H1DEC_SERVER && head->status / 100 == 1 &&
        !head->switches;
    book_lines(dir, exchange, head->head_bytes);
    if (dir->is_informational) {
        return;
    }
    exchange->begun[dir->side] = 1;
    exchange->length[dir->side] = head->length;
    exchange->declared[dir->side] = head->declared;
    if (dir->side == H1DEC_CLIENT) {
        exchange->is_head = parsed->is_head;
        exchange->is_connect = parsed->is_connect;
        exchange->is_upgrade = parsed->has_upgrade;
    }
}

/* Whether the head that |dir| has just had answers a request for another
 * protocol, and does not take it. */
static int
is_refusal(const struct h1dec_conn *conn, const struct direction *dir)
{
    return dir->side == H1DEC_SERVER && !dir->is_informational &&
           !dir->switches && conn->held.exchange != NULL &&
           conn->held.exchange == dir->exchange;
}

static int
on_head(struct h1dec_conn *conn, struct direction *dir)
{
    const struct h1dec_callbacks *cb = conn->callbacks;
    struct h1dec_exchange *exchange;
    struct h1dec_head head;
    int is_new;
    int rv = h1dec_store_finish(&dir->store);

    if (rv == 0) {
        rv = find_owner(conn, dir, &exchange, &is_new);
    }
    if (rv != 0) {
        return rv;
    }
    fill_head(dir, &head);
    head.switches = dir->side == H1DEC_SERVER &&
                    is_switch(exchange, head.status);
    note_head(dir, exchange, &head);
    if (is_new && cb->exchange_open != NULL &&
        cb->exchange_open(exchange, conn->user) != 0) {
        return H1DEC_ERR_CALLBACK;
    }
    if (cb->head != NULL && cb->head(&head, exchange, conn->user) != 0) {
        return H1DEC_ERR_CALLBACK;
    }
    h1dec_store_reset(&dir->store);
    return is_refusal(conn, dir) ? h1dec_held_release(conn) : 0;
}

/* ---- Bodies ---------------------------------------------------------- */

static int
on_body(struct h1dec_conn *conn, struct direction *dir, const uint8_t *data,
        size_t len)
{
    const struct h1dec_callbacks *cb = conn->callbacks;
    struct h1dec_ledger *ledger = &dir->exchange->ledger[dir->side];

    dir->exchange->passed_us[dir->side] = dir->now_us;
    ledger->body_bytes += len;
    dir->books.exchange_bytes += len;
    dir->unbooked -= len;
    if (cb->body != NULL && cb->body(dir->exchange, dir->side, data, len,
                                     ledger->chunks, conn->user) != 0) {
        return H1DEC_ERR_CALLBACK;
    }
    return 0;
}

static int
on_chunk(struct direction *dir)
{
    book_framing(dir, dir->unbooked);
    if (h1dec_parser_chunk_len(dir->parser) > 0) {
        dir->exchange->ledger[dir->side].chunks++;
    }
    return 0;
}

/* What waits is the trailers and the line end behind them. */
static int
end_chunked(struct h1dec_conn *conn, struct direction *dir)
{
    const struct h1dec_callbacks *cb = conn->callbacks;
    struct field_store *store = &dir->store;
    struct h1dec_trailers trailers;
    int rv = h1dec_store_finish(store);

    if (rv != 0) {
        return rv;
    }
    book_framing(dir, h1dec_parser_blank_len(dir->parser));
    trailers.side = dir->side;
    trailers.fields = store->fields;
    trailers.n_fields = store->n_fields;
    trailers.n_omitted = store->n_omitted;
    trailers.list_bytes = store->list_bytes;
    trailers.bytes = dir->unbooked;
    if (trailers.bytes == 0) {
        return 0;
    }
    book_lines(dir, dir->exchange, trailers.bytes);
    if (cb->trailers != NULL &&
        cb->trailers(&trailers, dir->exchange, conn->user) != 0) {
        return H1DEC_ERR_CALLBACK;
    }
    return 0;
}

/* ---- Ends ------------------------------------------------------------ */

/* The exchange goes on; without a request there is nothing it could go on
 * to, and a later response must not be taken for its own. */
static int
end_informational(struct h1dec_conn *conn, struct direction *dir)
{
    struct h1dec_exchange *exchange = dir->exchange;

    dir->exchange = NULL;
    if (!exchange->begun[H1DEC_CLIENT]) {
        h1dec_exchange_end(conn, exchange, H1DEC_END_COMPLETE);
    }
    return 0;
}

/* Whether what |dir| sends next depends on the answer to its message. */
static int
asks_to_switch(const struct direction *dir,
               const struct h1dec_exchange *exchange)
{
    return dir->side == H1DEC_CLIENT && !exchange->begun[H1DEC_SERVER] &&
           (exchange->is_connect || exchange->is_upgrade);
}

static int
end_message(struct h1dec_conn *conn, struct direction *dir)
{
    const struct h1dec_callbacks *cb = conn->callbacks;
    struct h1dec_exchange *exchange = dir->exchange;

    dir->state = DIR_IDLE;
    if (dir->is_informational) {
        return end_informational(conn, dir);
    }
    exchange->ended[dir->side] = 1;
    exchange->ended_us[dir->side] = dir->now_us;
    if (cb->message_end != NULL &&
        cb->message_end(exchange, dir->side, conn->user) != 0) {
        return H1DEC_ERR_CALLBACK;
    }
    dir->exchange = NULL;
    if (dir->switches) {
        return h1dec_held_hand_over(conn, exchange);
    }
    if (asks_to_switch(dir, exchange)) {
        h1dec_held_begin(conn, exchange);
    }
    h1dec_exchange_settle(conn, exchange);
    if (dir->side == H1DEC_SERVER) {
        dir->has_answered = 1;
        if (!h1dec_parser_head(dir->parser)->keeps_alive) {
            dir->is_closing = 1;
            h1dec_exchange_settle_all(conn);
        }
    }
    return 0;
}

static int
on_message(struct h1dec_conn *conn, struct direction *dir)
{
    int rv = 0;

    dir->exchange->passed_us[dir->side] = dir->now_us;
    if (dir->exchange->length[dir->side] == H1DEC_LENGTH_CHUNKED) {
        rv = end_chunked(conn, dir);
    }
    return rv ? rv : end_message(conn, dir);
}

static const char *
cut_reason(const struct direction *dir)
{
    if (dir->exchange == NULL) {
        return "the connection ended inside a head";
    }
    if (dir->exchange->length[dir->side] == H1DEC_LENGTH_CHUNKED) {
        return "the connection ended inside a chunked body";
    }
    return "the connection ended inside a body";
}

int
h1dec_message_cut(struct h1dec_conn *conn, struct direction *dir)
{
    const struct h1dec_exchange *exchange = dir->exchange;
    struct h1dec_fault fault = {
        .code = H1DEC_FAULT_CLOSED_EARLY,
        .offset = dir->books.bytes,
        .received = dir->unbooked,
        .reason = cut_reason(dir),
    };

    if (exchange != NULL) {
        enum h1dec_length length = exchange->length[dir->side];

        if (length == H1DEC_LENGTH_CLOSE) {
            return end_message(conn, dir);
        }
        fault.has_declared = length == H1DEC_LENGTH_DECLARED;
        fault.declared = exchange->declared[dir->side];
        fault.received = exchange->ledger[dir->side].body_bytes;
        fault.is_answered =
            dir->side == H1DEC_CLIENT && exchange->begun[H1DEC_SERVER];
    }
    return h1dec_conn_fault(conn, dir, fault);
}

/* ---- Feeding --------------------------------------------------------- */

static int
on_fault(struct h1dec_conn *conn, struct direction *dir)
{
    const struct parser_fault *why = h1dec_parser_fault(dir->parser);
    struct h1dec_fault fault = {
        .code = H1DEC_FAULT_PARSE,
        .offset = dir->start + why->at,
        .reason = why->reason,
    };

    return h1dec_conn_lose(conn, dir, fault);
}

static int
on_event(struct h1dec_conn *conn, struct direction *dir,
         enum parser_event event, const uint8_t *data, size_t len)
{
    switch (event) {
    case PARSER_MORE:
        break;
    case PARSER_HEAD:
        return on_head(conn, dir);
    case PARSER_BODY:
        return on_body(conn, dir, data, len);
    case PARSER_CHUNK:
        return on_chunk(dir);
    case PARSER_CHUNK_END:
        book_framing(dir, dir->unbooked);
        break;
    case PARSER_MESSAGE:
        return on_message(conn, dir);
    case PARSER_FAULT:
        return on_fault(conn, dir);
    case PARSER_FAIL:
        return h1dec_parser_error(dir->parser);
    }
    return 0;
}

static int
over_limit(struct h1dec_conn *conn, struct direction *dir)
{
    struct h1dec_fault fault = {
        .code = H1DEC_FAULT_HEAD_LIMIT,
        .offset = dir->books.bytes,
        .received = dir->unbooked,
        .reason = dir->exchange == NULL
                      ? "a head is longer than the limit"
                      : "a chunk-size line or trailers are longer than the "
                        "limit",
    };

    return h1dec_conn_lose(conn, dir, fault);
}

int
h1dec_message_feed(struct h1dec_conn *conn, struct direction *dir,
                   const uint8_t *data, size_t len, size_t *used)
{
    enum parser_event event;

    /* Only what is not body waits for an owner. */
    if (len > 0 && !h1dec_parser_is_body(dir->parser)) {
        size_t room = (size_t)(H1DEC_HEAD_MAX - dir->unbooked);

        if (room == 0) {
            return over_limit(conn, dir);
        }
        len = len < room ? len : room;
    }
    event = h1dec_parser_feed(dir->parser, data, len, used);
    h1dec_conn_take(dir, *used);
    return on_event(conn, dir, event, data, *used);
}
