/* SPDX-License-Identifier: MIT */
/*
 * h1dec: connections that are handed over to another protocol, or that go on
 * after all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../vector_h1_rows.h"

static const struct vector_h1_row rows[] = {
    /* From the 101 on neither side takes bytes. */
    { "Upgrade accepted",
        { ">GET /chat HTTP/1.1\r\nConnection: Upgrade\r\n"
          "Upgrade: websocket\r\n\r\n",
          "<HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
          "Upgrade: websocket\r\n\r\n\201\005hello",
          ">\201\200abcd" },
        "> 1 head GET /chat HTTP/1.1 none 0 bytes=63 list=33\n"
        "    connection: Upgrade\n"
        "    upgrade: websocket\n"
        "> 1 end\n"
        "< 1 head 101 HTTP/1.1 none 0 bytes=77 list=33 switches\n"
        "    connection: Upgrade\n"
        "    upgrade: websocket\n"
        "< 1 end\n"
        "= 1 switched since=1\n"
        "    > framing=0 head=63 list=33 body=0 chunks=0\n"
        "    < framing=0 head=77 list=33 body=0 chunks=0\n"
        "> bytes=63 exchange=63 connection=0 undecoded=0 left=6\n"
        "< bytes=77 exchange=77 connection=0 undecoded=0 left=7\n",
        0 },
    { "Upgrade after an exchange, a 103 before",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
          ">GET / HTTP/1.1\r\nUpgrade: h2c\r\n"
          "Connection: Upgrade, HTTP2-Settings\r\n\r\n",
          "<HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching\r\n\r\nxx",
          ">$",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=69 list=43\n"
        "    upgrade: h2c\n"
        "    connection: Upgrade, HTTP2-Settings\n"
        "> 2 end\n"
        "< 2 head 103 HTTP/1.1 none 0 bytes=28 list=0\n"
        "< 2 head 101 HTTP/1.1 none 0 bytes=26 list=0 switches\n"
        "< 2 end\n"
        "= 2 switched since=3\n"
        "    > framing=0 head=69 list=43 body=0 chunks=0\n"
        "    < framing=0 head=54 list=0 body=0 chunks=0\n"
        "> bytes=87 exchange=87 connection=0 undecoded=0 left=0\n"
        "< bytes=92 exchange=92 connection=0 undecoded=0 left=2\n",
        0 },
    /* It goes on as HTTP/1.x, with a body too. */
    { "Upgrade refused",
        { ">POST / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
          "Content-Length: 3\r\n\r\nabc",
          "<HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
          ">GET /2 HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
          "<HTTP/1.1 426 Upgrade Required\r\nConnection: Upgrade\r\n"
          "Upgrade: TLS/1.2\r\nContent-Length: 0\r\n\r\n",
          ">GET /3 HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 declared 3 bytes=73 list=42\n"
        "    connection: Upgrade\n"
        "    upgrade: h2c\n"
        "    content-length: 3\n"
        "> 1 body chunk=0 3: abc\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 1 bytes=38 list=15\n"
        "    content-length: 1\n"
        "< 1 body chunk=0 1: a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=73 list=42 body=3 chunks=0\n"
        "    < framing=0 head=38 list=15 body=1 chunks=0\n"
        "> 2 head GET /2 HTTP/1.1 none 0 bytes=54 list=27\n"
        "    connection: Upgrade\n"
        "    upgrade: h2c\n"
        "> 2 end\n"
        "< 2 head 426 HTTP/1.1 declared 0 bytes=91 list=46\n"
        "    connection: Upgrade\n"
        "    upgrade: TLS/1.2\n"
        "    content-length: 0\n"
        "< 2 end\n"
        "= 2 complete since=3\n"
        "    > framing=0 head=54 list=27 body=0 chunks=0\n"
        "    < framing=0 head=91 list=46 body=0 chunks=0\n"
        "> 3 head GET /3 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 3 end\n"
        "< 3 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 3 end\n"
        "= 3 complete since=5\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> bytes=149 exchange=149 connection=0 undecoded=0 left=0\n"
        "< bytes=168 exchange=168 connection=0 undecoded=0 left=0\n",
        1 },
    /* They were no requests, whatever they look like. */
    { "pipelined behind an Upgrade that is accepted",
        { ">GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
          "GET /no HTTP/1.1\r\n\r\nGET /half HT",
          "<HTTP/1.1 101 Ok\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
          ">TP/1.1\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=51 list=25\n"
        "    connection: Upgrade\n"
        "    upgrade: x\n"
        "> 1 end\n"
        "< 1 head 101 HTTP/1.1 none 0 bytes=52 list=25 switches\n"
        "    upgrade: x\n"
        "    connection: Upgrade\n"
        "< 1 end\n"
        "= 1 switched since=1\n"
        "    > framing=0 head=51 list=25 body=0 chunks=0\n"
        "    < framing=0 head=52 list=25 body=0 chunks=0\n"
        "handed 32: GET /no HTTP/1.1\r\n\r\nGET /half HT\n"
        "> bytes=51 exchange=51 connection=0 undecoded=0 left=42\n"
        "< bytes=52 exchange=52 connection=0 undecoded=0 left=0\n",
        0 },
    { "early bytes of another protocol",
        { ">CONNECT h:443 HTTP/1.1\r\n\r\n\026\003\001",
          "<HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 Established\r\n\r\n"
          "\026\003\003",
          ">\024" },
        "> 1 head CONNECT h:443 HTTP/1.1 none 0 bytes=26 list=0\n"
        "> 1 end\n"
        "< 1 head 103 HTTP/1.1 none 0 bytes=22 list=0\n"
        "< 1 head 200 HTTP/1.1 none 0 bytes=28 list=0 switches\n"
        "< 1 end\n"
        "= 1 switched since=1\n"
        "    > framing=0 head=26 list=0 body=0 chunks=0\n"
        "    < framing=0 head=50 list=0 body=0 chunks=0\n"
        "handed 3: \026\003\001\n"
        "> bytes=26 exchange=26 connection=0 undecoded=0 left=4\n"
        "< bytes=50 exchange=50 connection=0 undecoded=0 left=3\n",
        0 },
    /* They count from when they passed; the second one is held in its turn,
     * and the end behind it too. */
    { "pipelined behind what is refused",
        { ">CONNECT h:443 HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 100 Continue\r\n\r\n",
          ">\r\nGET /2 HTTP/1.1\r\nUpgrade: x\r\n\r\nGET /3 ",
          "<HTTP/1.1 100 Continue\r\n\r\n",
          ">HTTP/1.1\r\n\r\n",
          ">$",
          "<HTTP/1.1 407 Auth\r\nContent-Length: 2\r\n\r\nno"
          "HTTP/1.1 204 No\r\n\r\n",
          "<HTTP/1.1 205 Re\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head CONNECT h:443 HTTP/1.1 none 0 bytes=26 list=0\n"
        "> 1 end\n"
        "< 1 head 100 HTTP/1.1 none 0 bytes=25 list=0\n"
        "< 1 head 100 HTTP/1.1 none 0 bytes=25 list=0\n"
        "< 1 head 407 HTTP/1.1 declared 2 bytes=40 list=15\n"
        "    content-length: 2\n"
        "> 2 head GET /2 HTTP/1.1 none 0 bytes=31 list=8\n"
        "    upgrade: x\n"
        "> 2 end\n"
        "< 1 body chunk=0 2: no\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=26 list=0 body=0 chunks=0\n"
        "    < framing=0 head=90 list=15 body=2 chunks=0\n"
        "< 2 head 204 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 3 head GET /3 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 3 end\n"
        "< 2 end\n"
        "= 2 complete since=3\n"
        "    > framing=0 head=31 list=8 body=0 chunks=0\n"
        "    < framing=0 head=19 list=0 body=0 chunks=0\n"
        "< 3 head 205 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 3 end\n"
        "= 3 complete since=3\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> bytes=78 exchange=76 connection=2 undecoded=0 left=0\n"
        "< bytes=149 exchange=149 connection=0 undecoded=0 left=0\n",
        0 },
    /* A fault is one all the same once it is known whose bytes they are. */
    { "no request behind what is refused",
        { ">CONNECT h:443 HTTP/1.1\r\n\r\n\026\003\001",
          "<HTTP/1.1 407 Auth\r\nContent-Length: 0\r\n\r\n",
          ">\024" },
        "> 1 head CONNECT h:443 HTTP/1.1 none 0 bytes=26 list=0\n"
        "> 1 end\n"
        "< 1 head 407 HTTP/1.1 declared 0 bytes=40 list=15\n"
        "    content-length: 0\n"
        "> 0 fault parse at=26 invalid HTTP method\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=26 list=0 body=0 chunks=0\n"
        "    < framing=0 head=40 list=15 body=0 chunks=0\n"
        "> bytes=30 exchange=26 connection=0 undecoded=4 left=0 lost\n"
        "< bytes=40 exchange=40 connection=0 undecoded=0 left=0\n",
        0 },
    /* Nobody will know. */
    { "bytes behind what is never answered",
        { ">CONNECT h:443 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
          ">$",
          "<HTTP/1.1 100 Continue\r\n\r\n",
          "<$" },
        "> 1 head CONNECT h:443 HTTP/1.1 none 0 bytes=26 list=0\n"
        "> 1 end\n"
        "< 1 head 100 HTTP/1.1 none 0 bytes=25 list=0\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=26 list=0 body=0 chunks=0\n"
        "    < framing=0 head=25 list=0 body=0 chunks=0\n"
        "> bytes=44 exchange=26 connection=0 undecoded=18 left=0\n"
        "< bytes=25 exchange=25 connection=0 undecoded=0 left=0\n",
        0 },
    { "bytes behind what is answered with garbage",
        { ">CONNECT h:443 HTTP/1.1\r\n\r\nGET",
          "<nothing",
          "> / HTTP/1.1\r\n\r\n" },
        "> 1 head CONNECT h:443 HTTP/1.1 none 0 bytes=26 list=0\n"
        "> 1 end\n"
        "< 1 fault parse at=0 a response does not begin with HTTP/\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=26 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=44 exchange=26 connection=0 undecoded=18 left=0 lost\n"
        "< bytes=7 exchange=0 connection=0 undecoded=7 left=0 lost\n",
        0 },
    /* A 1xx response like another. */
    { "101 without an Upgrade",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n"
          "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 101 HTTP/1.1 none 0 bytes=59 list=25\n"
        "    connection: Upgrade\n"
        "    upgrade: x\n"
        "< 1 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=97 list=40 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=97 exchange=97 connection=0 undecoded=0 left=0\n",
        1 },
    /* Lengths in the response mean nothing. */
    { "CONNECT accepted",
        { ">CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbytes",
          ">more" },
        "> 1 head CONNECT h:443 HTTP/1.1 none 0 bytes=39 list=9\n"
        "    host: h:443\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 none 0 bytes=38 list=15 switches\n"
        "    content-length: 5\n"
        "< 1 end\n"
        "= 1 switched since=1\n"
        "    > framing=0 head=39 list=9 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> bytes=39 exchange=39 connection=0 undecoded=0 left=4\n"
        "< bytes=38 exchange=38 connection=0 undecoded=0 left=5\n",
        0 },
    { "CONNECT refused",
        { ">CONNECT h:443 HTTP/1.1\r\nContent-Length: 3\r\n\r\n",
          "<HTTP/1.1 407 Auth\r\nContent-Length: 2\r\n\r\nno",
          ">CONNECT h:443 HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 299 Fine\r\n\r\n",
          ">x",
          "<y" },
        "> 1 head CONNECT h:443 HTTP/1.1 none 0 bytes=45 list=15\n"
        "    content-length: 3\n"
        "> 1 end\n"
        "< 1 head 407 HTTP/1.1 declared 2 bytes=40 list=15\n"
        "    content-length: 2\n"
        "< 1 body chunk=0 2: no\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=45 list=15 body=0 chunks=0\n"
        "    < framing=0 head=40 list=15 body=2 chunks=0\n"
        "> 2 head CONNECT h:443 HTTP/1.1 none 0 bytes=26 list=0\n"
        "> 2 end\n"
        "< 2 head 299 HTTP/1.1 none 0 bytes=21 list=0 switches\n"
        "< 2 end\n"
        "= 2 switched since=3\n"
        "    > framing=0 head=26 list=0 body=0 chunks=0\n"
        "    < framing=0 head=21 list=0 body=0 chunks=0\n"
        "> bytes=71 exchange=71 connection=0 undecoded=0 left=1\n"
        "< bytes=63 exchange=63 connection=0 undecoded=0 left=1\n",
        0 },
};

/* ---- The limit -------------------------------------------------------- */

/* Plays |n| bytes behind a CONNECT that |answer| follows, cut at random. */
static void
play_many(size_t n, const char *answer, struct vector_h1_log *log)
{
    static const char connect[] = "CONNECT h:443 HTTP/1.1\r\n\r\n";
    struct vector_h1_script script = { 0 };

    vector_h1_add(&script, H1DEC_CLIENT, connect, strlen(connect));
    for (size_t i = 0; i < n; i++) {
        vector_h1_add(&script, H1DEC_CLIENT, "\n", 1);
    }
    vector_h1_add(&script, H1DEC_SERVER, answer, strlen(answer));
    vector_h1_add(&script, H1DEC_CLIENT, "\n", 1);
    vector_h1_play(&script, VECTOR_H1_RANDOM, n, log);
    assert_int_equal(log->problem.len, 0);
    vector_h1_script_clear(&script);
}

/* test_limit: at the limit they are parsed, or handed over; one more, and they
 * are undecoded, which is told if they were to be parsed. */
static void
test_limit(void **state)
{
    static const char refused[] = "HTTP/1.1 407 A\r\nContent-Length: 0\r\n\r\n";
    static const char taken[] = "HTTP/1.1 200 OK\r\n\r\n";

    (void)state;
    for (size_t more = 0; more < 2; more++) {
        size_t n = H1DEC_PENDING_MAX + more;
        struct vector_h1_log log = { 0 };
        struct vector_h1_log switched = { 0 };

        play_many(n, refused, &log);
        assert_int_equal(log.n_faults[H1DEC_FAULT_PENDING_LIMIT], more);
        assert_int_equal(log.books[0].connection_bytes, more ? 0 : n + 1);
        assert_int_equal(log.books[0].undecoded_bytes, more ? n + 1 : 0);
        if (more) {
            assert_int_equal(log.last_fault.offset, 26);
        }
        play_many(n, taken, &switched);
        assert_int_equal(switched.n_faults[H1DEC_FAULT_PENDING_LIMIT], 0);
        assert_int_equal(switched.unused[0], more ? 1 : n + 1);
        assert_int_equal(switched.books[0].undecoded_bytes, more ? n : 0);
        vector_h1_log_clear(&log);
        vector_h1_log_clear(&switched);
    }
}

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static void
test_cuts(void **state)
{
    (void)state;
    assert_int_equal(vector_h1_rows_run(rows, N_ROWS, vector_h1_row_check),
                     0);
}

static void
test_without_memory(void **state)
{
    (void)state;
    assert_int_equal(
        vector_h1_rows_run(rows, N_ROWS, vector_h1_row_sweep_alloc), 0);
}

static void
test_failing_callbacks(void **state)
{
    (void)state;
    assert_int_equal(
        vector_h1_rows_run(rows, N_ROWS, vector_h1_row_sweep_calls), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_failing_callbacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
