/* SPDX-License-Identifier: MIT */
/* Header blocks that come again: whatever is remembered of them, what is
 * reported is what was encoded.  A connection that is fed frame by frame, and
 * so may remember, against one fed byte by byte, which never sees a block
 * whole, and both against the encoder's input; blocks that are cut into
 * CONTINUATION and those of PUSH_PROMISE in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../h2dec/conn.h"
#include "../../h2dec/recent.h"

#define BLOCKS 20000
#define FIELDS_MAX 20
#define FRAME_MAX 9000

#define HEADER_TABLE_SIZE 1

/* struct log is the fields that |side| has sent last, as text, and how often
 * that was. */
struct log {
    enum h2dec_side side;
    char text[FRAME_MAX];
    size_t len;
    unsigned blocks;
    unsigned promises;
    unsigned faults;
};

static void
add(struct log *log, const char *text, size_t len)
{
    assert_true(log->len + len + 1 < sizeof(log->text));
    memcpy(log->text + log->len, text, len);
    log->len += len;
    log->text[log->len++] = '\n';
}

static int
on_headers(const struct h2dec_headers *headers, struct h2dec_stream *stream,
           void *user)
{
    struct log *log = user;

    (void)stream;
    assert_int_equal(headers->known, 1);
    if (headers->side != log->side) {
        return 0;
    }
    log->len = 0;
    log->promises += headers->block == H2DEC_BLOCK_PROMISE;
    log->blocks++;
    for (size_t i = 0; i < headers->n_fields; i++) {
        add(log, headers->fields[i].name, headers->fields[i].name_len);
        add(log, headers->fields[i].value, headers->fields[i].value_len);
    }
    assert_int_equal(headers->list_bytes, log->len - 2 * headers->n_fields);
    return 0;
}

static int
on_fault(const struct h2dec_fault *fault, void *user)
{
    struct log *log = user;

    (void)fault;
    log->faults++;
    return 0;
}

static const struct h2dec_callbacks callbacks = {.headers = on_headers,
                                                 .fault = on_fault};

/* struct rig is the two connections and the encoder. */
struct rig {
    struct h2dec_conn *whole;
    struct h2dec_conn *cut;
    struct log of_whole;
    struct log of_cut;
    /* encoder is for the blocks of |side|. */
    nghttp2_hd_deflater *encoder;
    enum h2dec_side side;
    uint32_t stream;
    uint32_t promised;
    uint32_t seed;
    /* hits counts blocks that were known when they came, promise_hits those of
     * PUSH_PROMISE among them, cuts those that were cut. */
    unsigned hits;
    unsigned promise_hits;
    unsigned cuts;
};

static uint32_t
pick(struct rig *rig, uint32_t n)
{
    rig->seed = rig->seed * 1664525u + 1013904223u;
    return (rig->seed >> 8) % n;
}

static void
feed(struct rig *rig, enum h2dec_side side, const uint8_t *data, size_t len)
{
    assert_int_equal(h2dec_conn_feed(rig->whole, side, data, len, 0), 0);
    for (size_t i = 0; i < len; i++) {
        assert_int_equal(h2dec_conn_feed(rig->cut, side, data + i, 1, 0), 0);
    }
}

static size_t
frame_header(uint8_t *out, size_t len, uint8_t type, uint8_t flags,
             uint32_t stream)
{
    const uint8_t header[9] = {
        (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,
        type, flags, (uint8_t)(stream >> 24), (uint8_t)(stream >> 16),
        (uint8_t)(stream >> 8), (uint8_t)stream};

    memcpy(out, header, sizeof(header));
    return sizeof(header);
}

/* The other side allows another table size, |side| agrees. */
static void
resize(struct rig *rig, uint32_t size)
{
    uint8_t frame[15];
    size_t len = frame_header(frame, 6, H2DEC_SETTINGS, 0, 0);

    frame[len] = 0;
    frame[len + 1] = HEADER_TABLE_SIZE;
    frame[len + 2] = (uint8_t)(size >> 24);
    frame[len + 3] = (uint8_t)(size >> 16);
    frame[len + 4] = (uint8_t)(size >> 8);
    frame[len + 5] = (uint8_t)size;
    feed(rig, !rig->side, frame, len + 6);
    feed(rig, rig->side, frame,
         frame_header(frame, 0, H2DEC_SETTINGS, H2DEC_FLAG_ACK, 0));
    assert_int_equal(nghttp2_hd_deflate_change_table_size(rig->encoder, size),
                     0);
}

/* Few names and values; some are never added to the table, some push others out
 * of it. */
static size_t
make_fields(struct rig *rig, nghttp2_nv *fields, struct log *expected)
{
    static char names[] = "a\0b\0:path\0content-type\0te\0x-long-name";
    static const size_t at[] = {0, 2, 4, 10, 23, 26};
    static char values[300];
    /* One field alone is an index that soon means another. */
    size_t n = pick(rig, 4) == 0 ? pick(rig, FIELDS_MAX + 1) : 1;

    memset(values, 'v', sizeof(values));
    expected->len = 0;
    for (size_t i = 0; i < n; i++) {
        char *name = names + at[pick(rig, 6)];

        fields[i].name = (uint8_t *)name;
        fields[i].namelen = strlen(name);
        fields[i].value = (uint8_t *)values;
        fields[i].valuelen = pick(rig, 20) == 0 ? 280 : pick(rig, 3);
        fields[i].flags = pick(rig, 4) == 0 ? NGHTTP2_NV_FLAG_NO_INDEX
                                            : NGHTTP2_NV_FLAG_NONE;
        add(expected, name, fields[i].namelen);
        add(expected, values, fields[i].valuelen);
    }
    return n;
}

/* open_stream makes a request that the server can answer. */
static void
open_stream(struct rig *rig)
{
    uint8_t frame[10];
    size_t at = frame_header(frame, 1, H2DEC_HEADERS, H2DEC_FLAG_END_HEADERS,
                             rig->stream);

    frame[at] = 0x82; /* :method: GET, which leaves the table as it is */
    feed(rig, H2DEC_CLIENT, frame, at + 1);
}

static void
reset(struct rig *rig, uint32_t stream)
{
    uint8_t frame[13];
    size_t at = frame_header(frame, 4, H2DEC_RST_STREAM, 0, stream);

    memset(frame + at, 0, 4);
    feed(rig, H2DEC_CLIENT, frame, at + 4);
}

/* send_first sends |len| bytes of a block in HEADERS or PUSH_PROMISE, some
 * with padding. */
static void
send_first(struct rig *rig, uint8_t type, uint8_t flags, const uint8_t *block,
           size_t len)
{
    uint8_t frame[FRAME_MAX + 20];
    uint8_t padded = pick(rig, 8) == 0;
    size_t fixed = type == H2DEC_PUSH_PROMISE ? 4 : 0;
    size_t at = frame_header(
        frame, len + fixed + 4u * padded, type,
        (uint8_t)(flags | (padded ? H2DEC_FLAG_PADDED : 0)), rig->stream);

    if (padded) {
        frame[at++] = 3;
    }
    memset(frame + at, 0, fixed);
    if (fixed > 0) {
        frame[at + 2] = (uint8_t)(rig->promised >> 8);
        frame[at + 3] = (uint8_t)rig->promised;
    }
    at += fixed;
    memcpy(frame + at, block, len);
    memset(frame + at + len, 0, 3);
    feed(rig, rig->side, frame, at + len + 3u * padded);
}

static void
send_rest(struct rig *rig, const uint8_t *block, size_t len)
{
    uint8_t frame[FRAME_MAX + 20];
    size_t at = frame_header(frame, len, H2DEC_CONTINUATION,
                             H2DEC_FLAG_END_HEADERS, rig->stream);

    memcpy(frame + at, block, len);
    feed(rig, rig->side, frame, at + len);
}

static void
count_hit(struct rig *rig, uint8_t type, const uint8_t *block, size_t len)
{
    if (h2dec_recent_find(&rig->whole->dir[rig->side].recent, block, len) !=
        NULL) {
        rig->hits++;
        rig->promise_hits += type == H2DEC_PUSH_PROMISE;
    }
}

static void
send_block(struct rig *rig, const uint8_t *block, size_t len)
{
    int is_cut = pick(rig, 8) == 0;
    size_t first = is_cut ? pick(rig, (uint32_t)len + 1) : len;
    uint8_t type = H2DEC_HEADERS;

    rig->stream += 2;
    if (rig->side == H2DEC_SERVER) {
        open_stream(rig);
        type = pick(rig, 2) == 0 ? H2DEC_PUSH_PROMISE : H2DEC_HEADERS;
        rig->promised += type == H2DEC_PUSH_PROMISE ? 2 : 0;
    }
    if (!is_cut) {
        count_hit(rig, type, block, len);
    }
    rig->cuts += (unsigned)is_cut;
    send_first(rig, type, is_cut ? 0 : H2DEC_FLAG_END_HEADERS, block, first);
    if (is_cut) {
        send_rest(rig, block + first, len - first);
    }
    /* The stream ends, or there would soon be too many. */
    reset(rig, rig->stream);
    if (type == H2DEC_PUSH_PROMISE) {
        reset(rig, rig->promised);
    }
}

static void
one_block(struct rig *rig)
{
    nghttp2_nv fields[FIELDS_MAX];
    uint8_t block[FRAME_MAX];
    struct log expected;
    uint32_t goes_on = rig->seed;
    size_t n;
    ssize_t len;

    /* Most are one of a few, which come again. */
    if (pick(rig, 16) != 0) {
        rig->seed = 1000003u * pick(rig, 12);
    }
    n = make_fields(rig, fields, &expected);
    rig->seed = goes_on * 69069u + 1;
    len = nghttp2_hd_deflate_hd(rig->encoder, block, sizeof(block), fields, n);
    assert_true(len >= 0);
    send_block(rig, block, (size_t)len);
    assert_int_equal(rig->of_whole.len, expected.len);
    assert_memory_equal(rig->of_whole.text, expected.text, expected.len);
    assert_int_equal(rig->of_cut.len, expected.len);
    assert_memory_equal(rig->of_cut.text, expected.text, expected.len);
}

/* play sends blocks of |side|, and returns what came of it in |rig|. */
static void
play(struct rig *rig, enum h2dec_side side)
{
    static const uint8_t preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                     "\0\0\0\4\0\0\0\0\0";
    static const uint8_t ack[] = "\0\0\0\4\1\0\0\0\0";

    memset(rig, 0, sizeof(*rig));
    rig->seed = 7;
    rig->side = side;
    rig->of_whole.side = side;
    rig->of_cut.side = side;
    rig->stream = (uint32_t)-1;
    assert_int_equal(h2dec_conn_new(&rig->whole, &callbacks, &rig->of_whole),
                     0);
    assert_int_equal(h2dec_conn_new(&rig->cut, &callbacks, &rig->of_cut), 0);
    assert_int_equal(nghttp2_hd_deflate_new(&rig->encoder, 4096), 0);
    feed(rig, H2DEC_CLIENT, preface, sizeof(preface) - 1);
    feed(rig, H2DEC_SERVER, preface + 24, 9);
    feed(rig, H2DEC_CLIENT, ack, 9);
    feed(rig, H2DEC_SERVER, ack, 9);
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (pick(rig, 200) == 0) {
            resize(rig, pick(rig, 5) * 500);
        }
        one_block(rig);
    }
    assert_int_equal(rig->of_whole.blocks, BLOCKS);
    assert_int_equal(rig->of_cut.blocks, BLOCKS);
    assert_int_equal(rig->of_whole.faults + rig->of_cut.faults, 0);
    /* Or all this would have shown nothing. */
    assert_in_range(rig->hits, BLOCKS / 20, BLOCKS);
    assert_in_range(rig->cuts, BLOCKS / 20, BLOCKS / 3);
    nghttp2_hd_deflate_del(rig->encoder);
    h2dec_conn_free(rig->whole);
    h2dec_conn_free(rig->cut);
}

static void
test_same_fields(void **state)
{
    static struct rig rig;

    (void)state;
    play(&rig, H2DEC_CLIENT);
    play(&rig, H2DEC_SERVER);
    assert_int_equal(rig.of_cut.promises, rig.of_whole.promises);
    assert_in_range(rig.of_whole.promises, BLOCKS / 3, BLOCKS * 2 / 3);
    assert_in_range(rig.promise_hits, BLOCKS / 60, BLOCKS);
}

/* ---- What is remembered ---------------------------------------------- */

static int
remembers(const uint8_t *block, size_t len)
{
    const struct h2dec_field field = {"", "", 0, 0};
    struct recent recent = {.next = 0};
    int found;

    h2dec_recent_offer(&recent, block, len);
    assert_null(h2dec_recent_find(&recent, block, len));
    h2dec_recent_keep(&recent, &field, 1, field.name, 0);
    found = h2dec_recent_find(&recent, block, len) != NULL;
    h2dec_recent_forget(&recent);
    assert_null(h2dec_recent_find(&recent, block, len));
    h2dec_recent_clear(&recent);
    return found;
}

#define REMEMBERS(bytes) remembers((const uint8_t *)(bytes), sizeof(bytes) - 1)

static void
test_what_leaves_the_table(void **state)
{
    static uint8_t longest[H2DEC_RECENT_LEN_MAX + 1];

    (void)state;
    assert_true(REMEMBERS("\x82\xbe"));               /* indexed */
    assert_true(REMEMBERS("\xff\x80\x01\x84"));       /* a long index */
    assert_true(REMEMBERS("\x04\x01/"));              /* without indexing */
    assert_true(REMEMBERS("\x0f\x01\x01/"));          /* a long index */
    assert_true(REMEMBERS("\x10\x01" "a\x81\x8f"));   /* never indexed */
    assert_false(REMEMBERS("\x82\x44\x01/"));         /* incremental */
    assert_false(REMEMBERS("\x40\x01" "a\x01" "b"));
    assert_false(REMEMBERS("\x20\x82"));              /* size update */
    assert_false(REMEMBERS("\x3f\xe1\x1f\x82"));
    assert_false(REMEMBERS("\x04"));                  /* cut short */
    assert_false(REMEMBERS("\x04\x05/"));
    assert_false(REMEMBERS("\xff"));
    assert_false(REMEMBERS("\xff\x80\x80\x80\x80\x01")); /* no such index */
    assert_false(REMEMBERS("\x00"));
    memset(longest, 0x82, sizeof(longest));
    assert_true(remembers(longest, H2DEC_RECENT_LEN_MAX));
    assert_false(remembers(longest, H2DEC_RECENT_LEN_MAX + 1));
}

/* The limits of what a block may mean, and the oldest goes first. */
static void
test_limits(void **state)
{
    static char text[H2DEC_RECENT_TEXT_MAX + 1];
    struct h2dec_field fields[H2DEC_RECENT_FIELDS_MAX + 1];
    struct recent recent = {.next = 0};
    uint8_t block[1];

    (void)state;
    for (unsigned i = 0; i <= H2DEC_RECENT_FIELDS_MAX; i++) {
        fields[i] = (struct h2dec_field){text, text, 0, 0};
    }
    block[0] = 0x82;
    h2dec_recent_offer(&recent, block, 1);
    h2dec_recent_keep(&recent, fields, H2DEC_RECENT_FIELDS_MAX + 1, text, 0);
    assert_null(h2dec_recent_find(&recent, block, 1));
    h2dec_recent_offer(&recent, block, 1);
    h2dec_recent_keep(&recent, fields, 1, text, H2DEC_RECENT_TEXT_MAX + 1);
    assert_null(h2dec_recent_find(&recent, block, 1));
    for (unsigned i = 0; i <= H2DEC_RECENT_MAX; i++) {
        block[0] = (uint8_t)(0x82 + i);
        h2dec_recent_offer(&recent, block, 1);
        h2dec_recent_keep(&recent, fields, H2DEC_RECENT_FIELDS_MAX, text,
                          H2DEC_RECENT_TEXT_MAX);
        assert_non_null(h2dec_recent_find(&recent, block, 1));
    }
    block[0] = 0x82 + 1;
    assert_non_null(h2dec_recent_find(&recent, block, 1));
    h2dec_recent_clear(&recent);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_fields),
        cmocka_unit_test(test_what_leaves_the_table),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
