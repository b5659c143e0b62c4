/* SPDX-License-Identifier: MIT */
/*
 * Owns the recognition of protocols by their first bytes.  What follows from
 * it, and what it means that the two sides differ, is tap_detect.c's.
 */
#include "detect.h"

#include <string.h>

#include "../h2dec/h2dec.h"

/* enum match is how far bytes fit a pattern. */
enum match { MATCH_NO, MATCH_OPEN, MATCH_YES };

static enum match
match_text(const uint8_t *bytes, size_t len, const char *text, size_t n)
{
    if (memcmp(bytes, text, len < n ? len : n) != 0) {
        return MATCH_NO;
    }
    return len < n ? MATCH_OPEN : MATCH_YES;
}

/* A record of TLS 1.0 to 1.3 (RFC 8446, section 5.1): a type, version 3.x. */
static enum match
match_tls(const uint8_t *bytes, size_t len)
{
    if (bytes[0] < 20 || bytes[0] > 23) {
        return MATCH_NO;
    }
    if (len < 2) {
        return MATCH_OPEN;
    }
    if (bytes[1] != 3) {
        return MATCH_NO;
    }
    if (len < 3) {
        return MATCH_OPEN;
    }
    return bytes[2] <= 4 ? MATCH_YES : MATCH_NO;
}

/* METHOD_MAX leaves room for a blank and a target within DETECT_MAX; the
 * longest registered method, UPDATEREDIRECTREF, has 17 letters. */
#define METHOD_MAX 17

static int
is_method_char(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_';
}

/* The beginning of a request target: origin, asterisk, or absolute form; any
 * other is CONNECT's (RFC 9112, section 3.2). */
static enum match
match_target(const uint8_t *bytes, size_t len)
{
    if (len == 0) {
        return MATCH_OPEN;
    }
    if (bytes[0] == '/' || bytes[0] == '*') {
        return MATCH_YES;
    }
    return match_text(bytes, len, "http", 4) == MATCH_YES && len > 4
               ? (bytes[4] == ':' || bytes[4] == 's' ? MATCH_YES : MATCH_NO)
               : match_text(bytes, len, "http:", 5);
}

/* The beginning of the host that CONNECT names. */
static enum match
match_authority(const uint8_t *bytes, size_t len)
{
    if (len == 0) {
        return MATCH_OPEN;
    }
    return (bytes[0] >= '0' && bytes[0] <= '9') || bytes[0] == '[' ||
                   ((bytes[0] | 0x20) >= 'a' && (bytes[0] | 0x20) <= 'z')
               ? MATCH_YES
               : MATCH_NO;
}

/* A request line: an upper case method of 3 to METHOD_MAX letters, a blank,
 * and the beginning of a target. */
static enum match
match_request(const uint8_t *bytes, size_t len)
{
    size_t at = 0;

    if (match_text(bytes, len, "CONNECT ", 8) == MATCH_YES) {
        return match_authority(bytes + 8, len - 8);
    }
    while (at < len && at < METHOD_MAX && is_method_char(bytes[at])) {
        at++;
    }
    if (at == len) {
        return MATCH_OPEN;
    }
    if (at < 3 || bytes[at] != ' ') {
        return MATCH_NO;
    }
    return match_target(bytes + at + 1, len - at - 1);
}

/* A connect packet of Oracle's TNS reads as a frame too: END_STREAM on stream
 * 1 behind some KiB of DATA, that begin with the low bytes of two versions. */
static enum match
match_tns(const uint8_t *bytes, size_t len)
{
    static const uint8_t middle[] = {0, 0, 1, 0, 0, 0, 1};

    if (memcmp(bytes + 2, middle, sizeof(middle)) != 0) {
        return MATCH_NO;
    }
    if (len < 11) {
        return MATCH_OPEN;
    }
    return bytes[9] >= 0x2c && bytes[9] <= 0x3f && bytes[10] == 1 ? MATCH_YES
                                                                  : MATCH_NO;
}

static enum match
match_frame(enum side side, const uint8_t *bytes, size_t len)
{
    /* No peer may send more than 16,384 bytes unasked: text never fits. */
    if (bytes[0] != 0 || (len > 1 && bytes[1] > 0x40)) {
        return MATCH_NO;
    }
    if (len < H2DEC_FRAME_HEADER_LEN) {
        return MATCH_OPEN;
    }
    switch (side == SIDE_CLIENT ? match_tns(bytes, len) : MATCH_NO) {
    case MATCH_OPEN:
        return MATCH_OPEN;
    case MATCH_YES:
        return MATCH_NO;
    case MATCH_NO:
        break;
    }
    return h2dec_frame_plausible(bytes, (enum h2dec_side)side) ? MATCH_YES
                                                               : MATCH_NO;
}

static enum match
match_http1(enum side side, const uint8_t *bytes, size_t len)
{
    return side == SIDE_CLIENT ? match_request(bytes, len)
                               : match_text(bytes, len, "HTTP/1.", 7);
}

enum speech
detect_speech(enum side side, const uint8_t *bytes, size_t len, int final)
{
    const struct {
        enum match match;
        enum speech speech;
    } candidates[] = {
        {len == 0 ? MATCH_OPEN
         : side == SIDE_CLIENT
             ? match_text(bytes, len, h2dec_preface, H2DEC_PREFACE_LEN)
             : MATCH_NO,
         SPEECH_H2_PREFACE},
        {len == 0 ? MATCH_OPEN : match_frame(side, bytes, len),
         SPEECH_H2_FRAME},
        {len == 0 ? MATCH_OPEN : match_tls(bytes, len), SPEECH_TLS},
        {len == 0 ? MATCH_OPEN : match_http1(side, bytes, len),
         SPEECH_HTTP1},
    };

    /* The first that fits or still may fit decides: "PRI * HTTP/2.0" would
     * do as a request line too. */
    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
        if (candidates[i].match == MATCH_YES) {
            return candidates[i].speech;
        }
        if (candidates[i].match == MATCH_OPEN && !final) {
            return SPEECH_OPEN;
        }
    }
    return SPEECH_OTHER;
}

const char *
detect_name(enum speech speech)
{
    switch (speech) {
    case SPEECH_H2_PREFACE:
    case SPEECH_H2_FRAME:
        return "HTTP/2";
    case SPEECH_HTTP1:
        return "HTTP/1.1";
    case SPEECH_TLS:
        return "TLS";
    case SPEECH_OPEN:
    case SPEECH_OTHER:
        break;
    }
    return "another protocol";
}
