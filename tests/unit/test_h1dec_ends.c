/* SPDX-License-Identifier: MIT */
/*
 * h1dec: how exchanges and connections end: complete, closed, cut short; and
 * responses that no request has asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../vector_h1_rows.h"

static const struct vector_h1_row rows[] = {
    { "Connection: close, then bytes",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n"
          "a\r\nHTTP/1.1 200 OK\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 1 bytes=57 list=30\n"
        "    connection: close\n"
        "    content-length: 1\n"
        "< 1 body chunk=0 1: a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=57 list=30 body=1 chunks=0\n"
        "< 0 fault desync at=60 bytes after a response that was to be the last"
        "\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=79 exchange=58 connection=2 undecoded=19 left=0 lost\n",
        1 },
    /* They get no response. */
    { "Connection: close, then requests",
        { ">GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n"
          "\r\na",
          ">GET /3 HTTP/1.1\r\n\r\nPOST /4 HTTP/1.1\r\nContent-Length: 2\r\n"
          "\r\na",
          "<$",
          ">$" },
        "> 1 head GET /1 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 1 end\n"
        "> 2 head GET /2 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 2 end\n"
        "< 1 head 200 HTTP/1.1 declared 1 bytes=60 list=33\n"
        "    connection: x, Close\n"
        "    content-length: 1\n"
        "< 1 body chunk=0 1: a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=60 list=33 body=1 chunks=0\n"
        "= 2 connection since=1\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> 3 head GET /3 HTTP/1.1 none 0 bytes=19 list=0\n"
        "> 3 end\n"
        "= 3 connection since=3\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> 4 head POST /4 HTTP/1.1 declared 2 bytes=39 list=15\n"
        "    content-length: 2\n"
        "> 4 body chunk=0 1: a\n"
        "> 4 fault closed_early at=97 the connection ended inside a body\n"
        "    declared=2 received=1\n"
        "= 4 connection since=3\n"
        "    > framing=0 head=39 list=15 body=1 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=97 exchange=97 connection=0 undecoded=0 left=0\n"
        "< bytes=61 exchange=61 connection=0 undecoded=0 left=0\n",
        0 },
    { "HTTP/1.0 without keep-alive, then requests",
        { ">GET /1 HTTP/1.0\r\n\r\nGET /2 HTTP/1.0\r\n\r\n",
          "<HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nab" },
        "> 1 head GET /1 HTTP/1.0 none 0 bytes=19 list=0\n"
        "> 1 end\n"
        "> 2 head GET /2 HTTP/1.0 none 0 bytes=19 list=0\n"
        "> 2 end\n"
        "< 1 head 200 HTTP/1.0 declared 1 bytes=38 list=15\n"
        "    content-length: 1\n"
        "< 1 body chunk=0 1: a\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=1 chunks=0\n"
        "= 2 connection since=1\n"
        "    > framing=0 head=19 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "< 0 fault desync at=39 bytes after a response that was to be the last"
        "\n"
        "> bytes=38 exchange=38 connection=0 undecoded=0 left=0\n"
        "< bytes=40 exchange=39 connection=0 undecoded=1 left=0 lost\n",
        0 },
    /* First of all, between exchanges, and under an upload. */
    { "a response nobody asked for",
        { "<HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno",
          ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
          "<HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n",
          ">POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\na",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 500 Oops\r\n"
          "Content-Length: 3\r\n\r\nx",
          ">b",
          "<yz" },
        "< 1 head 503 HTTP/1.1 declared 2 bytes=40 list=15\n"
        "    content-length: 2\n"
        "< 1 body chunk=0 2: no\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=0 list=0 body=0 chunks=0\n"
        "    < framing=0 head=40 list=15 body=2 chunks=0\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "< 2 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 2 end\n"
        "= 2 complete since=2\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "< 3 head 408 HTTP/1.1 declared 0 bytes=43 list=15\n"
        "    content-length: 0\n"
        "< 3 end\n"
        "= 3 complete since=3\n"
        "    > framing=0 head=0 list=0 body=0 chunks=0\n"
        "    < framing=0 head=43 list=15 body=0 chunks=0\n"
        "> 4 head POST / HTTP/1.1 declared 2 bytes=38 list=15\n"
        "    content-length: 2\n"
        "> 4 body chunk=0 1: a\n"
        "< 4 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 4 end\n"
        "< 5 head 500 HTTP/1.1 declared 3 bytes=40 list=15\n"
        "    content-length: 3\n"
        "< 5 body chunk=0 1: x\n"
        "> 4 body chunk=0 1: b\n"
        "> 4 end\n"
        "= 4 complete since=4\n"
        "    > framing=0 head=38 list=15 body=2 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "< 5 body chunk=0 2: yz\n"
        "< 5 end\n"
        "= 5 complete since=5\n"
        "    > framing=0 head=0 list=0 body=0 chunks=0\n"
        "    < framing=0 head=40 list=15 body=3 chunks=0\n"
        "> bytes=58 exchange=58 connection=0 undecoded=0 left=0\n"
        "< bytes=204 exchange=204 connection=0 undecoded=0 left=0\n",
        0 },
    /* The next response is not its own. */
    { "a 1xx nobody asked for",
        { "<HTTP/1.1 102 Processing\r\n\r\n",
          ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
        "< 1 head 102 HTTP/1.1 none 0 bytes=27 list=0\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=0 list=0 body=0 chunks=0\n"
        "    < framing=0 head=27 list=0 body=0 chunks=0\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "< 2 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 2 end\n"
        "= 2 complete since=2\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=65 exchange=65 connection=0 undecoded=0 left=0\n",
        0 },
    /* It is that request's. */
    { "a 408 crosses a request",
        { "<HTTP/1.1 408 Ti",
          ">GET / HTTP/1.1\r\n\r\n",
          "<meout\r\nConnection: close\r\n\r\n",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 408 HTTP/1.1 close 0 bytes=43 list=15\n"
        "    connection: close\n"
        "< 1 end\n"
        "= 1 complete since=2\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=43 list=15 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=43 exchange=43 connection=0 undecoded=0 left=0\n",
        0 },
    { "a response longer than it says",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello",
          ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 2 bytes=38 list=15\n"
        "    content-length: 2\n"
        "< 1 body chunk=0 2: he\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=2 chunks=0\n"
        "< 0 fault desync at=40 bytes after a complete response, and no reques"
        "t waits for one\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "= 2 connection since=3\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=36 exchange=36 connection=0 undecoded=0 left=0\n"
        "< bytes=83 exchange=40 connection=0 undecoded=43 left=0 lost\n",
        0 },
    /* The first bytes could be those of a response; a request that comes
     * while they wait has not asked for them. */
    { "a response longer than it says, HT",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 204 No\r\n\r\nHT",
          ">GET / HTTP/1.1\r\n\r\n",
          "<ML" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 204 HTTP/1.1 none 0 bytes=19 list=0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=19 list=0 body=0 chunks=0\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "< 0 fault desync at=19 bytes after a complete response, and no reques"
        "t waits for one\n"
        "= 2 connection since=3\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=36 exchange=36 connection=0 undecoded=0 left=0\n"
        "< bytes=23 exchange=19 connection=0 undecoded=4 left=0 lost\n",
        0 },
    /* What is no response to one that waits is a parse error. */
    { "a response longer than it says, requests wait",
        { ">GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "< 1 head 200 HTTP/1.1 declared 2 bytes=38 list=15\n"
        "    content-length: 2\n"
        "< 1 body chunk=0 2: he\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=2 chunks=0\n"
        "< 2 fault parse at=40 a response does not begin with HTTP/\n"
        "= 2 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=36 exchange=36 connection=0 undecoded=0 left=0\n"
        "< bytes=43 exchange=40 connection=0 undecoded=3 left=0 lost\n",
        0 },
    { "a server that speaks first",
        { "<SSH-2.0-x\r\n",
          ">SSH-2.0-y\r\n" },
        "< 0 fault parse at=0 a response does not begin with HTTP/\n"
        "> 0 fault parse at=1 invalid HTTP method\n"
        "> bytes=11 exchange=0 connection=0 undecoded=11 left=0 lost\n"
        "< bytes=11 exchange=0 connection=0 undecoded=11 left=0 lost\n",
        0 },
    { "the client ends inside a head",
        { ">GET / HTTP/1.1\r\nHost",
          ">$",
          "<HTTP/1.1 400 Bad\r\nConnection: close\r\nContent-Length: 0\r\n"
          "\r\n",
          "<$" },
        "> 0 fault closed_early at=20 the connection ended inside a head\n"
        "    declared=0? received=20\n"
        "< 1 head 400 HTTP/1.1 declared 0 bytes=58 list=30\n"
        "    connection: close\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 complete since=3\n"
        "    > framing=0 head=0 list=0 body=0 chunks=0\n"
        "    < framing=0 head=58 list=30 body=0 chunks=0\n"
        "> bytes=20 exchange=0 connection=0 undecoded=20 left=0\n"
        "< bytes=58 exchange=58 connection=0 undecoded=0 left=0\n",
        0 },
    /* The response may still come. */
    { "the client ends inside a body",
        { ">POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc",
          ">$",
          "<HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head POST / HTTP/1.1 declared 10 bytes=39 list=16\n"
        "    content-length: 10\n"
        "> 1 body chunk=0 3: abc\n"
        "> 1 fault closed_early at=42 the connection ended inside a body\n"
        "    declared=10 received=3\n"
        "< 1 head 400 HTTP/1.1 declared 0 bytes=39 list=15\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=39 list=16 body=3 chunks=0\n"
        "    < framing=0 head=39 list=15 body=0 chunks=0\n"
        "> bytes=42 exchange=42 connection=0 undecoded=0 left=0\n"
        "< bytes=39 exchange=39 connection=0 undecoded=0 left=0\n",
        0 },
    /* The client may stop then. */
    { "an Expect is refused",
        { ">POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 10\r\n"
          "\r\n",
          "<HTTP/1.1 417 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
          "<$",
          ">$" },
        "> 1 head POST / HTTP/1.1 declared 10 bytes=61 list=34\n"
        "    expect: 100-continue\n"
        "    content-length: 10\n"
        "< 1 head 417 HTTP/1.1 declared 0 bytes=57 list=30\n"
        "    connection: close\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "> 1 fault closed_early at=61 the connection ended inside a body\n"
        "    declared=10 received=0 answered\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=61 list=34 body=0 chunks=0\n"
        "    < framing=0 head=57 list=30 body=0 chunks=0\n"
        "> bytes=61 exchange=61 connection=0 undecoded=0 left=0\n"
        "< bytes=57 exchange=57 connection=0 undecoded=0 left=0\n",
        0 },
    { "the server ends inside a body",
        { ">GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
          "<$",
          ">GET / HTTP/1.1\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "> 2 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 2 end\n"
        "< 1 head 200 HTTP/1.1 declared 10 bytes=39 list=16\n"
        "    content-length: 10\n"
        "< 1 body chunk=0 3: abc\n"
        "< 1 fault closed_early at=42 the connection ended inside a body\n"
        "    declared=10 received=3\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=39 list=16 body=3 chunks=0\n"
        "= 2 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> 3 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 3 end\n"
        "= 3 connection since=4\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=54 exchange=54 connection=0 undecoded=0 left=0\n"
        "< bytes=42 exchange=42 connection=0 undecoded=0 left=0\n",
        0 },
    { "the server ends inside a chunk line",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
          "1;",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "< 1 body chunk=1 3: abc\n"
        "< 1 fault closed_early at=57 the connection ended inside a chunked bo"
        "dy\n"
        "    declared=0? received=3\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=5 head=47 list=24 body=3 chunks=1\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=57 exchange=55 connection=0 undecoded=2 left=0\n",
        1 },
    { "the server ends inside trailers",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
          "0\r\nA: b\r\n",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 chunked 0 bytes=47 list=24\n"
        "    transfer-encoding: chunked\n"
        "< 1 body chunk=1 3: abc\n"
        "< 1 fault closed_early at=64 the connection ended inside a chunked bo"
        "dy\n"
        "    declared=0? received=3\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=8 head=47 list=24 body=3 chunks=1\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=64 exchange=58 connection=0 undecoded=6 left=0\n",
        1 },
    { "the server ends inside a version",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTT",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 fault closed_early at=3 the connection ended inside a head\n"
        "    declared=0? received=3\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=3 exchange=0 connection=0 undecoded=3 left=0\n",
        1 },
    { "the server ends inside a head",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nA",
          "<$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 fault closed_early at=18 the connection ended inside a head\n"
        "    declared=0? received=18\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=18 exchange=0 connection=0 undecoded=18 left=0\n",
        1 },
    { "the server ends without a word",
        { ">GET / HTTP/1.1\r\n\r\n",
          "<$",
          ">$" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "= 1 connection since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=0 list=0 body=0 chunks=0\n"
        "> bytes=18 exchange=18 connection=0 undecoded=0 left=0\n"
        "< bytes=0 exchange=0 connection=0 undecoded=0 left=0\n",
        1 },
    /* They are undecoded. */
    { "bytes after the end",
        { ">GET / HTTP/1.1\r\n\r\n",
          ">$",
          ">GET / HTTP/1.1\r\n\r\n",
          "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
        "> 1 head GET / HTTP/1.1 none 0 bytes=18 list=0\n"
        "> 1 end\n"
        "< 1 head 200 HTTP/1.1 declared 0 bytes=38 list=15\n"
        "    content-length: 0\n"
        "< 1 end\n"
        "= 1 complete since=1\n"
        "    > framing=0 head=18 list=0 body=0 chunks=0\n"
        "    < framing=0 head=38 list=15 body=0 chunks=0\n"
        "> bytes=36 exchange=18 connection=0 undecoded=18 left=0\n"
        "< bytes=38 exchange=38 connection=0 undecoded=0 left=0\n",
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
