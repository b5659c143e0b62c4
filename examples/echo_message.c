/* SPDX-License-Identifier: MIT */
/*
 * echo_message owns as much protobuf as echo.proto needs, so that the examples
 * build without a code generator.  gRPC framing is not its business.
 */
#include "echo_message.h"

#include <string.h>

/* Protobuf wire types; 3 and 4 (groups) do not occur in proto3. */
enum wire {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5
};

/* A 64-bit varint takes at most this many bytes. */
#define VARINT_MAX 10

struct field {
    uint32_t number;         /* field number */
    enum wire type;          /* how the value is stored */
    uint64_t value;          /* WIRE_VARINT */
    struct echo_bytes bytes; /* WIRE_BYTES */
};

static const char *const kind_paths[ECHO_KIND_COUNT] = {
    [ECHO_KIND_UNARY] = "/grpctap.echo.v1.Echo/Unary",
    [ECHO_KIND_CLIENT_STREAM] = "/grpctap.echo.v1.Echo/ClientStream",
    [ECHO_KIND_SERVER_STREAM] = "/grpctap.echo.v1.Echo/ServerStream",
    [ECHO_KIND_BIDI_STREAM] = "/grpctap.echo.v1.Echo/BidiStream",
};

const char *
echo_kind_path(enum echo_kind kind)
{
    return kind_paths[kind];
}

int
echo_kind_find(const char *path, size_t len, enum echo_kind *kind)
{
    for (int i = 0; i < ECHO_KIND_COUNT; i++) {
        if (strlen(kind_paths[i]) == len &&
            memcmp(kind_paths[i], path, len) == 0) {
            *kind = (enum echo_kind)i;
            return 0;
        }
    }
    return -1;
}

static int
put_varint(struct echo_buf *out, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    return echo_buf_append(out, bytes, n);
}

/* proto3 leaves fields out that have their default value; so do these two. */
static int
put_number(struct echo_buf *out, uint32_t number, uint64_t value)
{
    if (value == 0)
        return 0;
    if (put_varint(out, number << 3 | WIRE_VARINT) != 0)
        return -1;
    return put_varint(out, value);
}

static int
put_bytes(struct echo_buf *out, uint32_t number, struct echo_bytes bytes)
{
    if (bytes.len == 0)
        return 0;
    if (put_varint(out, number << 3 | WIRE_BYTES) != 0 ||
        put_varint(out, bytes.len) != 0)
        return -1;
    return echo_buf_append(out, bytes.data, bytes.len);
}

int
echo_request_encode(const struct echo_request *request, struct echo_buf *out)
{
    int rc = put_bytes(out, 1, request->payload);

    rc |= put_number(out, 2, request->count);
    rc |= put_number(out, 3, request->status_code);
    rc |= put_bytes(out, 4, request->status_message);
    rc |= put_number(out, 5, request->delay_ms);
    rc |= put_bytes(out, 6, request->response_encoding);
    return rc;
}

int
echo_response_encode(const struct echo_response *response, struct echo_buf *out)
{
    int rc = put_bytes(out, 1, response->payload);

    rc |= put_number(out, 2, response->total);
    return rc;
}

/* The getters move *in forward and return -1 when the bytes run out. */
static int
get_varint(struct echo_bytes *in, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < in->len && i < VARINT_MAX; i++) {
        *value |= (uint64_t)(in->data[i] & 0x7f) << (7 * i);
        if (in->data[i] < 0x80) {
            in->data += i + 1;
            in->len -= i + 1;
            return 0;
        }
    }
    return -1;
}

static int
get_bytes(struct echo_bytes *in, uint64_t len, struct echo_bytes *bytes)
{
    if (len > in->len)
        return -1;
    bytes->data = in->data;
    bytes->len = (size_t)len;
    in->data += len;
    in->len -= (size_t)len;
    return 0;
}

static int
get_field(struct echo_bytes *in, struct field *field)
{
    uint64_t tag;

    if (get_varint(in, &tag) != 0 || tag < 8 || tag > UINT32_MAX)
        return -1;
    field->number = (uint32_t)(tag >> 3);
    field->type = (enum wire)(tag & 7);
    switch (field->type) {
    case WIRE_VARINT:
        return get_varint(in, &field->value);
    case WIRE_FIXED64:
        return get_bytes(in, 8, &field->bytes);
    case WIRE_BYTES:
        if (get_varint(in, &field->value) != 0)
            return -1;
        return get_bytes(in, field->value, &field->bytes);
    case WIRE_FIXED32:
        return get_bytes(in, 4, &field->bytes);
    }
    return -1;
}

static void
request_set(struct echo_request *request, const struct field *field)
{
    if (field->type == WIRE_BYTES && field->number == 1)
        request->payload = field->bytes;
    else if (field->type == WIRE_VARINT && field->number == 2)
        request->count = (uint32_t)field->value;
    else if (field->type == WIRE_VARINT && field->number == 3)
        request->status_code = (uint32_t)field->value;
    else if (field->type == WIRE_BYTES && field->number == 4)
        request->status_message = field->bytes;
    else if (field->type == WIRE_VARINT && field->number == 5)
        request->delay_ms = (uint32_t)field->value;
    else if (field->type == WIRE_BYTES && field->number == 6)
        request->response_encoding = field->bytes;
}

int
echo_request_decode(struct echo_request *request, const uint8_t *data,
                    size_t len)
{
    struct echo_bytes in = {data, len};
    struct field field = {0};

    *request = (struct echo_request){0};
    while (in.len > 0) {
        if (get_field(&in, &field) != 0)
            return -1;
        request_set(request, &field);
    }
    return 0;
}

int
echo_response_decode(struct echo_response *response, const uint8_t *data,
                     size_t len)
{
    struct echo_bytes in = {data, len};
    struct field field = {0};

    *response = (struct echo_response){0};
    while (in.len > 0) {
        if (get_field(&in, &field) != 0)
            return -1;
        if (field.type == WIRE_BYTES && field.number == 1)
            response->payload = field.bytes;
        else if (field.type == WIRE_VARINT && field.number == 2)
            response->total = field.value;
    }
    return 0;
}
