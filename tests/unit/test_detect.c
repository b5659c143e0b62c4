/* SPDX-License-Identifier: MIT */
/* detect.c: what first bytes mean, and that a prefix never means something
 * else than the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../h2dec/h2dec.h"
#include "../../proxy/detect.h"

#define BYTES(text) text, sizeof(text) - 1

/* First bytes of real protocols, DETECT_MAX at most of each. */
static const struct {
    const char *name;
    enum side side;
    enum speech speech;
    const char *bytes;
    size_t len;
} table[] = {
    {"h2 preface", SIDE_CLIENT, SPEECH_H2_PREFACE,
     BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")},
    {"h2 settings", SIDE_SERVER, SPEECH_H2_FRAME,
     BYTES("\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64")},
    {"h2 empty settings", SIDE_SERVER, SPEECH_H2_FRAME,
     BYTES("\0\0\0\x04\0\0\0\0\0")},
    {"h2 goaway", SIDE_SERVER, SPEECH_H2_FRAME,
     BYTES("\0\0\x08\x07\0\0\0\0\0\0\0\0\0")},
    {"h2 headers without a preface", SIDE_CLIENT, SPEECH_H2_FRAME,
     BYTES("\0\0\x01\x01\x05\0\0\0\x01\x82")},
    {"h2 settings on a stream", SIDE_SERVER, SPEECH_OTHER,
     BYTES("\0\0\0\x04\0\0\0\0\x01")},
    {"GET", SIDE_CLIENT, SPEECH_HTTP1, BYTES("GET / HTTP/1.1\r\n")},
    {"absolute form", SIDE_CLIENT, SPEECH_HTTP1, BYTES("GET http://a/ HT")},
    {"CONNECT", SIDE_CLIENT, SPEECH_HTTP1, BYTES("CONNECT a:443 HTTP/1")},
    {"OPTIONS *", SIDE_CLIENT, SPEECH_HTTP1, BYTES("OPTIONS * HTTP/1.1\r\n")},
    {"long method", SIDE_CLIENT, SPEECH_HTTP1,
     BYTES("UPDATEREDIRECTREF /a")},
    {"PRI of something else", SIDE_CLIENT, SPEECH_HTTP1,
     BYTES("PRI * HTTP/1.1\r\n")},
    {"response", SIDE_SERVER, SPEECH_HTTP1, BYTES("HTTP/1.1 200 OK\r\n")},
    {"TLS ClientHello", SIDE_CLIENT, SPEECH_TLS,
     BYTES("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03")},
    {"TLS alert", SIDE_SERVER, SPEECH_TLS, BYTES("\x15\x03\x03\0\x02\x02")},
    {"SSH", SIDE_SERVER, SPEECH_OTHER, BYTES("SSH-2.0-OpenSSH_9.2\r\n")},
    {"SMTP server", SIDE_SERVER, SPEECH_OTHER, BYTES("220 mail ESMTP\r\n")},
    {"SMTP client", SIDE_CLIENT, SPEECH_OTHER, BYTES("EHLO http.test\r\n")},
    {"Redis", SIDE_CLIENT, SPEECH_OTHER, BYTES("*1\r\n$4\r\nPING\r\n")},
    {"Redis inline", SIDE_CLIENT, SPEECH_OTHER, BYTES("PING\r\n")},
    {"PostgreSQL SSLRequest", SIDE_CLIENT, SPEECH_OTHER,
     BYTES("\0\0\0\x08\x04\xd2\x16\x2f")},
    {"PostgreSQL startup", SIDE_CLIENT, SPEECH_OTHER,
     BYTES("\0\0\0\x29\0\x03\0\0user\0a\0")},
    {"MySQL greeting", SIDE_SERVER, SPEECH_OTHER,
     BYTES("\x4a\0\0\0\x0a" "8.0.36\0\x0b\0\0\0")},
    {"MQTT", SIDE_CLIENT, SPEECH_OTHER, BYTES("\x10\x0c\0\x04MQTT\x04\x02")},
    {"AMQP", SIDE_CLIENT, SPEECH_OTHER, BYTES("AMQP\0\0\x09\x01")},
    {"SOCKS5", SIDE_CLIENT, SPEECH_OTHER, BYTES("\x05\x01\0")},
    {"SOCKS4", SIDE_CLIENT, SPEECH_OTHER, BYTES("\x04\x01\0\x50\x7f\0\0\x01")},
    {"PROXY v1", SIDE_CLIENT, SPEECH_OTHER, BYTES("PROXY TCP4 127.0.0.1 ")},
    {"PROXY v2", SIDE_CLIENT, SPEECH_OTHER,
     BYTES("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c")},
    {"DNS over TCP", SIDE_CLIENT, SPEECH_OTHER,
     BYTES("\0\x1d\xab\xcd\x01\0\0\x01\0\0\0\0\0\0")},
    {"NATS", SIDE_CLIENT, SPEECH_OTHER, BYTES("CONNECT {\"verbose\":f")},
    {"memcached", SIDE_CLIENT, SPEECH_OTHER, BYTES("get key\r\n")},
    {"Oracle", SIDE_CLIENT, SPEECH_OTHER,
     BYTES("\0\x3a\0\0\x01\0\0\0\x01\x39\x01\x2c")},
    {"h2 DATA alike", SIDE_CLIENT, SPEECH_H2_FRAME,
     BYTES("\0\x3a\0\0\x01\0\0\0\x01\0\0\0")},
    {"zeros", SIDE_CLIENT, SPEECH_OTHER,
     BYTES("\0\0\0\0\0\0\0\0\0\0\0\0")},
};

static void
test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const uint8_t *bytes = (const uint8_t *)table[i].bytes;
        enum speech speech =
            detect_speech(table[i].side, bytes, table[i].len, 1);

        if (speech != table[i].speech) {
            fail_msg("%s: %s, not %s", table[i].name, detect_name(speech),
                     detect_name(table[i].speech));
        }
    }
}

/* The answer comes with some byte and stays. */
static void
test_prefixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const uint8_t *bytes = (const uint8_t *)table[i].bytes;
        enum speech first = SPEECH_OPEN;

        for (size_t len = 0; len <= table[i].len; len++) {
            enum speech speech =
                detect_speech(table[i].side, bytes, len, 0);

            if (first == SPEECH_OPEN) {
                first = speech;
            }
            if (speech != first) {
                fail_msg("%s: %s, then %s", table[i].name, detect_name(first),
                         detect_name(speech));
            }
        }
        if (first != SPEECH_OPEN) {
            assert_int_equal(first, table[i].speech);
        }
    }
}

/* DETECT_MAX bytes are enough, whatever they are. */
static void
test_always_decides(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int run = 0; run < 200000; run++) {
        uint8_t bytes[DETECT_MAX];

        for (size_t i = 0; i < sizeof(bytes); i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)(run % 2 ? (seed >> 24) & 0x1f
                                         : 'A' + (seed >> 24) % 26);
        }
        if (run % 3 == 0) {
            memcpy(bytes, h2dec_preface, 20);
        }
        assert_int_not_equal(
            detect_speech((enum side)(run & 1), bytes, sizeof(bytes), 0),
            SPEECH_OPEN);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_always_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
