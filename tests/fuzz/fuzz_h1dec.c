/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for h1dec.  The input is a script: its first byte is the
 * callback that fails (0: none), then records follow of two bytes (what, how
 * much) and the bytes sent.  Whatever it is, the books must balance, each
 * exchange must end once, and the log must not depend on the cuts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../vector_h1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the first byte of a record. */
enum {
    RECORD_SERVER = 0x01, /* the server sends, otherwise the client */
    RECORD_MORE = 0x02,   /* 256 bytes more than the second byte says */
    RECORD_END = 0x04,    /* after the bytes that side ends, if RECORD_SURE */
    RECORD_SURE = 0x80
};

static void
make_script(struct vector_h1_script *script, const uint8_t *data, size_t size)
{
    while (size >= 2) {
        enum h1dec_side side =
            data[0] & RECORD_SERVER ? H1DEC_SERVER : H1DEC_CLIENT;
        size_t len = data[1] + (data[0] & RECORD_MORE ? 256u : 0u);

        len = len < size - 2 ? len : size - 2;
        if (len > 0) {
            vector_h1_add(script, side, data + 2, len);
        }
        if ((data[0] & RECORD_END) && (data[0] & RECORD_SURE)) {
            vector_h1_end(script, side);
        }
        data += 2 + len;
        size -= 2 + len;
    }
}

static void
check_problem(const struct vector_h1_log *log)
{
    if (log->problem.len > 0) {
        fprintf(stderr, "%s%s", (const char *)log->problem.data,
                (const char *)log->text.data);
        abort();
    }
}

/* A callback that fails may be one of the body, of which there are more or
 * fewer depending on the cuts: then only the books are compared. */
static void
play(const struct vector_h1_script *script, enum vector_h1_cut cut,
     uint64_t seed, const struct vector_h1_log *whole)
{
    struct vector_h1_log log = { .stop_at = whole->stop_at };

    vector_h1_play(script, cut, seed, &log);
    check_problem(&log);
    if (whole->stop_at == 0 &&
        strcmp((const char *)log.text.data, (const char *)whole->text.data) !=
            0) {
        fprintf(stderr, "--- whole\n%s--- cut %d %llu\n%s",
                (const char *)whole->text.data, cut,
                (unsigned long long)seed, (const char *)log.text.data);
        abort();
    }
    vector_h1_log_clear(&log);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vector_h1_script script = { 0 };
    struct vector_h1_log whole = { 0 };

    if (size == 0) {
        return 0;
    }
    whole.stop_at = data[0];
    make_script(&script, data + 1, size - 1);
    vector_h1_play(&script, VECTOR_H1_WHOLE, 0, &whole);
    check_problem(&whole);
    play(&script, VECTOR_H1_BYTES, 0, &whole);
    play(&script, VECTOR_H1_RANDOM, size, &whole);
    play(&script, VECTOR_H1_AT, size / 2, &whole);
    vector_h1_log_clear(&whole);
    vector_h1_script_clear(&script);
    return 0;
}
