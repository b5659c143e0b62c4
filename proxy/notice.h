/* SPDX-License-Identifier: MIT */
/*
 * Notices: facts worth a reader's attention.  The list of codes is closed;
 * docs/events.md says of each what it means and what to do.
 */
#ifndef NOTICE_H
#define NOTICE_H

#include <stddef.h>
#include <stdint.h>

#include "side.h"

/* enum notice_code lists all notices, in the order of the table in notice.c. */
enum notice_code {
    /* Compression and negotiation. */
    NOTICE_COMPRESSED_FLAG_WITHOUT_ENCODING,
    NOTICE_ENCODING_NOT_ACCEPTED,
    NOTICE_REQUEST_ENCODING_REJECTED,
    NOTICE_ENCODING_DECLARED_UNUSED,
    NOTICE_COMPRESSION_INFLATED,
    NOTICE_COMPRESSED_EMPTY,
    NOTICE_CODEC_UNAVAILABLE,
    NOTICE_DECODE_ERROR,
    NOTICE_DECODE_LIMIT,
    NOTICE_HTTP_LAYER_COMPRESSION,
    NOTICE_MESSAGE_OVER_4MIB,
    NOTICE_ENCODING_FORM,
    NOTICE_CONTENT_ENCODING_MISMATCH,
    NOTICE_CONTENT_ENCODING_NOT_ACCEPTED,
    NOTICE_VARY_MISSING,
    NOTICE_BODY_INFLATED,
    /* gRPC status and shape. */
    NOTICE_MISSING_GRPC_STATUS,
    NOTICE_STATUS_IN_HEADERS_WITHOUT_END,
    NOTICE_STATUS_CONFLICT,
    NOTICE_STATUS_INVALID,
    NOTICE_NON_GRPC_RESPONSE,
    NOTICE_CONTENT_TYPE_MISMATCH,
    NOTICE_TRUNCATED_MESSAGE,
    NOTICE_RESERVED_FLAG,
    NOTICE_ZERO_MESSAGES,
    NOTICE_TIMEOUT_INVALID,
    NOTICE_DEADLINE_EXCEEDED,
    NOTICE_TE_MISSING,
    NOTICE_METADATA_INVALID,
    NOTICE_TRAILERS_FRAME_ERROR,
    NOTICE_BASE64_ERROR,
    /* HTTP/2. */
    NOTICE_PROTOCOL_MISMATCH,
    NOTICE_FIRST_FRAME_NOT_SETTINGS,
    NOTICE_HPACK_ERROR,
    NOTICE_FRAME_SIZE_ERROR,
    NOTICE_FRAMING_LOST,
    NOTICE_CONTINUATION_ERROR,
    NOTICE_PADDING_ERROR,
    NOTICE_STREAM_ID_ERROR,
    NOTICE_FLOW_CONTROL_ERROR,
    NOTICE_SETTINGS_ERROR,
    NOTICE_DATA_AFTER_END,
    NOTICE_STREAM_OPENED_AFTER_GOAWAY,
    NOTICE_GOAWAY_ERROR,
    NOTICE_RESET_WITHOUT_STATUS,
    NOTICE_RESET_STORM,
    NOTICE_PING_STORM,
    NOTICE_PING_UNANSWERED,
    NOTICE_STREAM_LIMIT_REACHED,
    NOTICE_FLOW_CONTROL_STALL,
    NOTICE_HEADER_LIST_OVER_LIMIT,
    NOTICE_INFORMATIONAL,
    NOTICE_CONTENT_LENGTH_MISMATCH,
    NOTICE_H2C_UPGRADE,
    NOTICE_JOINED_MID_CONNECTION,
    /* HTTP/1.x. */
    NOTICE_H1_PARSE_ERROR,
    NOTICE_H1_DESYNC,
    NOTICE_CLOSED_EARLY,
    /* The tap itself. */
    NOTICE_TAP_LIMIT,
    NOTICE_TAP_FAILED,
    NOTICE_CODES
};

/* enum notice_severity is how bad it is. */
enum notice_severity { NOTICE_INFO, NOTICE_WARNING, NOTICE_ERROR };

/* NOTICE_PER_CODE_MAX bounds the notices of one code on one connection, so
 * that a peer that breaks the protocol with each frame does not drown the
 * rest. */
#define NOTICE_PER_CODE_MAX 100

/* NOTICE_FIELDS_MAX bounds the figures of a notice. */
#define NOTICE_FIELDS_MAX 8

/* NOTICE_DETAIL_MAX holds any sentence, texts of peers in it cut short. */
#define NOTICE_DETAIL_MAX 512

/* enum notice_kind is what a figure is. */
enum notice_kind { NOTICE_NUMBER, NOTICE_BOOL, NOTICE_TEXT };

/* struct notice_field is one figure. */
struct notice_field {
    const char *name;
    enum notice_kind kind;
    /* number is the value, or 0 or 1 of a BOOL. */
    uint64_t number;
    /* text is the value of a TEXT, text_len bytes; NULL: null. */
    const char *text;
    size_t text_len;
};

/* struct notice is a notice being put together, valid until it is written;
 * texts in it are the caller's. */
struct notice {
    enum notice_code code;
    /* has_from is 0 when no side is at fault. */
    uint8_t has_from;
    enum side from;
    /* stream is 0 when it is about the connection. */
    uint64_t stream;
    char detail[NOTICE_DETAIL_MAX];
    struct notice_field fields[NOTICE_FIELDS_MAX];
    unsigned n_fields;
};

/* notice_code_name returns the value of `code`. */
const char *notice_code_name(enum notice_code code);

/* notice_code_severity returns the severity of |code|. */
enum notice_severity notice_code_severity(enum notice_code code);

/* notice_severity_name returns "info", "warning" or "error". */
const char *notice_severity_name(enum notice_severity severity);

/* notice_init starts a notice about |stream| (0: none) of side |from|. */
void notice_init(struct notice *notice, enum notice_code code, enum side from,
                 uint64_t stream);

/* notice_detail sets the sentence. */
void notice_detail(struct notice *notice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* notice_number, notice_bool and notice_text add a figure; a NULL |text| is
 * null. */
void notice_number(struct notice *notice, const char *name, uint64_t number);
void notice_bool(struct notice *notice, const char *name, int value);
void notice_text(struct notice *notice, const char *name, const char *text,
                 size_t len);

#endif
