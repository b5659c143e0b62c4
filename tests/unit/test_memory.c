/* SPDX-License-Identifier: MIT */
/* Rule 6 of tests/README.md: streams that are over cost no memory, and a flood
 * of them costs none either.  A million that are opened and reset, and many of
 * other kinds, go through one tap; what is allocated is asked of the
 * allocator, not of the tap. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../h2dec/h2dec.h"
#include "../../proxy/kind.h"
#include "../../proxy/lane.h"
#include "../../proxy/observer.h"
#include "../../proxy/tap.h"
#include "../vector_frame.h"
#include "../vector_hpack.h"

/* After the first WARM_UP streams memory may be up by SLACK bytes at most,
 * whenever it is looked at: of a million, a byte for each 244.
 * In the end END_SLACK may be left, which glibc keeps to use again. */
#define WARM_UP 2000u
#define SLACK 4096u
#define END_SLACK 65536u

/* MANY is how many streams are opened of most kinds. */
#define MANY 100000u

/* BATCH is how many streams go in one feed. */
#define BATCH 500u

/* Where a sanitizer's allocator is linked in, it knows. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* struct rig is a tap and what it writes to. */
struct rig {
    struct tap_config config;
    struct lane lane;
    struct tap_shared *shared;
    struct tap *tap;
    /* out is what each side sends next. */
    struct vector_buf out[2];
    /* blocks are HPACK: a request, a response, trailers. */
    struct vector_buf request;
    struct vector_buf response;
    struct vector_buf trailers;
    /* now_us is the time: storms are told of, so it goes on. */
    uint64_t now_us;
};

/* struct flood is a kind of stream. */
struct flood {
    const char *name;
    /* add sends stream |id| from beginning to end. */
    void (*add)(struct rig *rig, uint32_t id);
    /* n is how many there are, calls how many calls come of each. */
    uint32_t n;
    unsigned calls;
};

static size_t
live_bytes(void)
{
    struct mallinfo2 info;

    if (__sanitizer_get_current_allocated_bytes != NULL) {
        return __sanitizer_get_current_allocated_bytes();
    }
    info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void
frame(struct rig *rig, enum side side, unsigned type, unsigned flags,
      uint32_t stream, const void *payload, size_t len)
{
    vector_frame_head(&rig->out[side], len, type, flags, stream);
    vector_buf_add(&rig->out[side], payload, len);
}

static void
block(struct rig *rig, enum side side, unsigned flags, uint32_t stream,
      const struct vector_buf *block)
{
    frame(rig, side, VECTOR_FRAME_HEADERS, flags | VECTOR_FLAG_END_HEADERS,
          stream, block->data, block->len);
}

static void
reset(struct rig *rig, enum side side, uint32_t stream)
{
    frame(rig, side, VECTOR_FRAME_RST_STREAM, 0, stream, "\0\0\0\x8", 4);
}

/* rig_send feeds what is ready, the client's first, and forgets the lines. */
static void
rig_send(struct rig *rig)
{
    for (int side = 0; side < 2; side++) {
        if (rig->out[side].len > 0) {
            tap_observer.bytes(rig->tap, (enum side)side,
                               rig->out[side].data, rig->out[side].len,
                               rig->now_us);
            rig->out[side].len = 0;
        }
    }
    rig->now_us += 1000000;
    rig->lane.len = 0;
    rig->lane.line = 0;
}

static void
field(struct vector_buf *out, const char *name, const char *value)
{
    vector_hpack_field(out, VECTOR_HPACK_PLAIN, 0, name, strlen(name), value,
                       strlen(value));
}

static void
rig_start(struct rig *rig)
{
    memset(rig, 0, sizeof(*rig));
    rig->config.events = EVENT_DEFAULT_MASK;
    rig->now_us = 1000000;
    lane_init(&rig->lane, NULL);
    rig->shared = tap_shared_new(&rig->config, &rig->lane, NULL, 0);
    assert_non_null(rig->shared);
    rig->tap = tap_new(rig->shared, 1, "127.0.0.1:1", rig->now_us);
    assert_non_null(rig->tap);
    tap_observer.opened(rig->tap, "127.0.0.1:2", 1, rig->now_us);
    field(&rig->request, ":method", "POST");
    field(&rig->request, ":path", "/a.B/C");
    field(&rig->request, "content-type", "application/grpc");
    field(&rig->request, "te", "trailers");
    field(&rig->response, ":status", "200");
    field(&rig->response, "content-type", "application/grpc");
    field(&rig->trailers, "grpc-status", "0");
}

static void
rig_hello(struct rig *rig)
{
    vector_buf_add(&rig->out[SIDE_CLIENT], VECTOR_PREFACE,
                   VECTOR_PREFACE_LEN);
    frame(rig, SIDE_CLIENT, VECTOR_FRAME_SETTINGS, 0, 0, "", 0);
    frame(rig, SIDE_SERVER, VECTOR_FRAME_SETTINGS, 0, 0, "", 0);
    rig_send(rig);
}

static void
rig_end(struct rig *rig)
{
    tap_observer.closed(rig->tap, CONN_CLIENT_CLOSED, NULL, rig->now_us);
    tap_shared_free(rig->shared);
    lane_clear(&rig->lane);
    vector_buf_clear(&rig->out[0]);
    vector_buf_clear(&rig->out[1]);
    vector_buf_clear(&rig->request);
    vector_buf_clear(&rig->response);
    vector_buf_clear(&rig->trailers);
}

/* ---- Kinds of streams ------------------------------------------------ */

static void
opened_and_reset(struct rig *rig, uint32_t id)
{
    block(rig, SIDE_CLIENT, 0, id, &rig->request);
    reset(rig, SIDE_CLIENT, id);
}

static void
reset_by_server(struct rig *rig, uint32_t id)
{
    block(rig, SIDE_CLIENT, 0, id, &rig->request);
    frame(rig, SIDE_CLIENT, VECTOR_FRAME_DATA, 0, id, "\0\0\0\0\x9" "abc", 8);
    reset(rig, SIDE_SERVER, id);
}

static void
complete(struct rig *rig, uint32_t id)
{
    block(rig, SIDE_CLIENT, 0, id, &rig->request);
    frame(rig, SIDE_CLIENT, VECTOR_FRAME_DATA, VECTOR_FLAG_END_STREAM, id,
          "\0\0\0\0\1a", 6);
    block(rig, SIDE_SERVER, 0, id, &rig->response);
    frame(rig, SIDE_SERVER, VECTOR_FRAME_DATA, 0, id, "\0\0\0\0\1b", 6);
    block(rig, SIDE_SERVER, VECTOR_FLAG_END_STREAM, id, &rig->trailers);
}

/* Frames that come too late: those of a stream that has been reset. */
static void
late_frames(struct rig *rig, uint32_t id)
{
    opened_and_reset(rig, id);
    block(rig, SIDE_SERVER, 0, id, &rig->response);
    frame(rig, SIDE_SERVER, VECTOR_FRAME_DATA, 0, id, "\0\0\0\0\1b", 6);
    block(rig, SIDE_SERVER, VECTOR_FLAG_END_STREAM, id, &rig->trailers);
    reset(rig, SIDE_SERVER, id);
}

/* Every other id is left out: a gap each. */
static void
with_gaps(struct rig *rig, uint32_t id)
{
    opened_and_reset(rig, 2 * id + 1);
}

/* A stream that never is opened. */
static void
idle(struct rig *rig, uint32_t id)
{
    frame(rig, SIDE_CLIENT, VECTOR_FRAME_PRIORITY, 0, id, "\0\0\0\0\1", 5);
    reset(rig, SIDE_CLIENT, id);
}

static void
promised(struct rig *rig, uint32_t id)
{
    static const char name[4] = {0};

    if (id == 1) {
        block(rig, SIDE_CLIENT, VECTOR_FLAG_END_STREAM, 1, &rig->request);
    }
    id++; /* even */
    vector_frame_head(&rig->out[SIDE_SERVER], sizeof(name) + rig->request.len,
                      VECTOR_FRAME_PUSH_PROMISE, VECTOR_FLAG_END_HEADERS, 1);
    vector_buf_be(&rig->out[SIDE_SERVER], id, 4);
    vector_buf_add(&rig->out[SIDE_SERVER], rig->request.data,
                   rig->request.len);
    reset(rig, SIDE_SERVER, id);
}

/* ---- Floods ---------------------------------------------------------- */

static void
flood_run(const struct flood *flood)
{
    struct rig rig;
    size_t warm = 0;
    size_t most = 0;
    size_t before;

    before = live_bytes();
    rig_start(&rig);
    rig_hello(&rig);
    for (uint32_t i = 0; i < flood->n; i++) {
        flood->add(&rig, 2 * i + 1);
        if ((i + 1) % BATCH != 0) {
            continue;
        }
        rig_send(&rig);
        if (i + 1 <= WARM_UP) {
            warm = live_bytes();
        } else if (live_bytes() > most) {
            most = live_bytes();
        }
    }
    printf("%-18s %u streams: %zu bytes after %u, at most %+ld\n",
           flood->name, flood->n, warm - before, WARM_UP,
           (long)most - (long)warm);
    assert_true(most <= warm + SLACK);
    assert_int_equal(tap_shared_counters(rig.shared).calls,
                     (uint64_t)flood->n * flood->calls);
    rig_end(&rig);
    assert_true(live_bytes() <= before + END_SLACK);
}

static void
test_floods(void **state)
{
    static const struct flood floods[] = {
        {"opened and reset", opened_and_reset, 1000000, 1},
        {"reset by server", reset_by_server, MANY, 1},
        {"complete", complete, MANY, 1},
        {"late frames", late_frames, MANY, 1},
        {"with gaps", with_gaps, MANY, 1},
        {"never opened", idle, MANY, 0},
        {"promised", promised, MANY, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
        flood_run(&floods[i]);
    }
}

/* The same of HTTP/1.1: exchanges on one connection. */
static void
test_exchanges(void **state)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char response[] = "HTTP/1.1 204 No Content\r\n\r\n";
    struct rig rig;
    size_t before = live_bytes();
    size_t warm = 0;

    (void)state;
    rig_start(&rig);
    for (uint32_t i = 0; i < MANY; i++) {
        vector_buf_text(&rig.out[SIDE_CLIENT], request);
        vector_buf_text(&rig.out[SIDE_SERVER], response);
        if ((i + 1) % BATCH != 0) {
            continue;
        }
        rig_send(&rig);
        if (i + 1 <= WARM_UP) {
            warm = live_bytes();
        }
        assert_true(live_bytes() <= warm + SLACK);
    }
    assert_int_equal(tap_shared_counters(rig.shared).calls, MANY);
    rig_end(&rig);
    assert_true(live_bytes() <= before + END_SLACK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floods),
        cmocka_unit_test(test_exchanges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
