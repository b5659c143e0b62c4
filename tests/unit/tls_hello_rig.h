/* SPDX-License-Identifier: MIT */
/*
 * What the tests of tls_hello.c share: all that a reader says as one text,
 * and feeding in pieces.  It becomes part of either program.
 */
#ifndef TLS_HELLO_RIG_H
#define TLS_HELLO_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../proxy/tls_hello.h"
#include "tls_hello_bytes.h"

/* ---- All that a reader says, as text --------------------------------- */

#define DUMP_MAX 1024

struct dump {
    char text[DUMP_MAX]; /* what dump_say has said */
    size_t len;          /* its length */
};

static inline void __attribute__((format(printf, 2, 3)))
dump_say(struct dump *dump, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(dump->text + dump->len, DUMP_MAX - dump->len, format, args);
    va_end(args);
    assert_true(n >= 0);
    dump->len += (size_t)n;
    if (dump->len >= DUMP_MAX) { /* of mutants alone: equal at the front */
        dump->len = DUMP_MAX - 1;
    }
}

static inline void
dump_span(struct dump *dump, struct tls_hello_span span)
{
    for (size_t i = 0; i < span.len; i++) {
        if (span.data[i] > ' ' && span.data[i] < 0x7f) {
            dump_say(dump, "%c", span.data[i]);
        } else {
            dump_say(dump, "<%02x>", span.data[i]);
        }
    }
}

static inline void
dump_facts(struct dump *dump, const struct tls_hello_facts *facts)
{
    struct tls_hello_span rest = facts->alpn;
    struct tls_hello_span name;

    dump_say(dump, " legacy=%04x version=%04x suite=%04x",
             facts->legacy_version, facts->version, facts->cipher_suite);
    for (size_t i = 0; i < tls_hello_version_count(facts); i++) {
        dump_say(dump, "%s%04x", i == 0 ? " versions=" : ",",
                 tls_hello_version_at(facts, i));
    }
    if (facts->has_sni) {
        dump_say(dump, " sni=");
        dump_span(dump, facts->sni);
    }
    if (facts->has_alpn) {
        dump_say(dump, " alpn=");
        while (tls_hello_alpn_next(&rest, &name)) {
            dump_span(dump, name);
            dump_say(dump, ";");
        }
        assert_int_equal(rest.len, 0);
    }
    dump_say(dump, "%s", facts->is_alpn_hidden ? " alpn-hidden" : "");
}

static inline void
dump_hello(struct dump *dump, const struct tls_hello *hello)
{
    static const char *const states[] = {"need-more", "done",     "not-tls",
                                         "broken",    "too-long", "no-memory"};

    dump->len = 0;
    dump_say(dump, "%s", states[hello->state]);
    if (hello->has_record) {
        dump_say(dump, " record=%04x", hello->record_version);
    }
    dump_say(dump, "%s%s", hello->has_retry ? " retry" : "",
             hello->has_hello ? " hello" : "");
    if (hello->has_hello || hello->has_retry) {
        dump_facts(dump, &hello->facts);
    }
    if (hello->has_alert) {
        dump_say(dump, " alert=%u,%u", hello->alert_level,
                 hello->alert_description);
    }
}

/* ---- Feeding --------------------------------------------------------- */

/* Feeds from memory that ends where the bytes end, for the sanitizer. */
static inline void
feed_piece(struct tls_hello *hello, const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len > 0 ? len : 1);
    enum tls_hello_state state;

    assert_non_null(copy);
    memcpy(copy, bytes, len);
    state = tls_hello_feed(hello, copy, len);
    free(copy);
    assert_int_equal(state, hello->state);
}

/* Feeds pieces of |step| bytes, after a first of |first|. */
static inline void
dump_fed(struct dump *dump, enum side side, const uint8_t *bytes, size_t len,
         size_t first, size_t step)
{
    struct tls_hello hello;
    size_t n = first < len ? first : len;

    tls_hello_init(&hello, side);
    feed_piece(&hello, bytes, n);
    for (size_t at = n; at < len; at += n) {
        n = step < len - at ? step : len - at;
        feed_piece(&hello, bytes + at, n);
    }
    dump_hello(dump, &hello);
    tls_hello_clear(&hello);
    assert_null(hello.kept);
    assert_null(hello.message);
}

static inline void
dump_whole(struct dump *dump, enum side side, const uint8_t *bytes, size_t len)
{
    dump_fed(dump, side, bytes, len, len, 1);
}

/* NO_SUITE is what is said where a cipher suite cannot be. */
#define NO_SUITE " suite=0000"

static inline void
check_dump(const char *name, const struct dump *dump, const char *expected)
{
    if (strcmp(dump->text, expected) != 0) {
        fail_msg("%s:\n  %s\nnot\n  %s", name, dump->text, expected);
    }
}

#endif
