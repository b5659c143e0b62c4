/* SPDX-License-Identifier: MIT */
/* Owns the closed list of notices and their severities.  When one is due is
 * decided where the fact is seen; how it is printed is event.c's. */
#include "notice.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum notice_severity severity;
} codes[NOTICE_CODES] = {
    [NOTICE_COMPRESSED_FLAG_WITHOUT_ENCODING] =
        {"compressed_flag_without_encoding", NOTICE_ERROR},
    [NOTICE_ENCODING_NOT_ACCEPTED] = {"encoding_not_accepted", NOTICE_ERROR},
    [NOTICE_REQUEST_ENCODING_REJECTED] = {"request_encoding_rejected",
                                          NOTICE_WARNING},
    [NOTICE_ENCODING_DECLARED_UNUSED] = {"encoding_declared_unused",
                                         NOTICE_INFO},
    [NOTICE_COMPRESSION_INFLATED] = {"compression_inflated", NOTICE_WARNING},
    [NOTICE_COMPRESSED_EMPTY] = {"compressed_empty", NOTICE_WARNING},
    [NOTICE_CODEC_UNAVAILABLE] = {"codec_unavailable", NOTICE_INFO},
    [NOTICE_DECODE_ERROR] = {"decode_error", NOTICE_ERROR},
    [NOTICE_DECODE_LIMIT] = {"decode_limit", NOTICE_WARNING},
    [NOTICE_HTTP_LAYER_COMPRESSION] = {"http_layer_compression",
                                       NOTICE_ERROR},
    [NOTICE_MESSAGE_OVER_4MIB] = {"message_over_4mib", NOTICE_INFO},
    [NOTICE_ENCODING_FORM] = {"encoding_form", NOTICE_WARNING},
    [NOTICE_CONTENT_ENCODING_MISMATCH] = {"content_encoding_mismatch",
                                          NOTICE_ERROR},
    [NOTICE_CONTENT_ENCODING_NOT_ACCEPTED] =
        {"content_encoding_not_accepted", NOTICE_ERROR},
    [NOTICE_VARY_MISSING] = {"vary_missing", NOTICE_WARNING},
    [NOTICE_BODY_INFLATED] = {"body_inflated", NOTICE_WARNING},
    [NOTICE_MISSING_GRPC_STATUS] = {"missing_grpc_status", NOTICE_ERROR},
    [NOTICE_STATUS_IN_HEADERS_WITHOUT_END] =
        {"status_in_headers_without_end", NOTICE_WARNING},
    [NOTICE_STATUS_CONFLICT] = {"status_conflict", NOTICE_ERROR},
    [NOTICE_STATUS_INVALID] = {"status_invalid", NOTICE_ERROR},
    [NOTICE_NON_GRPC_RESPONSE] = {"non_grpc_response", NOTICE_ERROR},
    [NOTICE_CONTENT_TYPE_MISMATCH] = {"content_type_mismatch", NOTICE_ERROR},
    [NOTICE_TRUNCATED_MESSAGE] = {"truncated_message", NOTICE_ERROR},
    [NOTICE_RESERVED_FLAG] = {"reserved_flag", NOTICE_ERROR},
    [NOTICE_ZERO_MESSAGES] = {"zero_messages", NOTICE_INFO},
    [NOTICE_TIMEOUT_INVALID] = {"timeout_invalid", NOTICE_ERROR},
    [NOTICE_DEADLINE_EXCEEDED] = {"deadline_exceeded", NOTICE_WARNING},
    [NOTICE_TE_MISSING] = {"te_missing", NOTICE_WARNING},
    [NOTICE_METADATA_INVALID] = {"metadata_invalid", NOTICE_ERROR},
    [NOTICE_TRAILERS_FRAME_ERROR] = {"trailers_frame_error", NOTICE_ERROR},
    [NOTICE_BASE64_ERROR] = {"base64_error", NOTICE_ERROR},
    [NOTICE_PROTOCOL_MISMATCH] = {"protocol_mismatch", NOTICE_ERROR},
    [NOTICE_FIRST_FRAME_NOT_SETTINGS] = {"first_frame_not_settings",
                                         NOTICE_ERROR},
    [NOTICE_HPACK_ERROR] = {"hpack_error", NOTICE_ERROR},
    [NOTICE_FRAME_SIZE_ERROR] = {"frame_size_error", NOTICE_ERROR},
    [NOTICE_FRAMING_LOST] = {"framing_lost", NOTICE_ERROR},
    [NOTICE_CONTINUATION_ERROR] = {"continuation_error", NOTICE_ERROR},
    [NOTICE_PADDING_ERROR] = {"padding_error", NOTICE_ERROR},
    [NOTICE_STREAM_ID_ERROR] = {"stream_id_error", NOTICE_ERROR},
    [NOTICE_FLOW_CONTROL_ERROR] = {"flow_control_error", NOTICE_ERROR},
    [NOTICE_SETTINGS_ERROR] = {"settings_error", NOTICE_ERROR},
    [NOTICE_DATA_AFTER_END] = {"data_after_end", NOTICE_ERROR},
    [NOTICE_STREAM_OPENED_AFTER_GOAWAY] = {"stream_opened_after_goaway",
                                           NOTICE_WARNING},
    [NOTICE_GOAWAY_ERROR] = {"goaway_error", NOTICE_WARNING},
    [NOTICE_RESET_WITHOUT_STATUS] = {"reset_without_status", NOTICE_WARNING},
    [NOTICE_RESET_STORM] = {"reset_storm", NOTICE_WARNING},
    [NOTICE_PING_STORM] = {"ping_storm", NOTICE_WARNING},
    [NOTICE_PING_UNANSWERED] = {"ping_unanswered", NOTICE_WARNING},
    [NOTICE_STREAM_LIMIT_REACHED] = {"stream_limit_reached", NOTICE_INFO},
    [NOTICE_FLOW_CONTROL_STALL] = {"flow_control_stall", NOTICE_WARNING},
    [NOTICE_HEADER_LIST_OVER_LIMIT] = {"header_list_over_limit",
                                       NOTICE_WARNING},
    [NOTICE_INFORMATIONAL] = {"informational", NOTICE_INFO},
    [NOTICE_CONTENT_LENGTH_MISMATCH] = {"content_length_mismatch",
                                        NOTICE_ERROR},
    [NOTICE_H2C_UPGRADE] = {"h2c_upgrade", NOTICE_INFO},
    [NOTICE_JOINED_MID_CONNECTION] = {"joined_mid_connection", NOTICE_INFO},
    [NOTICE_H1_PARSE_ERROR] = {"h1_parse_error", NOTICE_ERROR},
    [NOTICE_H1_DESYNC] = {"h1_desync", NOTICE_ERROR},
    [NOTICE_CLOSED_EARLY] = {"closed_early", NOTICE_ERROR},
    [NOTICE_TAP_LIMIT] = {"tap_limit", NOTICE_WARNING},
    [NOTICE_TAP_FAILED] = {"tap_failed", NOTICE_WARNING},
};

const char *
notice_code_name(enum notice_code code)
{
    return codes[code].name;
}

enum notice_severity
notice_code_severity(enum notice_code code)
{
    return codes[code].severity;
}

const char *
notice_severity_name(enum notice_severity severity)
{
    static const char *const names[] = {"info", "warning", "error"};

    return names[severity];
}

void
notice_init(struct notice *notice, enum notice_code code, enum side from,
            uint64_t stream)
{
    notice->code = code;
    notice->has_from = 1;
    notice->from = from;
    notice->stream = stream;
    notice->detail[0] = '\0';
    notice->n_fields = 0;
}

void
notice_detail(struct notice *notice, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(notice->detail, sizeof(notice->detail), format, args);
    va_end(args);
}

static struct notice_field *
field_add(struct notice *notice, const char *name)
{
    struct notice_field *field = &notice->fields[notice->n_fields];

    assert(notice->n_fields < NOTICE_FIELDS_MAX);
    memset(field, 0, sizeof(*field));
    field->name = name;
    notice->n_fields++;
    return field;
}

void
notice_number(struct notice *notice, const char *name, uint64_t number)
{
    field_add(notice, name)->number = number;
}

void
notice_bool(struct notice *notice, const char *name, int value)
{
    struct notice_field *field = field_add(notice, name);

    field->kind = NOTICE_BOOL;
    field->number = value != 0;
}

void
notice_text(struct notice *notice, const char *name, const char *text,
            size_t len)
{
    struct notice_field *field = field_add(notice, name);

    field->kind = NOTICE_TEXT;
    field->text = text;
    field->text_len = len;
}
