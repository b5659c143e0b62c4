/* SPDX-License-Identifier: MIT */
/*
 * Measures grpcframe alone: plain messages, gzip messages, and zlib on the
 * same ones.  Knows nothing of the frames of HTTP/2 but that DATA comes in
 * pieces of 16 KiB.
 *
 * FILE holds one gzip message of a load, prefix and all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../../grpcframe/grpcframe.h"
#include "micro.h"

#define PIECE 16384

/* struct load is messages of one kind, one after the other. */
struct load {
    /* body is them as a direction of a call has them. */
    struct micro_buf body;
    uint64_t messages;
    /* text_len is what each holds, decoded. */
    size_t text_len;
};
static struct load plain_small;
static struct load plain_large;
static struct load gzip_small;
static struct load gzip_large;
static struct load file;

/* What the callbacks have seen. */
static uint64_t seen_messages;
static uint64_t seen_decoded;

static struct grpcframe_pool *pool;

static int
on_message(const struct grpcframe_message *message, void *user)
{
    (void)user;
    micro_check(message->result == GRPCFRAME_RESULT_OK, "no good message");
    seen_messages++;
    seen_decoded += message->decoded_length;
    return 0;
}

/* ---- The messages ----------------------------------------------------- */

static void
add_message(struct load *load, unsigned flag, const void *data, size_t len)
{
    uint8_t prefix[GRPCFRAME_PREFIX_LEN] = {
        (uint8_t)flag, (uint8_t)(len >> 24), (uint8_t)(len >> 16),
        (uint8_t)(len >> 8), (uint8_t)len};

    micro_buf_add(&load->body, prefix, sizeof(prefix));
    micro_buf_add(&load->body, data, len);
    load->messages++;
}

static void
fill_plain(struct load *load, size_t len, int n)
{
    struct micro_buf text = {NULL, 0, 0};

    micro_text(&text, len);
    load->text_len = len;
    for (int i = 0; i < n; i++)
        add_message(load, 0, text.data, len);
    free(text.data);
}

static void
fill_gzip(struct load *load, size_t len, int n)
{
    struct micro_buf text = {NULL, 0, 0};
    uint8_t *out = micro_alloc(len + 1024);
    z_stream z;

    micro_text(&text, len);
    load->text_len = len;
    memset(&z, 0, sizeof(z));
    micro_check(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + 15, 8,
                             Z_DEFAULT_STRATEGY) == Z_OK,
                "no memory");
    z.next_in = text.data;
    z.avail_in = (uInt)len;
    z.next_out = out;
    z.avail_out = (uInt)(len + 1024);
    micro_check(deflate(&z, Z_FINISH) == Z_STREAM_END, "deflate");
    for (int i = 0; i < n; i++)
        add_message(load, 1, out, z.total_out);
    deflateEnd(&z);
    free(out);
    free(text.data);
}

/* ---- grpcframe -------------------------------------------------------- */

static uint64_t
run_reader(const struct load *load)
{
    struct grpcframe_reader reader;
    uint64_t messages = seen_messages;
    uint64_t decoded = seen_decoded;

    grpcframe_reader_init(&reader, pool, GRPCFRAME_CODEC_GZIP, 0, on_message,
                          NULL);
    for (size_t at = 0; at < load->body.len; at += PIECE) {
        size_t left = load->body.len - at;

        grpcframe_reader_feed(&reader, load->body.data + at,
                              left < PIECE ? left : PIECE, at / PIECE, 1);
    }
    grpcframe_reader_clear(&reader);
    micro_check(seen_messages - messages == load->messages &&
                    seen_decoded - decoded == load->messages * load->text_len,
                "messages are missing");
    return load->messages;
}

static uint64_t
run_plain_small(void)
{
    return run_reader(&plain_small);
}

static uint64_t
run_plain_large(void)
{
    return run_reader(&plain_large);
}

static uint64_t
run_gzip_small(void)
{
    return run_reader(&gzip_small);
}

static uint64_t
run_gzip_large(void)
{
    return run_reader(&gzip_large);
}

static uint64_t
run_file(void)
{
    return run_reader(&file);
}

/* ---- zlib alone ------------------------------------------------------- */

/* As a program would do it that only wants the length: one stream, reset for
 * each message, and a scratch buffer. */
static uint64_t
run_zlib(const struct load *load)
{
    static z_stream z;
    static uint8_t scratch[65536];
    const uint8_t *at = load->body.data;

    if (z.state == NULL)
        micro_check(inflateInit2(&z, 16 + 15) == Z_OK, "no memory");
    for (uint64_t i = 0; i < load->messages; i++) {
        uint32_t len = (uint32_t)at[1] << 24 | (uint32_t)at[2] << 16 |
                       (uint32_t)at[3] << 8 | at[4];
        int status = Z_OK;

        inflateReset(&z);
        z.next_in = (Bytef *)(uintptr_t)(at + GRPCFRAME_PREFIX_LEN);
        z.avail_in = len;
        while (status == Z_OK) {
            z.next_out = scratch;
            z.avail_out = sizeof(scratch);
            status = inflate(&z, Z_NO_FLUSH);
        }
        micro_check(status == Z_STREAM_END && z.total_out == load->text_len,
                    "inflate");
        at += GRPCFRAME_PREFIX_LEN + len;
    }
    return load->messages;
}

static uint64_t
run_gzip_small_zlib(void)
{
    return run_zlib(&gzip_small);
}

static uint64_t
run_gzip_large_zlib(void)
{
    return run_zlib(&gzip_large);
}

static uint64_t
run_file_zlib(void)
{
    return run_zlib(&file);
}

/* ---------------------------------------------------------------------- */

static void
read_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *in = fopen(path, "rb");
    size_t len;

    micro_check(in != NULL, "cannot open the file");
    len = fread(data, 1, sizeof(data), in);
    fclose(in);
    micro_check(len > 18 + GRPCFRAME_PREFIX_LEN && data[0] == 1,
                "the file is no compressed message");
    /* The length of the text is at the end of a gzip member. */
    file.text_len = (size_t)data[len - 4] | (size_t)data[len - 3] << 8 |
                    (size_t)data[len - 2] << 16 | (size_t)data[len - 1] << 24;
    for (int i = 0; i < 8; i++)
        add_message(&file, 1, data + GRPCFRAME_PREFIX_LEN,
                    len - GRPCFRAME_PREFIX_LEN);
}

int
main(int argc, char **argv)
{
    struct micro_options options = micro_options_parse(argc, argv);
    struct micro_bench benches[] = {
        {"plain_100", "message", run_plain_small, 100, {0}},
        {"plain_64k", "message", run_plain_large, 65536, {0}},
        {"gzip_1k", "message", run_gzip_small, 1024, {0}},
        {"gzip_1k_zlib", "message", run_gzip_small_zlib, 1024, {0}},
        {"gzip_64k", "message", run_gzip_large, 65536, {0}},
        {"gzip_64k_zlib", "message", run_gzip_large_zlib, 65536, {0}},
        {"file", "message", run_file, 0, {0}},
        {"file_zlib", "message", run_file_zlib, 0, {0}},
    };
    size_t n = sizeof(benches) / sizeof(benches[0]);

    micro_check(
        grpcframe_pool_new(&pool, GRPCFRAME_POOL_DEFAULT_BYTES) == 0, "pool");
    fill_plain(&plain_small, 100, 4096);
    fill_plain(&plain_large, 65536, 32);
    fill_gzip(&gzip_small, 1024, 256);
    fill_gzip(&gzip_large, 65536, 8);
    if (options.file != NULL) {
        read_file(options.file);
        benches[n - 2].bytes = file.text_len;
        benches[n - 1].bytes = file.text_len;
    } else
        n -= 2;
    return micro_run(&options, benches, n);
}
