/* SPDX-License-Identifier: MIT */
/*
 * Measures h1dec alone: exchanges with small bodies on a connection that stays
 * open, and a long chunked body.  Its callbacks only count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../h1dec/h1dec.h"
#include "micro.h"

#define EXCHANGES 256
#define CHUNK 16384
#define CHUNKS 256

static const char request[] = "POST /v1/things?page=3 HTTP/1.1\r\n"
                              "Host: 127.0.0.1:8080\r\n"
                              "User-Agent: curl/7.88.1\r\n"
                              "Accept: */*\r\n"
                              "Accept-Encoding: gzip, deflate\r\n"
                              "Content-Type: application/json\r\n"
                              "Content-Length: 21\r\n"
                              "\r\n"
                              "{\"name\":\"a thing\"}   ";
static const char response[] = "HTTP/1.1 200 OK\r\n"
                               "Server: nginx/1.22.1\r\n"
                               "Date: Tue, 02 Jan 2024 03:04:05 GMT\r\n"
                               "Content-Type: application/json\r\n"
                               "Content-Length: 16\r\n"
                               "Connection: keep-alive\r\n"
                               "\r\n"
                               "{\"id\":123456789}";
static const char chunked[] = "HTTP/1.1 200 OK\r\n"
                              "Transfer-Encoding: chunked\r\n"
                              "\r\n";

static struct micro_buf chunks;

/* What the callbacks have seen. */
static uint64_t seen_ends;
static uint64_t seen_bytes;

static int
on_body(struct h1dec_exchange *exchange, enum h1dec_side side,
        const uint8_t *data, size_t len, uint64_t chunk, void *user)
{
    (void)exchange;
    (void)side;
    (void)data;
    (void)chunk;
    (void)user;
    seen_bytes += len;
    return 0;
}

static void
on_end(struct h1dec_exchange *exchange, enum h1dec_end end, void *user)
{
    (void)exchange;
    (void)user;
    seen_ends += end == H1DEC_END_COMPLETE;
}

static int
on_fault(const struct h1dec_fault *fault, void *user)
{
    (void)fault;
    (void)user;
    micro_check(0, "a fault");
    return 0;
}

static const struct h1dec_callbacks callbacks = {
    .body = on_body, .exchange_end = on_end, .fault = on_fault};

static struct h1dec_conn *
start(void)
{
    struct h1dec_conn *conn;

    micro_check(h1dec_conn_new(&conn, &callbacks, NULL) == 0, "no memory");
    return conn;
}

static void
feed(struct h1dec_conn *conn, enum h1dec_side side, const void *data,
     size_t len)
{
    size_t used;

    micro_check(h1dec_conn_feed(conn, side, data, len, &used, 1) == 0 &&
                    used == len,
                "not taken");
}

static uint64_t
run_exchanges(void)
{
    static struct h1dec_conn *conn;
    uint64_t before = seen_ends;

    if (conn == NULL)
        conn = start();
    for (int i = 0; i < EXCHANGES; i++) {
        feed(conn, H1DEC_CLIENT, request, sizeof(request) - 1);
        feed(conn, H1DEC_SERVER, response, sizeof(response) - 1);
    }
    micro_check(seen_ends - before == EXCHANGES, "exchanges are missing");
    return EXCHANGES;
}

/* One response without end: its chunks are all alike. */
static uint64_t
run_chunks(void)
{
    static struct h1dec_conn *conn;
    uint64_t before = seen_bytes;

    if (conn == NULL) {
        conn = start();
        feed(conn, H1DEC_CLIENT, request, sizeof(request) - 1);
        feed(conn, H1DEC_SERVER, chunked, sizeof(chunked) - 1);
        before = seen_bytes;
    }
    for (size_t at = 0; at < chunks.len; at += 256u << 10) {
        size_t left = chunks.len - at;

        feed(conn, H1DEC_SERVER, chunks.data + at,
             left < 256u << 10 ? left : 256u << 10);
    }
    micro_check(seen_bytes - before == (uint64_t)CHUNK * CHUNKS,
                "bytes are missing");
    return CHUNKS;
}

int
main(int argc, char **argv)
{
    struct micro_options options = micro_options_parse(argc, argv);
    struct micro_bench benches[] = {
        {"exchanges", "exchange", run_exchanges,
         sizeof(request) + sizeof(response) - 2, {0}},
        {"chunks_16k", "chunk", run_chunks, CHUNK, {0}},
    };
    static const uint8_t payload[CHUNK];

    for (int i = 0; i < CHUNKS; i++) {
        micro_buf_add(&chunks, "4000\r\n", 6);
        micro_buf_add(&chunks, payload, sizeof(payload));
        micro_buf_add(&chunks, "\r\n", 2);
    }
    return micro_run(&options, benches, sizeof(benches) / sizeof(benches[0]));
}
