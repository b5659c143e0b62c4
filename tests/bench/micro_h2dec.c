/* SPDX-License-Identifier: MIT */
/*
 * Measures h2dec alone: DATA, small frames, header blocks, whole calls, and
 * nghttp2's inflater on the same blocks.  Knows nothing of what a tap makes of
 * them: its callbacks only count.
 */
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "../../h2dec/h2dec.h"
#include "micro.h"

/* The relay's buffer is what h2dec is fed from. */
#define FEED (256u << 10)
#define BLOCKS 1000

/* DATA of one stream, made once. */
static struct micro_buf data_frames;
static struct micro_buf small_frames;

/* struct piece is a part of a recording, as a relay would see it. */
struct piece {
    enum h2dec_side side;
    /* at and len are where it is in the frames. */
    size_t at;
    size_t len;
};

/* struct recording is header blocks: as frames, in pieces, and alone. */
struct recording {
    /* frames is all of them; pieces say who sends which part, in order. */
    struct micro_buf frames;
    struct piece pieces[2 * BLOCKS];
    size_t n_pieces;
    /* blocks holds each block behind its side and a length of two bytes. */
    struct micro_buf blocks;
    uint64_t n_blocks;
};
static struct recording calls;
static struct recording hints;

/* What the callbacks have seen, and what nghttp2 has. */
static uint64_t seen_bytes;
static uint64_t seen_frames;
static uint64_t seen_blocks;
static uint64_t seen_fields;
static uint64_t seen_ends;
static uint64_t inflated_fields;

static int
on_frame(const struct h2dec_frame *frame, struct h2dec_stream *stream,
         void *user)
{
    (void)frame;
    (void)stream;
    (void)user;
    seen_frames++;
    return 0;
}

static int
on_data(const struct h2dec_frame *frame, struct h2dec_stream *stream,
        const uint8_t *data, size_t len, void *user)
{
    (void)frame;
    (void)stream;
    (void)data;
    (void)user;
    seen_bytes += len;
    return 0;
}

static int
on_headers(const struct h2dec_headers *headers, struct h2dec_stream *stream,
           void *user)
{
    (void)stream;
    (void)user;
    seen_blocks++;
    seen_fields += headers->n_fields;
    return 0;
}

static void
on_end(struct h2dec_stream *stream, const struct h2dec_ending *ending,
       void *user)
{
    (void)stream;
    (void)user;
    seen_ends += ending->end == H2DEC_END_COMPLETE;
}

static int
on_fault(const struct h2dec_fault *fault, void *user)
{
    (void)user;
    micro_check(0, fault->reason);
    return 0;
}

static const struct h2dec_callbacks callbacks = {.frame = on_frame,
                                                 .headers = on_headers,
                                                 .data = on_data,
                                                 .stream_end = on_end,
                                                 .fault = on_fault};

/* ---- Frames ----------------------------------------------------------- */

static void
add_frame(struct micro_buf *buf, unsigned type, unsigned flags,
          uint32_t stream, const void *payload, size_t len)
{
    uint8_t header[H2DEC_FRAME_HEADER_LEN] = {
        (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len, (uint8_t)type,
        (uint8_t)flags, (uint8_t)(stream >> 24), (uint8_t)(stream >> 16),
        (uint8_t)(stream >> 8), (uint8_t)stream};

    micro_buf_add(buf, header, sizeof(header));
    micro_buf_add(buf, payload, len);
}

static struct h2dec_conn *
start(void)
{
    /* INITIAL_WINDOW_SIZE 2^30, and the connection's window with it. */
    static const uint8_t window[] = {0, 4, 0x40, 0, 0, 0};
    static const uint8_t more[] = {0x3f, 0, 0, 0};
    struct micro_buf client = {NULL, 0, 0};
    struct micro_buf server = {NULL, 0, 0};
    struct h2dec_conn *conn;

    micro_buf_add(&client, h2dec_preface, H2DEC_PREFACE_LEN);
    add_frame(&client, H2DEC_SETTINGS, 0, 0, window, sizeof(window));
    add_frame(&client, H2DEC_WINDOW_UPDATE, 0, 0, more, sizeof(more));
    add_frame(&server, H2DEC_SETTINGS, 0, 0, window, sizeof(window));
    add_frame(&server, H2DEC_SETTINGS, H2DEC_FLAG_ACK, 0, "", 0);
    add_frame(&server, H2DEC_WINDOW_UPDATE, 0, 0, more, sizeof(more));
    micro_check(h2dec_conn_new(&conn, &callbacks, NULL) == 0, "no memory");
    h2dec_conn_feed(conn, H2DEC_CLIENT, client.data, client.len, 1);
    h2dec_conn_feed(conn, H2DEC_SERVER, server.data, server.len, 2);
    client.len = 0;
    add_frame(&client, H2DEC_SETTINGS, H2DEC_FLAG_ACK, 0, "", 0);
    h2dec_conn_feed(conn, H2DEC_CLIENT, client.data, client.len, 3);
    free(client.data);
    free(server.data);
    seen_frames = 0;
    seen_bytes = 0;
    return conn;
}

static void
feed(struct h2dec_conn *conn, enum h2dec_side side, const uint8_t *data,
     size_t len)
{
    while (len > 0) {
        size_t n = len < FEED ? len : FEED;

        micro_check(h2dec_conn_feed(conn, side, data, n, 4) == 0, "fed up");
        data += n;
        len -= n;
    }
}

/* A connection with stream 1 open, the server's response under way. */
static struct h2dec_conn *
start_response(void)
{
    /* :method GET, :scheme http, :path /; :status 200. */
    static const uint8_t request[] = {0x82, 0x86, 0x84};
    static const uint8_t response[] = {0x88};
    struct micro_buf buf = {NULL, 0, 0};
    struct h2dec_conn *conn = start();

    add_frame(&buf, H2DEC_HEADERS,
              H2DEC_FLAG_END_HEADERS | H2DEC_FLAG_END_STREAM, 1, request,
              sizeof(request));
    feed(conn, H2DEC_CLIENT, buf.data, buf.len);
    buf.len = 0;
    add_frame(&buf, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS, 1, response,
              sizeof(response));
    feed(conn, H2DEC_SERVER, buf.data, buf.len);
    free(buf.data);
    return conn;
}

/* Gives back the window that |len| bytes have taken, of both kinds. */
static void
update(struct h2dec_conn *conn, uint64_t len)
{
    uint8_t increment[4] = {(uint8_t)(len >> 24), (uint8_t)(len >> 16),
                            (uint8_t)(len >> 8), (uint8_t)len};
    uint8_t bytes[26] = {0, 0, 4, H2DEC_WINDOW_UPDATE, 0, 0, 0, 0, 0};

    memcpy(bytes + 9, increment, 4);
    memcpy(bytes + 13, bytes, 13);
    bytes[13 + 8] = 1;
    feed(conn, H2DEC_CLIENT, bytes, sizeof(bytes));
}

static uint64_t
run_frames(struct h2dec_conn **conn, const struct micro_buf *frames)
{
    uint64_t frames_before;
    uint64_t bytes_before = seen_bytes;

    if (*conn == NULL)
        *conn = start_response();
    frames_before = seen_frames;
    bytes_before = seen_bytes;
    feed(*conn, H2DEC_SERVER, frames->data, frames->len);
    frames_before = seen_frames - frames_before;
    micro_check(seen_bytes > bytes_before, "no DATA was seen");
    update(*conn, seen_bytes - bytes_before);
    return frames_before;
}

static uint64_t
run_data(void)
{
    static struct h2dec_conn *conn;

    return run_frames(&conn, &data_frames);
}

static uint64_t
run_small(void)
{
    static struct h2dec_conn *conn;

    return run_frames(&conn, &small_frames);
}

/* ---- Header blocks ---------------------------------------------------- */

static nghttp2_nv
field(const char *name, const char *value)
{
    nghttp2_nv nv = {(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                     strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};

    return nv;
}

static void
add_block(struct recording *to, nghttp2_hd_deflater *deflater,
          enum h2dec_side side, uint32_t stream, unsigned flags,
          const nghttp2_nv *fields, size_t n)
{
    uint8_t block[1024];
    ssize_t len = nghttp2_hd_deflate_hd(deflater, block, sizeof(block), fields,
                                        n);
    uint8_t head[3] = {(uint8_t)side};

    micro_check(len > 0, "the deflater has failed");
    head[1] = (uint8_t)(len >> 8);
    head[2] = (uint8_t)len;
    micro_buf_add(&to->blocks, head, sizeof(head));
    micro_buf_add(&to->blocks, block, (size_t)len);
    to->n_blocks++;
    add_frame(&to->frames, H2DEC_HEADERS, flags | H2DEC_FLAG_END_HEADERS,
              stream, block, (size_t)len);
}

static void
add_request(struct recording *to, nghttp2_hd_deflater *deflater,
            uint32_t stream, unsigned flags)
{
    nghttp2_nv fields[] = {
        field(":method", "POST"),
        field(":scheme", "http"),
        field(":path", "/grpctap.bench.v1.Bench/Unary"),
        field(":authority", "127.0.0.1:50051"),
        field("content-type", "application/grpc"),
        field("user-agent", "grpc-go/1.84.0"),
        field("te", "trailers"),
        field("grpc-timeout", "999875u"),
        field("grpc-accept-encoding", "gzip"),
    };
    /* The one field that is another one each time. */
    char timeout[] = "990000u";

    timeout[3] = (char)('0' + stream / 2 % 10);
    timeout[4] = (char)('0' + stream / 20 % 10);
    timeout[5] = (char)('0' + stream / 200 % 10);
    fields[7] = field("grpc-timeout", timeout);
    add_block(to, deflater, H2DEC_CLIENT, stream, flags, fields,
              sizeof(fields) / sizeof(fields[0]));
}

static void
add_response(struct recording *to, nghttp2_hd_deflater *deflater,
             uint32_t stream)
{
    const nghttp2_nv head[] = {field(":status", "200"),
                               field("content-type", "application/grpc"),
                               field("grpc-accept-encoding", "gzip")};
    const nghttp2_nv trailers[] = {field("grpc-status", "0"),
                                   field("grpc-message", "")};

    add_block(to, deflater, H2DEC_SERVER, stream, 0, head, 3);
    add_block(to, deflater, H2DEC_SERVER, stream, H2DEC_FLAG_END_STREAM,
              trailers, 2);
}

static void
add_piece(struct recording *to, enum h2dec_side side, size_t at)
{
    struct piece *piece = &to->pieces[to->n_pieces++];

    piece->side = side;
    piece->at = at;
    piece->len = to->frames.len - at;
}

/* Calls without bodies, eight at a time. */
static void
record_calls(void)
{
    nghttp2_hd_deflater *deflater[2];

    nghttp2_hd_deflate_new(&deflater[0], 4096);
    nghttp2_hd_deflate_new(&deflater[1], 4096);
    for (uint32_t id = 1; calls.n_blocks < BLOCKS; id += 16) {
        size_t at = calls.frames.len;

        for (uint32_t k = 0; k < 16; k += 2)
            add_request(&calls, deflater[0], id + k, H2DEC_FLAG_END_STREAM);
        add_piece(&calls, H2DEC_CLIENT, at);
        at = calls.frames.len;
        for (uint32_t k = 0; k < 16; k += 2)
            add_response(&calls, deflater[1], id + k);
        add_piece(&calls, H2DEC_SERVER, at);
    }
    nghttp2_hd_deflate_del(deflater[0]);
    nghttp2_hd_deflate_del(deflater[1]);
}

/* Blocks on one stream that stays open: 103s, as many as one likes. */
static void
record_hints(void)
{
    nghttp2_hd_deflater *deflater;
    char timeout[] = "990000u";

    nghttp2_hd_deflate_new(&deflater, 4096);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        nghttp2_nv fields[] = {
            field(":status", "103"),
            field("link", "</style.css>; rel=preload; as=style"),
            field("content-type", "application/grpc"),
            field("server", "grpc-go/1.84.0"),
            field("x-trailers", "trailers"),
            field("grpc-accept-encoding", "gzip"),
            field("grpc-encoding", "identity"),
            field("x-authority", "127.0.0.1:50051"),
            field("x-timeout", timeout),
        };

        timeout[3] = (char)('0' + i % 10);
        timeout[4] = (char)('0' + i / 10 % 10);
        timeout[5] = (char)('0' + i / 100 % 10);
        add_block(&hints, deflater, H2DEC_SERVER, 1, 0, fields,
                  sizeof(fields) / sizeof(fields[0]));
    }
    add_piece(&hints, H2DEC_SERVER, 0);
    nghttp2_hd_deflate_del(deflater);
}

/* A new connection each time, because the dynamic table starts anew; its own
 * cost is spread over BLOCKS blocks. */
static uint64_t
run_recording(const struct recording *what, struct h2dec_conn *conn)
{
    uint64_t before = seen_blocks;

    for (size_t i = 0; i < what->n_pieces; i++) {
        const struct piece *piece = &what->pieces[i];

        feed(conn, piece->side, what->frames.data + piece->at, piece->len);
    }
    micro_check(seen_blocks == before + what->n_blocks, "blocks are missing");
    h2dec_conn_free(conn);
    return what->n_blocks;
}

static uint64_t
run_calls(void)
{
    uint64_t before = seen_ends;
    uint64_t n = run_recording(&calls, start());

    micro_check(3 * (seen_ends - before) == n, "calls have not ended");
    return n;
}

static uint64_t
run_hints(void)
{
    /* The request alone: 103s come before the response. */
    static const uint8_t request[] = {0x82, 0x86, 0x84};
    uint8_t frame[9 + sizeof(request)] = {0, 0, sizeof(request),
                                          H2DEC_HEADERS, 5, 0, 0, 0, 1};
    struct h2dec_conn *conn = start();

    memcpy(frame + 9, request, sizeof(request));
    feed(conn, H2DEC_CLIENT, frame, sizeof(frame));
    return run_recording(&hints, conn);
}

/* Inflates one block and counts its fields. */
static void
inflate_block(nghttp2_hd_inflater *inflater, const uint8_t *block, size_t len)
{
    int flags = 0;

    while ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
        nghttp2_nv nv;
        ssize_t n = nghttp2_hd_inflate_hd2(inflater, &nv, &flags, block, len,
                                           1);

        micro_check(n >= 0, "the inflater has failed");
        block += n;
        len -= (size_t)n;
        inflated_fields += (flags & NGHTTP2_HD_INFLATE_EMIT) != 0;
    }
    nghttp2_hd_inflate_end_headers(inflater);
}

static uint64_t
inflate_recording(const struct recording *what)
{
    nghttp2_hd_inflater *inflater[2];
    size_t at = 0;

    nghttp2_hd_inflate_new(&inflater[0]);
    nghttp2_hd_inflate_new(&inflater[1]);
    while (at < what->blocks.len) {
        const uint8_t *head = what->blocks.data + at;
        size_t len = (size_t)head[1] << 8 | head[2];

        inflate_block(inflater[head[0]], head + 3, len);
        at += 3 + len;
    }
    nghttp2_hd_inflate_del(inflater[0]);
    nghttp2_hd_inflate_del(inflater[1]);
    return what->n_blocks;
}

static uint64_t
run_calls_nghttp2(void)
{
    return inflate_recording(&calls);
}

static uint64_t
run_hints_nghttp2(void)
{
    return inflate_recording(&hints);
}

/* Both inflate the same fields, or the comparison is worth nothing. */
static void
compare(void)
{
    run_calls();
    run_hints();
    run_calls_nghttp2();
    run_hints_nghttp2();
    /* The request of run_hints, of three fields, is not in the recording. */
    micro_check(seen_fields == inflated_fields + 3, "the fields differ");
}

int
main(int argc, char **argv)
{
    struct micro_options options = micro_options_parse(argc, argv);
    struct micro_bench benches[] = {
        {"data_16k", "frame", run_data, 16384 + 9, {0}},
        {"data_16", "frame", run_small, 16 + 9, {0}},
        {"calls", "block", run_calls, 0, {0}},
        {"calls_nghttp2", "block", run_calls_nghttp2, 0, {0}},
        {"blocks", "block", run_hints, 0, {0}},
        {"blocks_nghttp2", "block", run_hints_nghttp2, 0, {0}},
    };
    static uint8_t payload[16384];

    for (int i = 0; i < 256; i++)
        add_frame(&data_frames, H2DEC_DATA, 0, 1, payload, sizeof(payload));
    for (int i = 0; i < 4096; i++)
        add_frame(&small_frames, H2DEC_DATA, 0, 1, payload, 16);
    record_calls();
    record_hints();
    compare();
    return micro_run(&options, benches, sizeof(benches) / sizeof(benches[0]));
}
