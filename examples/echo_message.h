/* SPDX-License-Identifier: MIT */
/*
 * echo_message: the two messages of echo.proto and the paths of its methods.
 * Pointers in a decoded message point into the bytes it was decoded from and
 * are valid as long as those are.
 */
#ifndef ECHO_MESSAGE_H
#define ECHO_MESSAGE_H

#include "echo_buf.h"

enum echo_kind {
    ECHO_KIND_UNARY,
    ECHO_KIND_CLIENT_STREAM,
    ECHO_KIND_SERVER_STREAM,
    ECHO_KIND_BIDI_STREAM,
    ECHO_KIND_COUNT
};

/* A run of bytes that belongs to somebody else. */
struct echo_bytes {
    const uint8_t *data; /* first byte; may be NULL when len is 0 */
    size_t len;          /* number of bytes */
};

struct echo_request {
    struct echo_bytes payload;           /* field 1 */
    uint32_t count;                      /* field 2, ServerStream only */
    uint32_t status_code;                /* field 3, 0: answer normally */
    struct echo_bytes status_message;    /* field 4 */
    uint32_t delay_ms;                   /* field 5 */
    struct echo_bytes response_encoding; /* field 6, empty: not asked for */
};

struct echo_response {
    struct echo_bytes payload; /* field 1 */
    uint64_t total;            /* field 2, ClientStream only */
};

/* echo_kind_path returns "/grpctap.echo.v1.Echo/..." of a method. */
const char *echo_kind_path(enum echo_kind kind);

/* echo_kind_find returns 0 and sets *kind, or -1 for an unknown path. */
int echo_kind_find(const char *path, size_t len, enum echo_kind *kind);

/* The encoders append to `out` and return 0, or -1 when out of memory. */
int echo_request_encode(const struct echo_request *request,
                        struct echo_buf *out);
int echo_response_encode(const struct echo_response *response,
                         struct echo_buf *out);

/* The decoders return 0, or -1 when the bytes are not such a message.
 * Unknown fields are skipped, as protobuf demands. */
int echo_request_decode(struct echo_request *request, const uint8_t *data,
                        size_t len);
int echo_response_decode(struct echo_response *response, const uint8_t *data,
                         size_t len);

#endif
