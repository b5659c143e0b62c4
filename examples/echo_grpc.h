/* SPDX-License-Identifier: MIT */
/*
 * echo_grpc: what gRPC puts between HTTP/2 and the messages.  The 5-byte
 * prefix, the text forms of status and encodings; no sockets, no sessions.
 */
#ifndef ECHO_GRPC_H
#define ECHO_GRPC_H

#include <stdbool.h>

#include "echo_buf.h"
#include "echo_codec.h"

/* Longest message before compression: 64 MiB of payload and its fields. */
#define ECHO_MESSAGE_MAX ((64u << 20) + 1024u)

/* Longest message on the wire: codecs may add a little to random bytes. */
#define ECHO_WIRE_MAX (ECHO_MESSAGE_MAX + (2u << 20))

/* The status codes these programs produce themselves. */
enum echo_status {
    ECHO_STATUS_OK = 0,
    ECHO_STATUS_CANCELLED = 1,
    ECHO_STATUS_UNKNOWN = 2,
    ECHO_STATUS_INVALID_ARGUMENT = 3,
    ECHO_STATUS_DEADLINE_EXCEEDED = 4,
    ECHO_STATUS_PERMISSION_DENIED = 7,
    ECHO_STATUS_RESOURCE_EXHAUSTED = 8,
    ECHO_STATUS_UNIMPLEMENTED = 12,
    ECHO_STATUS_INTERNAL = 13,
    ECHO_STATUS_UNAVAILABLE = 14,
    ECHO_STATUS_UNAUTHENTICATED = 16
};

/*
 * echo_grpc_message_put appends `plain` as a length-prefixed message to `out`.
 * An empty message is never compressed: no codec makes nothing smaller.
 * Returns 0, or -1 when out of memory.
 */
int echo_grpc_message_put(struct echo_buf *out, enum echo_codec codec,
                          const struct echo_buf *plain);

/* What echo_grpc_message_take found. */
struct echo_take {
    enum echo_status status; /* not OK: the stream is broken, and why */
    const char *why;         /* the reason in words, NULL when OK */
    bool done;               /* a message was taken; false: more bytes needed */
};

/*
 * echo_grpc_message_take moves the first message of `in`, decompressed, into
 * `message` (whose old content it replaces).  `codec` is what grpc-encoding
 * named.  `in` keeps what follows the message.
 */
struct echo_take echo_grpc_message_take(struct echo_buf *in,
                                        enum echo_codec codec,
                                        struct echo_buf *message);

/* echo_grpc_text_encode appends the percent-encoded form used in grpc-message;
 * -1 when out of memory. */
int echo_grpc_text_encode(const uint8_t *text, size_t len,
                          struct echo_buf *out);

/* echo_grpc_text_decode is its inverse.  A "%" without two hex digits stays as
 * it is, as the gRPC specification asks. */
int echo_grpc_text_decode(const uint8_t *text, size_t len,
                          struct echo_buf *out);

/* echo_grpc_codecs_parse returns the known codecs of a grpc-accept-encoding
 * value as bits (1 << codec). */
unsigned echo_grpc_codecs_parse(const uint8_t *value, size_t len);

/* echo_grpc_status_from_http maps an HTTP status to what a gRPC client reports
 * when the answer had no grpc-status. */
enum echo_status echo_grpc_status_from_http(int http_status);

/* echo_grpc_status_from_reset does the same for a RST_STREAM error code. */
enum echo_status echo_grpc_status_from_reset(uint32_t error_code);

/* echo_grpc_status_parse reads a grpc-status value; -1 when it is not a
 * decimal number. */
int echo_grpc_status_parse(const uint8_t *value, size_t len);

#endif
