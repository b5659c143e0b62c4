/* SPDX-License-Identifier: MIT */
/* Owns what gRPC asks of the values of metadata (PROTOCOL-HTTP2.md), whatever
 * their names.  What they say is call_fields.c's. */
#include <string.h>

#include "call.h"
#include "tap_conn.h"

void
call_metadata_tell(struct flow *flow, const struct h2dec_field *field,
                   const char *what)
{
    struct notice notice;
    int len = field->name_len < 100 ? (int)field->name_len : 100;

    if (flow->told_metadata) {
        return;
    }
    flow->told_metadata = 1;
    notice_init(&notice, NOTICE_METADATA_INVALID, flow->side,
                flow->call->id);
    notice_detail(&notice, "the value of %.*s %s", len, field->name, what);
    notice_text(&notice, "name", field->name, field->name_len);
    tap_notice(flow->call->tap, &notice);
}

/* Values under names that end in -bin are base64. */
static int
is_binary(const struct h2dec_field *field)
{
    static const char suffix[] = "-bin";
    size_t n = sizeof(suffix) - 1;

    return field->name_len >= n &&
           memcmp(field->name + field->name_len - n, suffix, n) == 0;
}

/* Whether a byte is below 0x20 or DEL; eight at a time, for it is done with
 * every value: each term sets the high bit of such a byte, the masks leave out
 * bytes that had it set. */
static int
has_control(const char *text, size_t len)
{
    const uint64_t ones = 0x0101010101010101u;
    size_t i = 0;

    for (; len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t bytes;
        uint64_t del;

        memcpy(&bytes, text + i, sizeof(bytes));
        del = bytes ^ ones * 0x7f;
        if ((((bytes - ones * 0x20) & ~bytes) | ((del - ones) & ~del)) &
            ones * 0x80) {
            break; /* there is one: found below */
        }
    }
    for (; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];

        if (byte < 0x20 || byte == 0x7f) {
            return 1;
        }
    }
    return 0;
}

/* MARK_CLEAN is the mark of a block in whose values nothing is wrong. */
#define MARK_CLEAN 1

/* gRPC allows printable ASCII. */
static void
check_value(struct flow *flow, const struct h2dec_field *field)
{
    if (has_control(field->value, field->value_len)) {
        call_metadata_tell(flow, field, "has control bytes");
    } else if (is_binary(field) &&
               !grpcframe_base64_valid(field->value, field->value_len)) {
        call_metadata_tell(flow, field, "is not base64");
    }
}

void
call_metadata_check(struct flow *flow, const struct h2dec_headers *headers)
{
    if (headers->mark != NULL && *headers->mark == MARK_CLEAN) {
        return;
    }
    for (size_t i = 0; i < headers->n_fields; i++) {
        check_value(flow, &headers->fields[i]);
    }
    if (headers->mark != NULL && !flow->told_metadata) {
        *headers->mark = MARK_CLEAN;
    }
}

void
call_metadata_check_field(struct flow *flow, const struct h2dec_field *field,
                          int is_text)
{
    if (!is_text || !is_binary(field)) {
        check_value(flow, field);
    }
}
