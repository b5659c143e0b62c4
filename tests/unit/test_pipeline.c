/* SPDX-License-Identifier: MIT */
/* 10,000 pipelined requests of HTTP/1.1 with their responses, cut at random
 * in several ways, give the same events to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../vector_tap.h"

/* REQUESTS is how many there are, SEEDS in how many ways they are cut. */
#define REQUESTS 10000u
#define SEEDS 3u

static const char *const requests[] = {
    "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
    "HEAD /a HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n",
    "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nx-sum: 1\r\n\r\n",
    "GET /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
};

static const char *const responses[] = {
    "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHTTP/1.1 20",
    "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    "a\r\n0123456789\r\n1\r\n\r\r\n0\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 304 Not Modified\r\n"
    "ETag: \"x\"\r\n\r\n",
};

/* KINDS is how many kinds of them there are. */
#define KINDS (sizeof(requests) / sizeof(requests[0]))

static void
script_make(struct vector_script *script)
{
    uint32_t state = 1;

    memset(script, 0, sizeof(*script));
    script->config.events = vector_tap_all_events;
    for (unsigned i = 0; i < REQUESTS; i += 100) {
        struct vector_buf asked = {0};
        struct vector_buf answered = {0};

        for (unsigned k = 0; k < 100; k++) {
            state = state * 1664525u + 1013904223u;
            vector_buf_text(&asked, requests[(state >> 8) % KINDS]);
            vector_buf_text(&answered, responses[(state >> 8) % KINDS]);
        }
        vector_script_add(script, VECTOR_STEP_BYTES, SIDE_CLIENT, i)->bytes =
            asked;
        vector_script_add(script, VECTOR_STEP_BYTES, SIDE_SERVER, i)->bytes =
            answered;
    }
}

static unsigned
count(const struct vector_buf *text, const char *what)
{
    const char *at = (const char *)text->data;
    unsigned n = 0;

    for (at = strstr(at, what); at != NULL; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}

static void
test_cuts(void **state)
{
    struct vector_cut cut = {VECTOR_CUT_WHOLE, 0, 0};
    struct vector_run whole = {0};
    struct vector_run run = {0};
    struct vector_script script;

    (void)state;
    script_make(&script);
    vector_tap_play(&script, &cut, &whole);
    assert_int_equal(count(&whole.text, "\"event\":\"call\""), REQUESTS);
    assert_int_equal(count(&whole.text, "\"end\":\"complete\""), REQUESTS);
    assert_int_equal(count(&whole.text, "\"severity\":\"error\""), 0);
    cut.kind = VECTOR_CUT_RANDOM;
    for (cut.seed = 1; cut.seed <= SEEDS; cut.seed++) {
        vector_tap_play(&script, &cut, &run);
        assert_int_equal(run.text.len, whole.text.len);
        assert_memory_equal(run.text.data, whole.text.data, run.text.len);
    }
    vector_buf_clear(&run.text);
    vector_buf_clear(&whole.text);
    vector_script_clear(&script);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
