/* SPDX-License-Identifier: MIT */
/* Owns what a tap does with the reports of h1dec: exchanges become calls, start
 * lines the pseudo-header fields that HTTP/2 would have, faults notices. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "event.h"
#include "tap_conn.h"

/* PSEUDO_MAX is how many fields a start line becomes. */
#define PSEUDO_MAX 3

/* struct fields is a head in the form that call_fields.c reads. */
struct fields {
    struct h2dec_field list[PSEUDO_MAX + H1DEC_FIELDS_MAX];
    size_t n;
    /* status is the text of the status code. */
    char status[12];
};

static int
on_exchange_open(struct h1dec_exchange *exchange, void *user)
{
    struct call *call =
        call_new(user, exchange->id, CALL_H1_1, exchange->opened_us);

    exchange->user = call;
    return call == NULL;
}

/* ---- Upgrade --------------------------------------------------------- */

static const struct h1dec_field *
find(const struct h1dec_head *head, const char *name)
{
    for (size_t i = 0; i < head->n_fields; i++) {
        if (head->fields[i].name_len == strlen(name) &&
            memcmp(head->fields[i].name, name, strlen(name)) == 0) {
            return &head->fields[i];
        }
    }
    return NULL;
}

/* Six bits of base64url (RFC 4648, section 5), or -1. */
static int
sextet(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *at = c == '\0' ? NULL : strchr(digits, c);

    return at == NULL ? -1 : (int)(at - digits);
}

/* Keeps what a request offers, for the case that the server takes it. */
static void
keep_settings(struct tap *tap, const struct h1dec_head *head)
{
    const struct h1dec_field *field = find(head, "http2-settings");
    uint32_t bits = 0;
    unsigned n_bits = 0;

    tap->settings_len = 0;
    for (uint32_t i = 0; field != NULL && i < field->value_len; i++) {
        int value = sextet(field->value[i]);

        if (value < 0 || tap->settings_len == sizeof(tap->settings)) {
            break;
        }
        bits = bits << 6 | (uint32_t)value;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            tap->settings[tap->settings_len++] = (uint8_t)(bits >> n_bits);
        }
    }
}

/* Whether |head| is the answer that makes the connection HTTP/2. */
static int
is_h2c(const struct h1dec_head *head)
{
    const struct h1dec_field *field = find(head, "upgrade");

    return head->side == H1DEC_SERVER && head->status == 101 &&
           head->switches && field != NULL &&
           grpcframe_list_has(field->value, field->value_len, "h2c", 3);
}

static void
tell_upgrade(struct tap *tap)
{
    struct notice notice;

    notice_init(&notice, NOTICE_H2C_UPGRADE, SIDE_CLIENT, 1);
    notice.has_from = 0;
    notice_detail(&notice,
                  "the connection was upgraded to HTTP/2: stream 1 is this "
                  "HTTP/1.1 request, and %u bytes of HTTP2-Settings apply",
                  tap->settings_len);
    notice_number(&notice, "settings_bytes", tap->settings_len);
    tap_notice(tap, &notice);
}

/* ---- Heads ----------------------------------------------------------- */

static void
put(struct fields *fields, const char *name, const char *value, size_t len)
{
    struct h2dec_field *field = &fields->list[fields->n];

    field->name = name;
    field->name_len = (uint32_t)strlen(name);
    field->value = value;
    field->value_len = (uint32_t)len;
    fields->n++;
}

static void
put_request_line(struct fields *fields, const struct h1dec_head *head)
{
    put(fields, ":method", head->method, head->method_len);
    put(fields, ":path", head->target, head->target_len);
    for (size_t i = 0; i < head->n_fields; i++) {
        const struct h1dec_field *field = &head->fields[i];

        if (field->name_len == 4 && memcmp(field->name, "host", 4) == 0) {
            put(fields, ":authority", field->value, field->value_len);
            break;
        }
    }
}

static void
put_fields(struct fields *fields, const struct h1dec_field *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct h2dec_field *field = &fields->list[fields->n];

        field->name = from[i].name;
        field->name_len = from[i].name_len;
        field->value = from[i].value;
        field->value_len = from[i].value_len;
        fields->n++;
    }
}

static enum h2dec_block
block_of(const struct h1dec_head *head)
{
    if (head->side == H1DEC_CLIENT) {
        return H2DEC_BLOCK_REQUEST;
    }
    return head->status < 200 && !head->switches
               ? H2DEC_BLOCK_INFORMATIONAL
               : H2DEC_BLOCK_RESPONSE;
}

/* The `headers` event shows the lines as sent, not what they became. */
static void
write_headers(struct tap *tap, const struct h1dec_head *head,
              const struct h1dec_exchange *exchange,
              const struct fields *fields, struct h2dec_headers *headers)
{
    char line[CALL_VALUE_MAX];
    size_t n_pseudo = fields->n - head->n_fields;

    if (!tap_wants(tap, EVENT_HEADERS)) {
        return;
    }
    tap_start_line(tap, head, line, sizeof(line));
    headers->fields = fields->list + n_pseudo;
    headers->n_fields = head->n_fields;
    event_headers(tap, headers, line, exchange->passed_us[head->side]);
}

/* A response that nobody asked for: servers send 4xx and 5xx so, before they
 * hang up; any other belongs to a request, and both sides are out of step.
 * What a client asked for that cannot be read is not known. */
static void
tell_unasked(struct tap *tap, const struct h1dec_head *head,
             const struct h1dec_exchange *exchange)
{
    static const char reason[] = "a response without a request";
    struct notice notice;

    if (head->side != H1DEC_SERVER || exchange->begun[H1DEC_CLIENT] ||
        head->status < 200 || head->status >= 400 ||
        tap_is_lost(tap, SIDE_CLIENT)) {
        return;
    }
    notice_init(&notice, NOTICE_H1_DESYNC, SIDE_SERVER, exchange->id);
    notice_detail(&notice, "%s: HTTP status %u", reason, head->status);
    notice_number(&notice, "offset",
                  h1dec_conn_books(tap->h1, H1DEC_SERVER)->bytes);
    notice_text(&notice, "reason", reason, sizeof(reason) - 1);
    tap_notice(tap, &notice);
}

static int
on_head(const struct h1dec_head *head, struct h1dec_exchange *exchange,
        void *user)
{
    struct tap *tap = user;
    struct call *call = exchange->user;
    struct fields fields;
    struct h2dec_headers headers = {
        .side = (enum h2dec_side)head->side,
        .block = block_of(head),
        .stream_id = (uint32_t)exchange->id,
        .end_stream = head->length == H1DEC_LENGTH_NONE &&
                      (head->side == H1DEC_CLIENT || head->status >= 200),
        .known = 1,
        .n_omitted = head->n_omitted,
        .list_bytes = head->list_bytes,
        .block_bytes = head->head_bytes,
    };

    fields.n = 0; /* the list is large, and needs no zeros */
    if (head->side == H1DEC_CLIENT) {
        put_request_line(&fields, head);
    } else {
        snprintf(fields.status, sizeof(fields.status), "%u", head->status);
        put(&fields, ":status", fields.status, strlen(fields.status));
    }
    put_fields(&fields, head->fields, head->n_fields);
    write_headers(tap, head, exchange, &fields, &headers);
    headers.fields = fields.list;
    headers.n_fields = fields.n;
    if (head->side == H1DEC_CLIENT) {
        call->protocol = head->minor == 0 ? CALL_H1_0 : CALL_H1_1;
        keep_settings(tap, head);
    }
    if (is_h2c(head)) {
        tap->is_upgraded = 1;
        return 0; /* the response is still to come, on stream 1 */
    }
    call_headers(call, &headers, exchange->passed_us[head->side]);
    tell_unasked(tap, head, exchange);
    return 0;
}

static int
on_trailers(const struct h1dec_trailers *trailers,
            struct h1dec_exchange *exchange, void *user)
{
    struct tap *tap = user;
    uint64_t passed_us = exchange->passed_us[trailers->side];
    struct fields fields;
    struct h2dec_headers headers = {
        .side = (enum h2dec_side)trailers->side,
        .block = H2DEC_BLOCK_TRAILERS,
        .stream_id = (uint32_t)exchange->id,
        .end_stream = 1,
        .known = 1,
        .fields = fields.list,
        .n_fields = trailers->n_fields,
        .n_omitted = trailers->n_omitted,
        .list_bytes = trailers->list_bytes,
        .block_bytes = trailers->bytes,
    };

    fields.n = 0;
    put_fields(&fields, trailers->fields, trailers->n_fields);
    event_headers(tap, &headers, NULL, passed_us);
    call_headers(exchange->user, &headers, passed_us);
    return 0;
}

/* HTTP/2 that began before its time, and of which too much is gone. */
static void
tell_lost(struct tap *tap)
{
    struct notice notice;

    notice_init(&notice, NOTICE_TAP_LIMIT, SIDE_CLIENT, 0);
    notice.has_from = 0;
    notice_detail(&notice, "the client sent more HTTP/2 than is kept before "
                           "the upgrade was accepted; this direction is "
                           "undecoded");
    notice_number(&notice, "offset",
                  h1dec_conn_books(tap->h1, H1DEC_CLIENT)->bytes);
    notice_number(&notice, "limit", H1DEC_PENDING_MAX);
    tap_notice(tap, &notice);
}

/* ---- Bodies and ends ------------------------------------------------- */

static int
on_body(struct h1dec_exchange *exchange, enum h1dec_side side,
        const uint8_t *data, size_t len, uint64_t chunk, void *user)
{
    struct call *call = exchange->user;

    (void)user;
    call_body_feed(&call->flow[side], chunk, data, len,
                   exchange->passed_us[side]);
    return 0;
}

static int
on_message_end(struct h1dec_exchange *exchange, enum h1dec_side side,
               void *user)
{
    struct tap *tap = user;

    if (tap->is_upgraded && side == H1DEC_SERVER) {
        return 0;
    }
    call_end_side(exchange->user, (enum side)side, exchange->ended_us[side]);
    return 0;
}

static void
take_ledger(struct h2dec_ledger *to, const struct h1dec_ledger *from)
{
    to->frames = from->chunks;
    to->framing_bytes = from->framing_bytes;
    to->header_block_bytes = from->header_block_bytes;
    to->header_list_bytes = from->header_list_bytes;
    to->body_bytes = from->body_bytes;
}

static void
on_exchange_end(struct h1dec_exchange *exchange, enum h1dec_end end,
                void *user)
{
    struct h2dec_ending ending = {.end = end == H1DEC_END_CONNECTION
                                             ? H2DEC_END_CONNECTION
                                             : H2DEC_END_COMPLETE};
    struct tap *tap = user;
    struct call *call = exchange->user;

    if (call == NULL) {
        return;
    }
    take_ledger(&call->ledger[SIDE_CLIENT], &exchange->ledger[H1DEC_CLIENT]);
    take_ledger(&call->ledger[SIDE_SERVER], &exchange->ledger[H1DEC_SERVER]);
    if (end == H1DEC_END_SWITCHED && tap->is_upgraded) {
        tell_upgrade(tap);
        if (tap_upgrade(tap, call) == 0) {
            return;
        }
    }
    tap_end_call(tap, call, &ending);
}

/* What the client sent before it knew the answer is the next protocol's. */
static int
on_handed(const uint8_t *data, size_t len, void *user)
{
    struct tap *tap = user;
    struct tap_dir *dir = &tap->dir[SIDE_CLIENT];

    dir->mode = tap->is_upgraded && tap->h2 != NULL ? TAP_H2 : TAP_OPAQUE;
    if (len > 0) {
        tap_feed(tap, SIDE_CLIENT, data, len);
    } else if (dir->mode == TAP_H2) {
        tell_lost(tap);
        h2dec_conn_abandon(tap->h2, H2DEC_CLIENT);
    }
    return 0;
}

/* ---- Faults ---------------------------------------------------------- */

static enum notice_code
code_of(enum h1dec_fault_code fault)
{
    /* No default: the compiler names a fault that is forgotten here. */
    switch (fault) {
    case H1DEC_FAULT_PARSE:
        return NOTICE_H1_PARSE_ERROR;
    case H1DEC_FAULT_DESYNC:
        return NOTICE_H1_DESYNC;
    case H1DEC_FAULT_CLOSED_EARLY:
        return NOTICE_CLOSED_EARLY;
    case H1DEC_FAULT_HEAD_LIMIT:
    case H1DEC_FAULT_PENDING_LIMIT:
        return NOTICE_TAP_LIMIT;
    }
    return NOTICE_TAP_FAILED;
}

static void
describe_closed(struct notice *notice, const struct h1dec_fault *fault)
{
    if (fault->has_declared) {
        notice_detail(notice,
                      "the connection ended inside a body: %" PRIu64
                      " bytes declared, %" PRIu64 " received",
                      fault->declared, fault->received);
        notice_number(notice, "declared", fault->declared);
    } else {
        notice_detail(notice, "%s, %" PRIu64 " bytes received",
                      fault->reason, fault->received);
        notice_text(notice, "declared", NULL, 0);
    }
    notice_number(notice, "received", fault->received);
}

static void
describe_lost(struct notice *notice, const struct h1dec_fault *fault)
{
    notice_detail(notice, "%s, at offset %" PRIu64 "; this direction is "
                  "undecoded from there", fault->reason, fault->offset);
    notice_number(notice, "offset", fault->offset);
    notice_text(notice, "reason", fault->reason, strlen(fault->reason));
}

/* Whether it is one of our own limits, and no fault of a peer. */
static int
is_limit(enum h1dec_fault_code code)
{
    return code == H1DEC_FAULT_HEAD_LIMIT ||
           code == H1DEC_FAULT_PENDING_LIMIT;
}

static void
describe_limit(struct notice *notice, const struct h1dec_fault *fault)
{
    notice->has_from = 0;
    notice_detail(notice, "%s, at offset %" PRIu64, fault->reason,
                  fault->offset);
    notice_number(notice, "offset", fault->offset);
    notice_number(notice, "limit",
                  fault->code == H1DEC_FAULT_HEAD_LIMIT ? H1DEC_HEAD_MAX
                                                        : H1DEC_PENDING_MAX);
}

static int
on_fault(const struct h1dec_fault *fault, void *user)
{
    struct notice notice;

    if (fault->is_answered) {
        return 0; /* the rest of a body that was refused is not missed */
    }
    notice_init(&notice, code_of(fault->code), (enum side)fault->side,
                fault->exchange);
    if (fault->code == H1DEC_FAULT_CLOSED_EARLY) {
        describe_closed(&notice, fault);
    } else if (is_limit(fault->code)) {
        describe_limit(&notice, fault);
    } else {
        describe_lost(&notice, fault);
    }
    tap_notice(user, &notice);
    return 0;
}

const struct h1dec_callbacks tap_h1_callbacks = {
    .exchange_open = on_exchange_open,
    .head = on_head,
    .body = on_body,
    .trailers = on_trailers,
    .message_end = on_message_end,
    .handed = on_handed,
    .exchange_end = on_exchange_end,
    .fault = on_fault,
};
