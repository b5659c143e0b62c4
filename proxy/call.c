/* SPDX-License-Identifier: MIT */
/* Owns the memory of a call: its values, bounded one by one, a call and a
 * connection.  What the values mean is for the other call_*.c. */
#include "call.h"

#include <stdlib.h>
#include <string.h>

#include "tap_conn.h"

static void
flow_init(struct flow *flow, struct call *call, enum side side)
{
    flow->call = call;
    flow->side = side;
    flow->last_part = UINT64_MAX;
}

/* ---- Birth and end --------------------------------------------------- */

static struct call *
call_take(struct call_spares *spares)
{
    return spares->n > 0 ? spares->calls[--spares->n]
                         : malloc(sizeof(struct call));
}

static void
call_give(struct call_spares *spares, struct call *call)
{
#ifdef __SANITIZE_ADDRESS__
    /* What is used after its end is to be seen. */
    (void)spares;
    free(call);
#else
    if (spares->n < CALL_SPARE_MAX) {
        spares->calls[spares->n++] = call;
    } else {
        free(call);
    }
#endif
}

void
call_spares_free(struct call_spares *spares)
{
    while (spares->n > 0) {
        free(spares->calls[--spares->n]);
    }
}

struct call *
call_new(struct tap *tap, uint64_t id, enum call_protocol protocol,
         uint64_t started_us)
{
    struct call *call = call_take(&tap->shared->spares);

    if (call == NULL) {
        return NULL;
    }
    memset(call, 0, offsetof(struct call, text_inline));
    call->tap = tap;
    call->id = id;
    call->protocol = protocol;
    call->http_status = -1;
    call->grpc_status = -1;
    call->early_value = -1;
    call->timeout_us = CALL_NEVER;
    call->started_us = started_us;
    call->request_end_us = CALL_NEVER;
    call->response_headers_us = CALL_NEVER;
    call->first_message_us = CALL_NEVER;
    call->last_message_us = CALL_NEVER;
    call->text = call->text_inline;
    call->text_cap = CALL_TEXT_INLINE;
    flow_init(&call->flow[SIDE_CLIENT], call, SIDE_CLIENT);
    flow_init(&call->flow[SIDE_SERVER], call, SIDE_SERVER);
    return call;
}

void
call_free(struct call *call)
{
    call_body_clear(&call->flow[SIDE_CLIENT]);
    call_body_clear(&call->flow[SIDE_SERVER]);
    if (call->text != call->text_inline) {
        call->tap->text_bytes -= call->text_cap;
        free(call->text);
    }
    call_give(&call->tap->shared->spares, call);
}

/* ---- Values ---------------------------------------------------------- */

/* Makes room for |len| more bytes; 0 when a limit or memory forbids it. */
static int
text_reserve(struct call *call, size_t len)
{
    size_t need = call->text_len + len;
    size_t cap = call->text_cap;
    size_t owned = call->text == call->text_inline ? 0 : call->text_cap;
    char *text;

    if (need <= cap) {
        return 1;
    }
    if (need > CALL_TEXT_MAX) {
        return 0;
    }
    while (cap < need) {
        cap *= 2;
    }
    if (cap > CALL_TEXT_MAX) {
        cap = CALL_TEXT_MAX;
    }
    if (call->tap->text_bytes - owned + cap > TAP_TEXT_MAX) {
        return 0;
    }
    text = realloc(owned ? call->text : NULL, cap);
    if (text == NULL) {
        return 0;
    }
    if (owned == 0) {
        memcpy(text, call->text_inline, call->text_len);
    }
    call->tap->text_bytes += cap - owned;
    call->text = text;
    call->text_cap = cap;
    return 1;
}

void
call_set(struct call *call, struct call_value *value, const char *text,
         size_t len)
{
    if (len > CALL_VALUE_MAX) {
        len = CALL_VALUE_MAX;
        value->cut = 1;
        call->cut_values++;
    }
    if (!text_reserve(call, len)) {
        value->cut = 1;
        call->cut_values++;
        return;
    }
    value->at = (uint32_t)call->text_len;
    value->len = (uint32_t)len;
    value->known = 1;
    if (len > 0) {
        memcpy(call->text + call->text_len, text, len);
    }
    call->text_len += len;
}

void
call_join(struct call *call, struct call_value *value, const char *text,
          size_t len)
{
    char joined[CALL_VALUE_MAX];
    size_t before;
    const char *old = call_text(call, value, &before);

    if (old == NULL) {
        call_set(call, value, text, len);
        return;
    }
    if (before + 2 + len > sizeof(joined)) {
        value->cut = 1;
        call->cut_values++;
        return;
    }
    memcpy(joined, old, before);
    memcpy(joined + before, ", ", 2);
    memcpy(joined + before + 2, text, len);
    call_set(call, value, joined, before + 2 + len);
}

const char *
call_text(const struct call *call, const struct call_value *value, size_t *len)
{
    *len = value->known ? value->len : 0;
    return value->known ? call->text + value->at : NULL;
}

const char *
call_shown(const struct call *call, const struct call_value *value,
           size_t *len)
{
    if (value->known && value->secret) {
        *len = sizeof(TAP_REDACTED) - 1;
        return TAP_REDACTED;
    }
    return call_text(call, value, len);
}

void
call_add_value(struct notice *notice, const char *name,
               const struct flow *flow, enum flow_fact fact)
{
    size_t len;
    const char *text = call_shown(flow->call, &flow->facts[fact], &len);

    notice_text(notice, name, text, len);
}

const char *
call_no_encoding(const struct flow *flow)
{
    const struct call_value *value = &flow->facts[FLOW_GRPC_ENCODING];

    if (flow->codec == GRPCFRAME_CODEC_NONE) {
        return "absent";
    }
    return value->secret ? TAP_REDACTED : "identity";
}
