/* SPDX-License-Identifier: MIT */
/*
 * corpus_compress [DIR]: golden and faulty files of brotli, zstd, snappy and
 * gzip that others wrote, through grpcframe; whole, byte by byte and in
 * random cuts.  DIR holds compress/ (default: $GRPCTAP_CORPORA, or
 * ../shared/corpora).  Prints `N passed, N failed`; 77 where there is no DIR.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "../grpcframe/grpcframe.h"
#include "vector_codec.h"

/* CUTS is how many random cuts a body is played in. */
#define CUTS 20

/* Byte by byte only up to this length, for time's sake. */
#define BYTES_MAX 200000

/* enum verdict is what must come of a body. */
enum verdict { VERDICT_GOOD, VERDICT_FAULTY };

/* struct outcome is what came of it. */
struct outcome {
    /* result is what the decoder said. */
    enum grpcframe_result result;
    /* length and offset are the decoder's. */
    uint64_t length;
    uint64_t offset;
    /* output is what came out. */
    struct vector_buf output;
};

static struct grpcframe_pool *pool;
static unsigned n_passed;
static unsigned n_failed;
static uint32_t seed = 1;

static size_t
random_below(size_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (size_t)(seed >> 8) % limit;
}

static int
keep_output(const uint8_t *data, size_t len, void *user)
{
    vector_buf_add(user, data, len);
    return 0;
}

/* Feeds pieces of 1 to |piece_max| bytes. */
static void
play(enum grpcframe_codec codec, const struct vector_buf *body,
     size_t piece_max, struct outcome *outcome)
{
    struct grpcframe_decoder *decoder;
    size_t n;

    memset(outcome, 0, sizeof(*outcome));
    decoder =
        grpcframe_decoder_get(pool, codec, 0, keep_output, &outcome->output);
    if (decoder == NULL)
        vector_die("no decoder");
    for (size_t at = 0; at < body->len; at += n) {
        n = 1 + random_below(piece_max);
        if (piece_max >= body->len || n > body->len - at)
            n = body->len - at;
        grpcframe_decoder_feed(decoder, body->data + at, n);
    }
    outcome->result = grpcframe_decoder_finish(decoder);
    outcome->length = grpcframe_decoder_length(decoder);
    outcome->offset = grpcframe_decoder_offset(decoder);
    grpcframe_decoder_put(decoder);
}

static int
buf_equal(const struct vector_buf *a, const struct vector_buf *b)
{
    return a->len == b->len &&
           (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* Returns what is wrong with the outcome of a body, or NULL. */
static const char *
judge(const struct outcome *outcome, const struct vector_buf *body,
      enum verdict verdict, const struct vector_buf *content)
{
    int is_good = outcome->result == GRPCFRAME_RESULT_OK;

    if (is_good && verdict == VERDICT_FAULTY)
        return "a faulty body passed for good";
    if (!is_good && verdict == VERDICT_GOOD)
        return grpcframe_result_reason(outcome->result);
    if (outcome->offset > body->len)
        return "the offset is outside the body";
    if (is_good && content != NULL && !buf_equal(&outcome->output, content))
        return "the content differs";
    if (outcome->length != outcome->output.len &&
        outcome->result != GRPCFRAME_RESULT_CORRUPT)
        return "length and output differ";
    return NULL;
}

static const char *
play_cuts(enum grpcframe_codec codec, const struct vector_buf *body,
          const struct outcome *whole)
{
    const char *problem = NULL;

    for (unsigned i = 0; i < CUTS && problem == NULL; i++) {
        size_t piece_max = 1 + random_below(body->len + 1);
        struct outcome cut;

        if (i == 0 && body->len <= BYTES_MAX)
            piece_max = 1;
        play(codec, body, piece_max, &cut);
        if (cut.result != whole->result || cut.length != whole->length ||
            cut.offset != whole->offset ||
            !buf_equal(&cut.output, &whole->output))
            problem = "the outcome depends on the cuts";
        vector_buf_clear(&cut.output);
    }
    return problem;
}

/* |content| is what must come out of a good body; NULL if not known. */
static void
check(const char *path, enum grpcframe_codec codec,
      const struct vector_buf *body, enum verdict verdict,
      const struct vector_buf *content)
{
    struct outcome whole;
    const char *problem;

    play(codec, body, body->len, &whole);
    problem = judge(&whole, body, verdict, content);
    if (problem == NULL)
        problem = play_cuts(codec, body, &whole);
    vector_buf_clear(&whole.output);
    if (problem == NULL) {
        n_passed++;
        return;
    }
    n_failed++;
    printf("%s: %s\n", path, problem);
}

/* ---- Files ----------------------------------------------------------- */

/* file_check is called with each file of a directory. */
typedef void (*file_check)(const char *path, const struct vector_buf *content);

static int
is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void
each_file(const char *root, const char *directory, file_check function)
{
    struct dirent **entries;
    char path[4096];
    int n;

    snprintf(path, sizeof(path), "%s/%s", root, directory);
    n = scandir(path, &entries, is_visible, alphasort);
    if (n <= 0) {
        printf("%s: nothing there\n", path);
        n_failed++;
        return;
    }
    for (int i = 0; i < n; i++) {
        struct vector_buf content = {0};

        snprintf(path, sizeof(path), "%s/%s/%s", root, directory,
                 entries[i]->d_name);
        if (vector_file_read(&content, path) == 0) {
            function(path, &content);
        } else {
            printf("%s: cannot be read\n", path);
            n_failed++;
        }
        vector_buf_clear(&content);
        free(entries[i]);
    }
    free(entries);
}

/* What libraries write must come back. */
static void
check_encoded(const char *path, const char *name, enum grpcframe_codec codec,
              const struct vector_buf *content)
{
    struct vector_buf body = {0};

    if (vector_codec_encode(&body, name, content->data, content->len) != 0)
        vector_die("no encoder %s", name);
    check(path, codec, &body, VERDICT_GOOD, content);
    vector_buf_clear(&body);
}

/* x.compressed and x.compressed.NN decode to x. */
static void
check_brotli(const char *path, const struct vector_buf *body)
{
    const char *suffix = strstr(path, ".compressed");
    struct vector_buf content = {0};
    char plain[4096];

    if (suffix == NULL) {
        check_encoded(path, "br", GRPCFRAME_CODEC_BR, body);
        return;
    }
    snprintf(plain, sizeof(plain), "%.*s", (int)(suffix - path), path);
    if (vector_file_read(&content, plain) != 0)
        vector_die("%s has no plain twin", path);
    check(path, GRPCFRAME_CODEC_BR, body, VERDICT_GOOD, &content);
    vector_buf_clear(&content);
}

/* ---- zstd ------------------------------------------------------------ */

/* Decodes in one call, as a second opinion; returns 0 or -1. */
static int
zstd_reference(const struct vector_buf *body, struct vector_buf *content)
{
    size_t room = 4 << 20;
    size_t n = ZSTD_decompress(vector_buf_room(content, room), room, body->data,
                               body->len);

    if (ZSTD_isError(n))
        return -1;
    content->len = n;
    return 0;
}

/* Older versions of libzstd judge a few of these files the other way round:
 * the files came with the fixes.  grpcframe leaves the content of frames to
 * libzstd and must agree with the one it is linked with, which is printed.
 */
static void
check_zstd(const char *path, const struct vector_buf *body,
           enum verdict verdict)
{
    struct vector_buf content = {0};
    int is_good = zstd_reference(body, &content) == 0;

    if (is_good != (verdict == VERDICT_GOOD)) {
        printf("%s: %s by libzstd %s\n", path,
               is_good ? "accepted" : "rejected", ZSTD_versionString());
        verdict = is_good ? VERDICT_GOOD : VERDICT_FAULTY;
    }
    check(path, GRPCFRAME_CODEC_ZSTD, body, verdict, is_good ? &content : NULL);
    vector_buf_clear(&content);
}

static void
check_zstd_good(const char *path, const struct vector_buf *body)
{
    check_zstd(path, body, VERDICT_GOOD);
}

static void
check_zstd_faulty(const char *path, const struct vector_buf *body)
{
    check_zstd(path, body, VERDICT_FAULTY);
}

static void
check_zstd_plain(const char *path, const struct vector_buf *content)
{
    static const int levels[] = {-5, 1, 3, 9, 19};

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        struct vector_buf body = {0};
        size_t room = ZSTD_compressBound(content->len);
        size_t n = ZSTD_compress(vector_buf_room(&body, room), room,
                                 content->data, content->len, levels[i]);

        if (ZSTD_isError(n))
            vector_die("zstd: %s", ZSTD_getErrorName(n));
        body.len = n;
        check(path, GRPCFRAME_CODEC_ZSTD, &body, VERDICT_GOOD, content);
        vector_buf_clear(&body);
    }
    check_encoded(path, "zstd_checksum", GRPCFRAME_CODEC_ZSTD, content);
}

/* A frame that needs a dictionary is a clean error. */
static void
check_zstd_dictionary(const char *path, const struct vector_buf *dictionary)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: example\r\n\r\n";
    struct vector_buf body = {0};
    ZSTD_CCtx *cctx = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(sizeof(text));
    size_t n = ZSTD_compress_usingDict(cctx, vector_buf_room(&body, room), room,
                                       text, sizeof(text), dictionary->data,
                                       dictionary->len, 3);

    ZSTD_freeCCtx(cctx);
    /* A dictionary that libzstd refuses is itself no frame. */
    if (ZSTD_isError(n))
        vector_buf_add(&body, dictionary->data, dictionary->len);
    else
        body.len = n;
    check(path, GRPCFRAME_CODEC_ZSTD, &body, VERDICT_FAULTY, NULL);
    vector_buf_clear(&body);
}

/* ---- snappy ---------------------------------------------------------- */

static void
check_snappy(const char *path, const struct vector_buf *content)
{
    if (strstr(path, "/baddata") != NULL) {
        check(path, GRPCFRAME_CODEC_SNAPPY, content, VERDICT_FAULTY, NULL);
        return;
    }
    check_encoded(path, "snappy", GRPCFRAME_CODEC_SNAPPY, content);
    check_encoded(path, "snappy_block", GRPCFRAME_CODEC_SNAPPY, content);
}

/* ---- gzip ------------------------------------------------------------ */

/* Decodes all members in one go, as a second opinion; returns 0 or -1. */
static int
gzip_reference(const struct vector_buf *body, struct vector_buf *content)
{
    size_t room = 16 << 20;
    int code = Z_STREAM_END;
    z_stream z;

    memset(&z, 0, sizeof(z));
    if (inflateInit2(&z, 31) != Z_OK)
        vector_die("inflateInit2");
    z.next_in = body->data;
    z.avail_in = (uInt)body->len;
    z.next_out = vector_buf_room(content, room);
    z.avail_out = (uInt)room;
    while (code == Z_STREAM_END && z.avail_in > 0) {
        inflateReset(&z);
        code = inflate(&z, Z_FINISH);
    }
    content->len = room - z.avail_out;
    inflateEnd(&z);
    return code == Z_STREAM_END ? 0 : -1;
}

static void
check_gzip(const char *path, const struct vector_buf *body)
{
    struct vector_buf content = {0};
    enum verdict verdict =
        gzip_reference(body, &content) == 0 ? VERDICT_GOOD : VERDICT_FAULTY;

    check(path, GRPCFRAME_CODEC_GZIP, body, verdict, &content);
    vector_buf_clear(&content);
}

/* ---- Main ------------------------------------------------------------ */

static const char *
corpora_root(int argc, char **argv)
{
    const char *root = getenv("GRPCTAP_CORPORA");

    if (argc > 1)
        return argv[1];
    return root != NULL ? root : "../shared/corpora";
}

int
main(int argc, char **argv)
{
    const char *root = corpora_root(argc, argv);
    char compress[4096];
    DIR *dir;

    snprintf(compress, sizeof(compress), "%s/compress", root);
    dir = opendir(compress);
    if (dir == NULL) {
        printf("skipped: there is no %s\n", compress);
        return 77;
    }
    closedir(dir);
    if (grpcframe_pool_new(&pool, GRPCFRAME_POOL_DEFAULT_BYTES) != 0)
        vector_die("out of memory");
    each_file(compress, "brotli-testdata", check_brotli);
    each_file(compress, "zstd/golden-decompression", check_zstd_good);
    each_file(compress, "zstd/golden-decompression-errors", check_zstd_faulty);
    each_file(compress, "zstd/golden-compression", check_zstd_plain);
    each_file(compress, "zstd/golden-dictionaries", check_zstd_dictionary);
    each_file(compress, "zstd/dict-files", check_zstd_dictionary);
    each_file(compress, "snappy-testdata", check_snappy);
    each_file(compress, "go-fuzz-gzip", check_gzip);
    grpcframe_pool_free(pool);
    printf("%u passed, %u failed\n", n_passed, n_failed);
    return n_failed > 0;
}
