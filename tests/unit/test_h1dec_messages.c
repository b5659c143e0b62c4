/* SPDX-License-Identifier: MIT */
/*
 * h1dec: heads, bodies, and requests matched with responses; whole and in all
 * cuts, and with each allocation and each callback failing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../vector_h1_rows.h"

static const struct vector_h1_row rows[] = {
    { "a request and its response",
        { ">GET /a?b HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" },
        "> 1 head GET /a?b HTTP/1.1 none 0 bytes=43 list=14\n"
        "    host: x\n"
        "    accept: */*\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 5 bytes=38 list=15\n"
        "    content-length: 5\n"
        "< 1 body chunk=0 5: hello\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=43 list=14 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=5 chunks=0\n"
        "> bytes=43 exchange=43 connection=0 undecoded=0 left=0\n"
        "< bytes=43 exchange=43 connection=0 undecoded=0 left=0\n",
        1 },
    { "keep-alive",
        { ">GET /1 HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
          ">GET /2 HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb",
          "<$",
          ">$" },
        "> 1 head GET /1 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 1 bytes=38 list=15\n"
        "    content-length: 1\n"
        "< 1 body chunk=0 1: a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=1 chunks=0\n"
        "> 2 head GET /2 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 2 end\n"
        "< 2 head 200 HTTP/1.1 declared 1 bytes=38 list=15\n"
        "    content-length: 1\n"
        "< 2 body chunk=0 1: b\n"
        "< 2 end\n"
        "= 2 complete since=3\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=1 chunks=0\n"
        "> bytes=38 exchange=38 connection=0 undecoded=0 left=0\n"
        "< bytes=78 exchange=78 connection=0 undecoded=0 left=0\n",
        1 },
    /* Requests open exchanges, responses end them in order. */
    { "pipelining",
        { ">GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nContent-Length: 3\r\n"
          "\r\nabcHEAD /3 HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 204 No\r\n"
          "\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" },
        "> 1 head GET /1 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 1 end\n"
        "> 2 head POST /2 HTTP/1.1 declared 3 bytes=39 list=15\n"
        "    content-length: 3\n"
        "> 2 body chunk=0 3: abc\n"
        "> 2 end\n"
        "> 3 head HEAD /3 HTTP/1.1 none 0 bytes=20 list=0\n"
        "> 3 end\n"
        "< 1 head 200 HTTP/1.1 declared 1 bytes=38 list=15\n"
        "    content-length: 1\n"
        "< 1 body chunk=0 1: a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=1 chunks=0\n"
        "< 2 head 204 HTTP/1.1 none 0 bytes=19 list=0\n"
        "< 2 end\n"
        "= 2 complete since=1\n"
        "    > framing=0 head=39 list=15 body=3 chunks=0\n"
        "    < framing=0 head=19 list=0 body=0 chunks=0\n"
        "< 3 head 200 HTTP/1.1 none 0 bytes=38 list=15\n"
        "    content-length: 9\n"
        "< 3 end\n"
        "= 3 complete since=1\n"
        "    > framing=0 head=20 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> bytes=81 exchange=81 connection=0 undecoded=0 left=0\n"
        "< bytes=96 exchange=96 connection=0 undecoded=0 left=0\n",
        1 },
    /* Extensions are framing, trailers are header block. */
    { "chunked both ways",
        { ">POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
          "0A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n"
          "Trailer: A, B\r\n\r\n1\r\nz\r\n000;last\r\nA: 1\r\nB:  2 \r\n\r\n" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 body chunk=1 3: abc\n"
        "> 1 body chunk=2 10: 0123456789\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 chunked 0 bytes=68 list=41\n"
        "    transfer-encoding: gzip, chunked\n"
        "    trailer: A, B\n"
        "< 1 body chunk=1 1: z\n"
        "< 1 trailers bytes=14 list=4\n"
        "    a: 1\n"
        "    b: 2\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=22 head=47 list=24 body=13 chunks=2\n"
        "    < framing=17 head=82 list=45 body=1 chunks=1\n"
        "> bytes=82 exchange=82 connection=0 undecoded=0 left=0\n"
        "< bytes=100 exchange=100 connection=0 undecoded=0 left=0\n",
        1 },
    /* http_parser wants CR in chunk lines, but not in heads and trailers.
     * */
    { "chunked, line ends without CR",
        { ">POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n1\r\nx\r\n0\r\n"
          "T: u\n\n",
          "<HTTP/1.0 200\n\n",
          "<$" },
        "> 1 head POST / HTTP/1.1 chunked 0 bytes=44 list=24\n"
        "    transfer-encoding: chunked\n"
        "> 1 body chunk=1 1: x\n"
        "> 1 trailers bytes=5 list=2\n"
        "    t: u\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.0 close 0 bytes=14 list=0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=9 head=49 list=26 body=1 chunks=1\n"
        "    < framing=0 head=14 list=0 body=0 chunks=0\n"
        "> bytes=59 exchange=59 connection=0 undecoded=0 left=0\n"
        "< bytes=14 exchange=14 connection=0 undecoded=0 left=0\n",
        1 },
    { "until the server closes",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc",
          "<def\r\n",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 close 0 bytes=38 list=15\n"
        "    connection: close\n"
        "< 1 body chunk=0 8: abcdef\\x0d\\x0a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=8 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=46 exchange=46 connection=0 undecoded=0 left=0\n",
        1 },
    { "until the server closes, no body",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\n\r\n",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 close 0 bytes=19 list=0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=19 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=19 exchange=19 connection=0 undecoded=0 left=0\n",
        1 },
    /* Such a response goes on until the close. */
    { "a coding that is not chunked",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 close 0 bytes=44 list=21\n"
        "    transfer-encoding: gzip\n"
        "< 1 body chunk=0 5: 0\\x0d\\x0a\\x0d\\x0a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=44 list=21 body=5 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=49 exchange=49 connection=0 undecoded=0 left=0\n",
        1 },
    /* Whatever the fields say. */
    { "no body: HEAD, 204, 304",
        { ">HEAD / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
          ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
          ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\n",
          ">HEAD / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 404 Not Found\r\n\r\n" },
        "> 1 head HEAD / HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 none 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=47 list=24 body=0 chunks=0\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "< 2 head 204 HTTP/1.1 none 0 bytes=46 list=15\n"
        "    content-length: 5\n"
        "< 2 end\n"
        "= 2 complete since=3\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=46 list=15 body=0 chunks=0\n"
        "> 3 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 3 end\n"
        "< 3 head 304 HTTP/1.1 none 0 bytes=48 list=15\n"
        "    content-length: 6\n"
        "< 3 end\n"
        "= 3 complete since=5\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=48 list=15 body=0 chunks=0\n"
        "> 4 head HEAD / HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 4 end\n"
        "< 4 head 404 HTTP/1.1 none 0 bytes=26 list=0\n"
        "< 4 end\n"
        "= 4 complete since=7\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=26 list=0 body=0 chunks=0\n"
        "> bytes=74 exchange=74 connection=0 undecoded=0 left=0\n"
        "< bytes=167 exchange=167 connection=0 undecoded=0 left=0\n",
        1 },
    { "lengths of zero",
        { ">POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=38 list=15 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> bytes=38 exchange=38 connection=0 undecoded=0 left=0\n"
        "< bytes=38 exchange=38 connection=0 undecoded=0 left=0\n",
        1 },
    { "100 and 103 before the final response",
        { ">POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
          "\r\n",
          "<HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n"
          "Link: x\r\nContent-Length: 7\r\n\r\n",
          ">ok",
          "<HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 declared 2 bytes=60 list=33\n"
        "    expect: 100-continue\n"
        "    content-length: 2\n"
        "< 1 head 100 HTTP/1.1 none 0 bytes=25 list=0\n"
        "< 1 head 103 HTTP/1.1 none 0 bytes=56 list=20\n"
        "    link: x\n"
        "    content-length: 7\n"
        "> 1 body chunk=0 2: ok\n"
        "> 1 end\n"
        "< 1 head 201 HTTP/1.1 declared 0 bytes=43 list=15\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=60 list=33 body=2 chunks=0\n"
        "    < framing=0 head=124 list=35 body=0 chunks=0\n"
        "> bytes=62 exchange=62 connection=0 undecoded=0 left=0\n"
        "< bytes=124 exchange=124 connection=0 undecoded=0 left=0\n",
        0 },
    /* The exchange waits for the request. */
    { "a response before the request is complete",
        { ">POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nab",
          "<HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno",
          ">cd",
          ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 declared 4 bytes=38 list=15\n"
        "    content-length: 4\n"
        "> 1 body chunk=0 2: ab\n"
        "< 1 head 413 HTTP/1.1 declared 2 bytes=45 list=15\n"
        "    content-length: 2\n"
        "< 1 body chunk=0 2: no\n"
        "< 1 end\n"
        "> 1 body chunk=0 2: cd\n"
        "> 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=38 list=15 body=4 chunks=0\n"
        "    < framing=0 head=45 list=15 body=2 chunks=0\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "< 2 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 2 end\n"
        "= 2 complete since=3\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> bytes=60 exchange=60 connection=0 undecoded=0 left=0\n"
        "< bytes=85 exchange=85 connection=0 undecoded=0 left=0\n",
        0 },
    { "HTTP/1.0",
        { ">GET / HTTP/1.0\r\n\r\n",
          "<HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
          "<$",
          ">$" },
        "> 1 head GET / HTTP/1.0 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.0 declared 2 bytes=38 list=15\n"
        "    content-length: 2\n"
        "< 1 body chunk=0 2: hi\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=2 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=40 exchange=40 connection=0 undecoded=0 left=0\n",
        1 },
    { "HTTP/1.0 with keep-alive",
        { ">GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
          "<HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n"
          "Content-Length: 2\r\n\r\nhi",
          ">GET / HTTP/1.0\r\n\r\n",
          "<HTTP/1.0 200 OK\r\n\r\nbye",
          "<$" },
        "> 1 head GET / HTTP/1.0 none 0 bytes=42 list=20\n"
        "    connection: keep-alive\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.0 declared 2 bytes=62 list=35\n"
        "    connection: Keep-Alive\n"
        "    content-length: 2\n"
        "< 1 body chunk=0 2: hi\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=42 list=20 body=0 chunks=0\n"
        "    < framing=0 head=62 list=35 body=2 chunks=0\n"
        "> 2 head GET / HTTP/1.0 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "< 2 head 200 HTTP/1.0 close 0 bytes=19 list=0\n"
        "< 2 body chunk=0 3: bye\n"
        "< 2 end\n"
        "= 2 complete since=3\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=19 list=0 body=3 chunks=0\n"
        "> bytes=60 exchange=60 connection=0 undecoded=0 left=0\n"
        "< bytes=86 exchange=86 connection=0 undecoded=0 left=0\n",
        1 },
    /* The request has a head, the response has none. */
    { "HTTP/0.9",
        { ">GET /HTTP/1.1\r\n\r\n",
          "<hello",
          "<$" },
        "> 1 head GET /HTTP/1.1 HTTP/0.9 none 0 bytes=17 list=0\n"
        "> 1 end\n"
        "< 1 fault parse at=0 a response does not begin with HTTP/\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=17 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=17 exchange=17 connection=0 undecoded=0 left=0\n"
        "< bytes=5 exchange=0 connection=0 undecoded=5 left=0 lost\n",
        1 },
    /* Lower case, trimmed, folded, empty, repeated. */
    { "fields",
        { ">GET / HTTP/1.1\r\nHOST:x\r\nX-Fold: a \r\n  b\r\n\tc\t \r\n"
          "Empty:\r\nBlank:   \r\nFold-Only:\r\n  v\r\nCookie: a=1\r\n"
          "cookie: b=2\r\n8bit: \303\244\377\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=122 list=63\n"
        "    host: x\n"
        "    x-fold: a   b\\x09c\n"
        "    empty: \n"
        "    blank: \n"
        "    fold-only: v\n"
        "    cookie: a=1\n"
        "    cookie: b=2\n"
        "    8bit: \\xc3\\xa4\\xff\n"
        "> 1 end\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=122 list=63 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=122 exchange=122 connection=0 undecoded=0 left=0\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "empty lines between messages",
        { ">\r\n\r\nGET / HTTP/1.1\r\n\r\n\n",
          "<\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 1 bytes=38 list=15\n"
        "    content-length: 1\n"
        "< 1 body chunk=0 1: a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=1 chunks=0\n"
        "> bytes=23 exchange=18 connection=5 undecoded=0 left=0\n"
        "< bytes=43 exchange=39 connection=4 undecoded=0 left=0\n",
        1 },
    { "methods and targets",
        { ">OPTIONS * HTTP/1.1\r\n\r\nM-SEARCH * HTTP/1.1\r\n\r\n"
          "GET http://h:80/p?q#f HTTP/1.1\r\n\r\nSOURCE /s ICE/1.0\r\n\r\n",
          "<$" },
        "> 1 head OPTIONS * HTTP/1.1 none 0 bytes=22 list=0\n"
        "> 1 end\n"
        "> 2 head M-SEARCH * HTTP/1.1 none 0 bytes=23 list=0\n"
        "> 2 end\n"
        "> 3 head GET http://h:80/p?q#f HTTP/1.1 none 0 bytes=34 list=0\n"
        "> 3 end\n"
        "> 4 head SOURCE /s HTTP/1.0 none 0 bytes=21 list=0\n"
        "> 4 end\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=22 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "= 2 connection since=1\n"
        "    > framing=0 head=23 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "= 3 connection since=1\n"
        "    > framing=0 head=34 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "= 4 connection since=1\n"
        "    > framing=0 head=21 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=100 exchange=100 connection=0 undecoded=0 left=0\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    { "a status without text",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 599\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 599 HTTP/1.1 declared 0 bytes=35 list=15\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=35 list=15 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=35 exchange=35 connection=0 undecoded=0 left=0\n",
        1 },
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
