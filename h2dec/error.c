/* SPDX-License-Identifier: MIT */
/* Owns the texts: of this library's errors, and the names of RFC 9113. */
#include "h2dec.h"

const char h2dec_preface[H2DEC_PREFACE_LEN + 1] =
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static const char *
error_text(enum h2dec_error error)
{
    /* No default: the compiler names a code that is forgotten here. */
    switch (error) {
    case H2DEC_OK:
        return "success";
    case H2DEC_ERR_INVALID:
        return "invalid argument";
    case H2DEC_ERR_CALLBACK:
        return "stopped by a callback";
    case H2DEC_ERR_NOMEM:
        return "out of memory";
    case H2DEC_ERR_STREAMS:
        return "too many open streams";
    }
    return "unknown error";
}

const char *
h2dec_strerror(int error)
{
    return error_text((enum h2dec_error)error);
}

int
h2dec_error_is_fatal(int error)
{
    return error <= H2DEC_ERR_CALLBACK;
}

const char *
h2dec_type_name(unsigned type)
{
    static const char *const names[H2DEC_TYPES] = {
        "DATA",         "HEADERS", "PRIORITY", "RST_STREAM",    "SETTINGS",
        "PUSH_PROMISE", "PING",    "GOAWAY",   "WINDOW_UPDATE", "CONTINUATION",
        "UNKNOWN",
    };

    return names[type < H2DEC_UNKNOWN_TYPE ? type : H2DEC_UNKNOWN_TYPE];
}

const char *
h2dec_code_name(uint32_t code)
{
    static const char *const names[] = {
        "NO_ERROR",         "PROTOCOL_ERROR",      "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",  "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM",      "CANCEL",
        "COMPRESSION_ERROR", "CONNECT_ERROR",      "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    };

    return code < sizeof(names) / sizeof(names[0]) ? names[code] : NULL;
}

const char *
h2dec_setting_name(uint16_t id)
{
    /* 8 is RFC 8441, 9 is RFC 9218. */
    static const char *const names[] = {
        NULL,
        "SETTINGS_HEADER_TABLE_SIZE",
        "SETTINGS_ENABLE_PUSH",
        "SETTINGS_MAX_CONCURRENT_STREAMS",
        "SETTINGS_INITIAL_WINDOW_SIZE",
        "SETTINGS_MAX_FRAME_SIZE",
        "SETTINGS_MAX_HEADER_LIST_SIZE",
        NULL,
        "SETTINGS_ENABLE_CONNECT_PROTOCOL",
        "SETTINGS_NO_RFC7540_PRIORITIES",
    };

    return id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
}
