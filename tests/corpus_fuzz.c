/* SPDX-License-Identifier: MIT */
/*
 * Plays what other projects' fuzzers found worth keeping: raw bytes of one
 * side of an HTTP/2 connection, alone and with a plausible other side.  There
 * is no right answer; but events must not depend on the cuts, the ledger must
 * balance, and nothing may crash or hang.
 *
 *     corpus_fuzz [CORPORA]
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../grpcframe/grpcframe.h"
#include "corpus.h"
#include "vector_frame.h"
#include "vector_hpack.h"

/* HANG_S is how long one file may take; then the alarm ends the program. */
#define HANG_S 120

static struct vector_buf *
send_from(struct vector_script *script, enum side from)
{
    return &vector_script_add(script, VECTOR_STEP_BYTES, from, 0)->bytes;
}

static void
field(struct vector_buf *block, const char *name, const char *value)
{
    vector_hpack_field(block, VECTOR_HPACK_PLAIN, 0, name, strlen(name), value,
                       strlen(value));
}

static void
send_block(struct vector_script *script, enum side from, unsigned flags,
           const struct vector_buf *block)
{
    struct vector_buf *out = send_from(script, from);

    vector_frame_head(out, block->len, VECTOR_FRAME_HEADERS, flags, 1);
    vector_buf_add(out, block->data, block->len);
}

/* client_plausible plays a whole gRPC request on stream 1. */
static void
client_plausible(struct vector_script *script)
{
    struct vector_buf block = {0};
    struct vector_buf *out = send_from(script, SIDE_CLIENT);

    vector_buf_add(out, VECTOR_PREFACE, VECTOR_PREFACE_LEN);
    vector_frame_head(out, 0, VECTOR_FRAME_SETTINGS, 0, 0);
    field(&block, ":method", "POST");
    field(&block, ":scheme", "http");
    field(&block, ":path", "/foo/bar");
    field(&block, ":authority", "test");
    field(&block, "content-type", "application/grpc");
    field(&block, "grpc-accept-encoding", "identity,deflate,gzip");
    field(&block, "te", "trailers");
    send_block(script, SIDE_CLIENT, VECTOR_FLAG_END_HEADERS, &block);
    out = send_from(script, SIDE_CLIENT);
    vector_frame_head(out, 10, VECTOR_FRAME_DATA, VECTOR_FLAG_END_STREAM, 1);
    vector_buf_add(out, "\0\0\0\0\5hello", 10);
    vector_buf_clear(&block);
}

/* server_plausible plays SETTINGS, an ACK and a whole response on stream 1. */
static void
server_plausible(struct vector_script *script)
{
    struct vector_buf block = {0};
    struct vector_buf *out = send_from(script, SIDE_SERVER);

    vector_frame_head(out, 6, VECTOR_FRAME_SETTINGS, 0, 0);
    vector_buf_add(out, "\0\1\0\0\x20\0", 6);
    vector_frame_head(out, 0, VECTOR_FRAME_SETTINGS, 1, 0);
    field(&block, ":status", "200");
    field(&block, "content-type", "application/grpc");
    send_block(script, SIDE_SERVER, VECTOR_FLAG_END_HEADERS, &block);
    out = send_from(script, SIDE_SERVER);
    vector_frame_head(out, 7, VECTOR_FRAME_DATA, 0, 1);
    vector_buf_add(out, "\0\0\0\0\2hi", 7);
    block.len = 0;
    field(&block, "grpc-status", "0");
    send_block(script, SIDE_SERVER,
               VECTOR_FLAG_END_HEADERS | VECTOR_FLAG_END_STREAM, &block);
    vector_buf_clear(&block);
}

/* enum variant is what stands around the bytes of a file. */
enum variant {
    VARIANT_ALONE,
    VARIANT_PLAUSIBLE, /* with an other side */
    VARIANT_PREFACE,   /* also after a preface, where there is none */
    VARIANTS
};

static void
variant_build(struct vector_script *script, enum variant variant,
              enum side from, const struct vector_buf *bytes)
{
    struct vector_buf *out;

    if (variant != VARIANT_ALONE && from == SIDE_SERVER) {
        client_plausible(script);
    }
    if (variant == VARIANT_PREFACE) {
        out = send_from(script, from);
        if (from == SIDE_CLIENT) {
            vector_buf_add(out, VECTOR_PREFACE, VECTOR_PREFACE_LEN);
        }
        vector_frame_head(out, 0, VECTOR_FRAME_SETTINGS, 0, 0);
    }
    out = send_from(script, from);
    vector_buf_add(out, bytes->data, bytes->len);
    if (variant != VARIANT_ALONE && from == SIDE_CLIENT) {
        server_plausible(script);
    }
}

static void
stream_play(const char *path, enum side from, struct vector_buf *problem)
{
    struct vector_buf bytes = {0};

    if (vector_file_read(&bytes, path) != 0) {
        vector_format(problem, "cannot be read");
    }
    for (int i = 0; i < VARIANTS && problem->len == 0; i++) {
        struct vector_script script;
        struct vector_lines lines;

        memset(&script, 0, sizeof(script));
        script.config.events = vector_tap_all_events;
        script.config.max_decoded_bytes = 64u << 20;
        variant_build(&script, (enum variant)i, from, &bytes);
        if (i == VARIANT_PREFACE && from == SIDE_CLIENT &&
            memcmp(bytes.data, VECTOR_PREFACE,
                   bytes.len < VECTOR_PREFACE_LEN ? bytes.len
                                                  : VECTOR_PREFACE_LEN) == 0) {
            vector_script_clear(&script);
            continue;
        }
        corpus_play(&script, 3, &lines, problem);
        vector_lines_clear(&lines);
        vector_script_clear(&script);
        if (problem->len > 0) {
            vector_format(problem, " (variant %d)", i);
        }
    }
    vector_buf_clear(&bytes);
}

static int
hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* percent_expect decodes |in| the way the text of the gRPC protocol says, as
 * plainly as possible. */
static void
percent_expect(struct vector_buf *out, const struct vector_buf *in,
               int *malformed)
{
    for (size_t i = 0; i < in->len; i++) {
        int high = i + 2 < in->len ? hex_value(in->data[i + 1]) : -1;
        int low = i + 2 < in->len ? hex_value(in->data[i + 2]) : -1;

        if (in->data[i] == '%' && high >= 0 && low >= 0) {
            vector_buf_be(out, (unsigned)high * 16u + (unsigned)low, 1);
            i += 2;
        } else {
            *malformed |= in->data[i] == '%';
            vector_buf_add(out, in->data + i, 1);
        }
    }
}

static void
percent_play(const char *path, struct vector_buf *problem)
{
    struct vector_buf in = {0};
    struct vector_buf want = {0};
    int want_malformed = 0;
    int malformed = 0;
    char *copy;
    char *out;
    size_t len;

    if (vector_file_read(&in, path) != 0) {
        vector_format(problem, "cannot be read");
        return;
    }
    percent_expect(&want, &in, &want_malformed);
    copy = vector_alloc(in.len + (in.len == 0));
    out = vector_alloc(in.len + (in.len == 0));
    memcpy(copy, in.data, in.len);
    len = grpcframe_percent_decode(out, copy, in.len, &malformed);
    if (len != want.len || (len > 0 && memcmp(out, want.data, len) != 0) ||
        malformed != want_malformed) {
        vector_format(problem, "percent-decoding is different");
    }
    free(copy);
    free(out);
    vector_buf_clear(&in);
    vector_buf_clear(&want);
}

int
main(int argc, char **argv)
{
    char *directory = corpus_directory(argc, argv, "fuzz");
    struct corpus corpus;

    memset(&corpus, 0, sizeof(corpus));
    corpus_add(&corpus, directory, "");
    for (size_t i = 0; i < corpus.n_files; i++) {
        const char *path = corpus.files[i];
        struct vector_buf problem = {0};

        alarm(HANG_S);
        if (strstr(path, "percent_decode") != NULL) {
            percent_play(path, &problem);
        } else {
            stream_play(path,
                        strstr(path, "client_fuzzer") != NULL ? SIDE_SERVER
                                                              : SIDE_CLIENT,
                        &problem);
        }
        corpus_result(&corpus, path, &problem);
    }
    alarm(0);
    free(directory);
    return corpus_end(&corpus);
}
