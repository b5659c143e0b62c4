/* SPDX-License-Identifier: MIT */
/*
 * h1dec: bytes that are not HTTP/1.x, at the byte that is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../vector_h1_rows.h"

static const struct vector_h1_row rows[] = {
    { "a bad method",
        { ">GET / HTTP/1.1\r\n\r\nFOO / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 400 Bad\r\n"
          "Content-Length: 0\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "> 0 fault parse at=18 invalid HTTP method\n"
        "< 1 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "< 2 head 400 HTTP/1.1 declared 0 bytes=39 list=15\n"
        "    content-length: 0\n"
        "< 2 end\n"
        "= 2 complete since=2\n"
        "    > framing=0 head=0 list=0 body=0 chunks=0\n"
        "    < framing=0 head=39 list=15 body=0 chunks=0\n"
        "> bytes=36 exchange=18 connection=0 undecoded=18 left=0 lost\n"
        "< bytes=77 exchange=77 connection=0 undecoded=0 left=0\n",
        0 },
    { "a bad version",
        { ">GET / HTTP/x\r\n\r\n" },
        "> 0 fault parse at=11 invalid HTTP version\n"
        "> bytes=16 exchange=0 connection=0 undecoded=16 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    /* A build of http_parser without strict checks takes it. */
    { "another protocol in a request line",
        { ">GET / HXXX/1.1\r\nA: b\r\n\r\n" },
        "> 0 fault parse at=6 invalid constant string\n"
        "> bytes=24 exchange=0 connection=0 undecoded=24 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a short request line",
        { ">GET / HTT\r\n\r\n" },
        "> 0 fault parse at=11 invalid HTTP version\n"
        "> bytes=13 exchange=0 connection=0 undecoded=13 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    /* The same; the first of them counts, once the head is complete. */
    { "a blank in a field name",
        { ">GET / HTTP/1.1\r\nA : b\r\nC d: e\r\n\r\n" },
        "> 0 fault parse at=17 invalid character in header\n"
        "> bytes=33 exchange=0 connection=0 undecoded=33 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a folded first line",
        { ">GET / HTTP/1.1\r\n X: y\r\n\r\n" },
        "> 0 fault parse at=16 invalid character in header\n"
        "> bytes=25 exchange=0 connection=0 undecoded=25 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a field without a colon",
        { ">GET / HTTP/1.1\r\nHost\r\n\r\n" },
        "> 0 fault parse at=20 invalid character in header\n"
        "> bytes=24 exchange=0 connection=0 undecoded=24 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a control byte in a value",
        { ">GET / HTTP/1.1\r\nA: b\001c\r\n\r\n" },
        "> 0 fault parse at=20 invalid character in header\n"
        "> bytes=26 exchange=0 connection=0 undecoded=26 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "CR without LF in a status line",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 O\rK\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 fault parse at=15 LF character expected\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=20 exchange=0 connection=0 undecoded=20 left=0 lost\n",
        1 },
    { "CR without LF in an empty value",
        { ">GET / HTTP/1.1\r\nA: \rB: c\r\n\r\n" },
        "> 0 fault parse at=20 LF character expected\n"
        "> bytes=28 exchange=0 connection=0 undecoded=28 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "CR without LF at the end of a head",
        { ">GET / HTTP/1.1\r\nA: b\r\n\rX" },
        "> 0 fault parse at=23 LF character expected\n"
        "> bytes=24 exchange=0 connection=0 undecoded=24 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "CR CR LF",
        { ">GET / HTTP/1.1\r\nA: b\r\n\r\r\n" },
        "> 0 fault parse at=23 LF character expected\n"
        "> bytes=25 exchange=0 connection=0 undecoded=25 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "Content-Length twice",
        { ">POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"
          "a" },
        "> 0 fault parse at=52 unexpected content-length header\n"
        "> bytes=58 exchange=0 connection=0 undecoded=58 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "Content-Length that is no number",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 fault parse at=34 invalid character in content-length header\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=46 exchange=0 connection=0 undecoded=46 left=0 lost\n",
        1 },
    { "Content-Length too large",
        { ">POST / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\na" },
        "> 0 fault parse at=52 invalid character in content-length header\n"
        "> bytes=58 exchange=0 connection=0 undecoded=58 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "the largest Content-Length",
        { ">POST / HTTP/1.1\r\nContent-Length: 18446744073709551609\r\n\r\na" },
        "> 1 head POST / HTTP/1.1 declared 18446744073709551609 bytes=57 list="
        "34\n"
        "    content-length: 18446744073709551609\n"
        "> 1 body chunk=0 1: a\n"
        "> 1 fault closed_early at=58 the connection ended inside a body\n"
        "    declared=18446744073709551609 received=1\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=57 list=34 body=1 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=58 exchange=58 connection=0 undecoded=0 left=0\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "Content-Length and Transfer-Encoding",
        { ">POST / HTTP/1.1\r\nContent-Length: 1\r\n"
          "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n" },
        "> 0 fault parse at=65 unexpected content-length header\n"
        "> bytes=77 exchange=0 connection=0 undecoded=77 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a request with a coding that is not chunked",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nabc" },
        "> 0 fault parse at=43 request has invalid transfer-encoding\n"
        "> bytes=47 exchange=0 connection=0 undecoded=47 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a bad chunk size",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
          "x\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 body chunk=1 1: a\n"
        "> 1 fault parse at=53 invalid character in chunk size header\n"
        "= 1 connection since=1\n"
        "    > framing=5 head=47 list=24 body=1 chunks=1\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=56 exchange=53 connection=0 undecoded=3 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a chunk size too large",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
          "10000000000000000\r\na" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 fault parse at=63 invalid character in content-length header\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=47 list=24 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=67 exchange=47 connection=0 undecoded=20 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    /* A build without strict checks takes it. */
    { "a chunk longer than it says",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"
          "0\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 body chunk=1 1: a\n"
        "> 1 fault parse at=51 no CRLF behind the bytes of a chunk\n"
        "= 1 connection since=1\n"
        "    > framing=3 head=47 list=24 body=1 chunks=1\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=60 exchange=51 connection=0 undecoded=9 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "CR alone behind a chunk",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"
          "a\r0\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 body chunk=1 1: a\n"
        "> 1 fault parse at=52 no CRLF behind the bytes of a chunk\n"
        "= 1 connection since=1\n"
        "    > framing=3 head=47 list=24 body=1 chunks=1\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=57 exchange=51 connection=0 undecoded=6 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "CR alone behind a chunk size",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\ra\r\n"
          "0\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 fault parse at=49 LF character expected\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=47 list=24 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=57 exchange=47 connection=0 undecoded=10 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "CR without LF in trailers",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
          "A: \rx\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 fault parse at=54 LF character expected\n"
        "= 1 connection since=1\n"
        "    > framing=3 head=47 list=24 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=59 exchange=50 connection=0 undecoded=9 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "CR without LF at the end of trailers",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
          "A: x\r\n\rx" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 fault parse at=57 LF character expected\n"
        "= 1 connection since=1\n"
        "    > framing=3 head=47 list=24 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=58 exchange=50 connection=0 undecoded=8 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a blank in the name of a trailer",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
          "A b: x\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 fault parse at=51 invalid character in header\n"
        "= 1 connection since=1\n"
        "    > framing=3 head=47 list=24 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=60 exchange=50 connection=0 undecoded=10 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a bad trailer",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n@[\r\n"
          "\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 fault parse at=50 invalid character in header\n"
        "= 1 connection since=1\n"
        "    > framing=3 head=47 list=24 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=56 exchange=50 connection=0 undecoded=6 left=0 lost\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a status of one digit",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 2 OK\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 fault parse at=0 invalid HTTP status code\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=17 exchange=0 connection=0 undecoded=17 left=0 lost\n",
        1 },
    { "a status too large",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 1000 OK\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 fault parse at=12 invalid HTTP status code\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=20 exchange=0 connection=0 undecoded=20 left=0 lost\n",
        1 },
    { "a version too short in a response",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1 200 OK\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 fault parse at=6 invalid HTTP version\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=17 exchange=0 connection=0 undecoded=17 left=0 lost\n",
        1 },
    /* Each ends as it is complete. */
    { "the server is lost, requests go on",
        { ">GET /1 HTTP/1.1\r\n\r\n",
          "<nonsense",
          ">GET /2 HTTP/1.1\r\n\r\nPOST /3 HTTP/1.1\r\nContent-Length: 1\r\n"
          "\r\n" },
        "> 1 head GET /1 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 1 end\n"
        "< 1 fault parse at=0 a response does not begin with HTTP/\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> 2 head GET /2 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 2 end\n"
        "= 2 connection since=3\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> 3 head POST /3 HTTP/1.1 declared 1 bytes=39 list=15\n"
        "    content-length: 1\n"
        "> 3 fault closed_early at=77 the connection ended inside a body\n"
        "    declared=1 received=0\n"
        "= 3 connection since=3\n"
        "    > framing=0 head=39 list=15 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=77 exchange=77 connection=0 undecoded=0 left=0\n"
        "< bytes=8 exchange=0 connection=0 undecoded=8 left=0 lost\n",
        0 },
    /* Its response is the last that can come of it. */
    { "the client is lost under an upload",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz",
          "<HTTP/1.1 400 Bad\r\nConnection: close\r\nContent-Length: 0\r\n"
          "\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 fault parse at=47 invalid character in chunk size header\n"
        "< 1 head 400 HTTP/1.1 declared 0 bytes=58 list=30\n"
        "    connection: close\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=47 list=24 body=0 chunks=0\n"
        "    < framing=0 head=58 list=30 body=0 chunks=0\n"
        "> bytes=49 exchange=47 connection=0 undecoded=2 left=0 lost\n"
        "< bytes=58 exchange=58 connection=0 undecoded=0 left=0\n",
        0 },
};

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
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_failing_callbacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
