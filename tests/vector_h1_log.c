/* SPDX-License-Identifier: MIT */
/*
 * Owns the callbacks that write the log of vector_h1, and the checks of what
 * must hold for any input.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vector_alloc.h"
#include "vector_h1_log.h"

/* BODY_SHOWN is the longest body that is written out; of longer ones the log
 * has a sum. */
#define BODY_SHOWN 64

static const char marks[] = "><";

/* ---- Writing --------------------------------------------------------- */

static void write_line(struct vector_buf *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
write_line(struct vector_buf *out, const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    vector_buf_text(out, line);
    vector_buf_text(out, "\n");
}

static void
complain(struct vector_h1_log *log, const char *what)
{
    write_line(&log->problem, "%s", what);
}

static void
write_bytes(struct vector_buf *out, const uint8_t *data, size_t len)
{
    char text[8];

    for (size_t i = 0; i < len; i++) {
        if (data[i] < 0x20 || data[i] > 0x7e || data[i] == '\\') {
            snprintf(text, sizeof(text), "\\x%02x", data[i]);
            vector_buf_text(out, text);
        } else {
            vector_buf_add(out, data + i, 1);
        }
    }
}

static uint64_t
sum_of(const struct vector_buf *buf)
{
    uint64_t sum = 14695981039346656037u;

    for (size_t i = 0; i < buf->len; i++) {
        sum = (sum ^ buf->data[i]) * 1099511628211u; /* FNV-1a */
    }
    return sum;
}

static void
flush_body(struct vector_h1_log *log)
{
    struct vector_buf line = { 0 };

    if (log->body.len == 0) {
        return;
    }
    if (log->body.len > BODY_SHOWN) {
        char text[32];

        snprintf(text, sizeof(text), "sum %016" PRIx64, sum_of(&log->body));
        vector_buf_text(&line, text);
    } else {
        write_bytes(&line, log->body.data, log->body.len);
    }
    write_line(&log->text, "%c %" PRIu64 " body chunk=%" PRIu64 " %zu: %s",
               marks[log->body_side], log->body_id, log->body_chunk,
               log->body.len, (const char *)line.data);
    vector_buf_clear(&line);
    log->body.len = 0;
}

static void
write_fields(struct vector_buf *out, const struct h1dec_field *fields,
             size_t n, size_t n_omitted)
{
    for (size_t i = 0; i < n; i++) {
        vector_buf_text(out, "    ");
        write_bytes(out, (const uint8_t *)fields[i].name, fields[i].name_len);
        vector_buf_text(out, ": ");
        write_bytes(out, (const uint8_t *)fields[i].value,
                    fields[i].value_len);
        vector_buf_text(out, "\n");
    }
    if (n_omitted > 0) {
        write_line(out, "    %zu more", n_omitted);
    }
}

static void
check_books(struct vector_h1_log *log)
{
    for (int i = 0; i < 2; i++) {
        const struct h1dec_books *b =
            h1dec_conn_books(log->conn, (enum h1dec_side)i);

        if (b->exchange_bytes + b->connection_bytes + b->undecoded_bytes >
            b->bytes) {
            complain(log, "more is booked than was fed");
        }
    }
}

/* begin is at the start of each callback: 1 when it has to fail. */
static int
begin(struct vector_h1_log *log)
{
    check_books(log);
    log->n_calls++;
    if (log->error != 0) {
        complain(log, "a callback after a fatal error");
    }
    if (log->stop_at > 0 && log->n_calls > log->stop_at) {
        complain(log, "a callback after one has failed");
    }
    return log->stop_at > 0 && log->n_calls == log->stop_at;
}

/* ---- Callbacks ------------------------------------------------------- */

static int
on_open(struct h1dec_exchange *x, void *user)
{
    struct vector_h1_log *log = user;
    int armed = vector_alloc_pause();
    int stops = begin(log);

    log->n_opened++;
    if (log->n_opened - log->n_ended > log->n_open_max) {
        log->n_open_max = log->n_opened - log->n_ended;
    }
    if (x->id != log->n_opened || x->user != NULL) {
        complain(log, "an exchange is not new");
    }
    x->user = log;
    flush_body(log);
    vector_alloc_resume(armed);
    return stops;
}

static void
write_head(struct vector_h1_log *log, const struct h1dec_head *head,
           uint64_t id)
{
    static const char *const lengths[] = { "none", "declared", "chunked",
                                           "close" };
    struct vector_buf start = { 0 };

    if (head->side == H1DEC_CLIENT) {
        write_bytes(&start, (const uint8_t *)head->method, head->method_len);
        vector_buf_text(&start, " ");
        write_bytes(&start, (const uint8_t *)head->target, head->target_len);
    } else {
        char text[16];

        snprintf(text, sizeof(text), "%u", head->status);
        vector_buf_text(&start, text);
    }
    vector_buf_text(&log->text, head->side == H1DEC_CLIENT ? "> " : "< ");
    write_line(&log->text,
               "%" PRIu64 " head %.200s HTTP/%u.%u %s %" PRIu64
               " bytes=%" PRIu64 " list=%" PRIu64 "%s",
               id, (const char *)start.data, head->major, head->minor,
               lengths[head->length], head->declared, head->head_bytes,
               head->list_bytes, head->switches ? " switches" : "");
    write_fields(&log->text, head->fields, head->n_fields, head->n_omitted);
    vector_buf_clear(&start);
}

static int
on_head(const struct h1dec_head *head, struct h1dec_exchange *x, void *user)
{
    struct vector_h1_log *log = user;
    int armed = vector_alloc_pause();
    int stops = begin(log);

    flush_body(log);
    if (x->user != log) {
        complain(log, "a head of an exchange that was not opened");
    }
    if (!log->is_quiet) {
        write_head(log, head, x->id);
    }
    vector_alloc_resume(armed);
    return stops;
}

static int
on_body(struct h1dec_exchange *x, enum h1dec_side side, const uint8_t *data,
        size_t len, uint64_t chunk, void *user)
{
    struct vector_h1_log *log = user;
    int armed = vector_alloc_pause();
    int stops = begin(log);

    if (len == 0) {
        complain(log, "an empty piece of a body");
    }
    if (!log->is_quiet) {
        if (x->id != log->body_id || side != log->body_side ||
            chunk != log->body_chunk) {
            flush_body(log);
        }
        log->body_id = x->id;
        log->body_side = side;
        log->body_chunk = chunk;
        vector_buf_add(&log->body, data, len);
    }
    vector_alloc_resume(armed);
    return stops;
}

static int
on_trailers(const struct h1dec_trailers *trailers, struct h1dec_exchange *x,
            void *user)
{
    struct vector_h1_log *log = user;
    int armed = vector_alloc_pause();
    int stops = begin(log);

    flush_body(log);
    write_line(&log->text,
               "%c %" PRIu64 " trailers bytes=%" PRIu64 " list=%" PRIu64,
               marks[trailers->side], x->id, trailers->bytes,
               trailers->list_bytes);
    write_fields(&log->text, trailers->fields, trailers->n_fields,
                 trailers->n_omitted);
    vector_alloc_resume(armed);
    return stops;
}

static int
on_message_end(struct h1dec_exchange *x, enum h1dec_side side, void *user)
{
    struct vector_h1_log *log = user;
    int armed = vector_alloc_pause();
    int stops = begin(log);

    flush_body(log);
    if (!x->begun[side] || !x->ended[side]) {
        complain(log, "a message ended and is not marked so");
    }
    if (!log->is_quiet) {
        write_line(&log->text, "%c %" PRIu64 " end", marks[side], x->id);
    }
    vector_alloc_resume(armed);
    return stops;
}

static void
write_ledger(struct vector_buf *out, char mark,
             const struct h1dec_ledger *ledger)
{
    write_line(out,
               "    %c framing=%" PRIu64 " head=%" PRIu64 " list=%" PRIu64
               " body=%" PRIu64 " chunks=%" PRIu64,
               mark, ledger->framing_bytes, ledger->header_block_bytes,
               ledger->header_list_bytes, ledger->body_bytes, ledger->chunks);
}

static void
write_end(struct vector_buf *out, const struct h1dec_exchange *x,
          enum h1dec_end end)
{
    static const char *const names[] = { "complete", "switched",
                                         "connection" };

    write_line(out, "= %" PRIu64 " %s since=%" PRIu64, x->id, names[end],
               x->opened_us);
    write_ledger(out, '>', &x->ledger[H1DEC_CLIENT]);
    write_ledger(out, '<', &x->ledger[H1DEC_SERVER]);
}

static void
on_end(struct h1dec_exchange *x, enum h1dec_end end, void *user)
{
    struct vector_h1_log *log = user;
    int armed = vector_alloc_pause();

    check_books(log);
    flush_body(log);
    log->n_ended++;
    for (int i = 0; i < 2; i++) {
        const struct h1dec_ledger *ledger = &x->ledger[i];

        log->ledgers[i] += ledger->framing_bytes +
                           ledger->header_block_bytes + ledger->body_bytes;
    }
    if (end == H1DEC_END_COMPLETE && x->begun[0] && !x->ended[0]) {
        complain(log, "a complete exchange with an incomplete request");
    }
    write_end(&log->ends, x, end);
    if (!log->is_quiet) {
        write_end(&log->text, x, end);
    }
    vector_alloc_resume(armed);
}

static int
on_handed(const uint8_t *data, size_t len, void *user)
{
    struct vector_h1_log *log = user;
    int armed = vector_alloc_pause();
    int stops = begin(log);

    log->unused[H1DEC_CLIENT] += len;
    write_line(&log->text, "handed %zu%s%.*s", len, len > 0 ? ": " : "",
               len < 40 ? (int)len : 40, (const char *)data);
    vector_alloc_resume(armed);
    return stops;
}

static int
on_fault(const struct h1dec_fault *fault, void *user)
{
    static const char *const names[] = { "parse", "desync", "closed_early",
                                         "head_limit", "pending_limit" };
    struct vector_h1_log *log = user;
    int armed = vector_alloc_pause();
    int stops = begin(log);

    flush_body(log);
    log->n_faults[fault->code]++;
    log->last_fault = *fault;
    write_line(&log->text, "%c %" PRIu64 " fault %s at=%" PRIu64 " %s",
               marks[fault->side], fault->exchange, names[fault->code],
               fault->offset, fault->reason);
    if (fault->code == H1DEC_FAULT_CLOSED_EARLY) {
        write_line(&log->text,
                   "    declared=%" PRIu64 "%s received=%" PRIu64 "%s",
                   fault->declared, fault->has_declared ? "" : "?",
                   fault->received, fault->is_answered ? " answered" : "");
    }
    vector_alloc_resume(armed);
    return stops;
}

static const struct h1dec_callbacks callbacks = {
    .exchange_open = on_open,
    .head = on_head,
    .body = on_body,
    .trailers = on_trailers,
    .message_end = on_message_end,
    .handed = on_handed,
    .exchange_end = on_end,
    .fault = on_fault,
};

/* ---- The connection -------------------------------------------------- */

int
vector_h1_log_open(struct vector_h1_log *log)
{
    log->conn = NULL;
    log->error = h1dec_conn_new(&log->conn, &callbacks, log);
    return log->error == 0;
}

void
vector_h1_log_fed(struct vector_h1_log *log, enum h1dec_side side, size_t len,
                  size_t used, int error)
{
    if (log->error != 0 && error != log->error) {
        complain(log, "a fatal error is not sticky");
    }
    log->error = error;
    if (used > len) {
        complain(log, "more was used than was fed");
    }
    if (used < len && !h1dec_conn_is_switched(log->conn)) {
        complain(log, "bytes were left and nothing was handed over");
    }
    log->unused[side] += len - used;
}

static void
close_side(struct vector_h1_log *log, enum h1dec_side side)
{
    const struct h1dec_books *b = h1dec_conn_books(log->conn, side);
    char line[256];

    log->books[side] = *b;
    if (b->bytes !=
        b->exchange_bytes + b->connection_bytes + b->undecoded_bytes) {
        complain(log, "the books do not balance");
    }
    if (b->exchange_bytes != log->ledgers[side]) {
        complain(log, "the ledgers are not the exchange bytes");
    }
    snprintf(line, sizeof(line),
             "%c bytes=%" PRIu64 " exchange=%" PRIu64 " connection=%" PRIu64
             " undecoded=%" PRIu64 " left=%" PRIu64 "%s",
             marks[side], b->bytes, b->exchange_bytes, b->connection_bytes,
             b->undecoded_bytes, log->unused[side],
             h1dec_conn_is_lost(log->conn, side) ? " lost" : "");
    write_line(&log->text, "%s", line);
    write_line(&log->ends, "%s", line);
}

void
vector_h1_log_close(struct vector_h1_log *log)
{
    int armed = vector_alloc_pause();

    flush_body(log);
    close_side(log, H1DEC_CLIENT);
    close_side(log, H1DEC_SERVER);
    if (log->n_opened != log->n_ended) {
        complain(log, "not each exchange has one end");
    }
    vector_alloc_resume(armed);
    h1dec_conn_free(log->conn);
    log->conn = NULL;
}

void
vector_h1_log_clear(struct vector_h1_log *log)
{
    vector_buf_clear(&log->text);
    vector_buf_clear(&log->ends);
    vector_buf_clear(&log->problem);
    vector_buf_clear(&log->body);
}
