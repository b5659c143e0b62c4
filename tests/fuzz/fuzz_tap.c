/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the whole tap.  The input is a script: its first byte sets
 * things up, then records follow of two bytes (what, how much) and the bytes
 * sent.  Whatever it is, the ledger must balance and the events must not
 * depend on how the bytes are cut.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../proxy/kind.h"
#include "../corpus.h"
#include "../vector_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the first byte. */
enum {
    SETUP_HELLO = 0x01,   /* the connection starts as HTTP/2 */
    SETUP_SECRETS = 0x02, /* --show-secrets */
    SETUP_LIMIT = 0x04,   /* --max-decoded-bytes 100 */
    SETUP_FEWER = 0x08    /* the events of the default alone */
};

/* Bits of the first byte of a record. */
enum {
    RECORD_SERVER = 0x01, /* the server sends, otherwise the client */
    RECORD_LATER = 0x02,  /* the clock moves on, by the second byte in ms */
    RECORD_EOF = 0x04,    /* after the bytes that side ends, if RECORD_SURE */
    RECORD_SURE = 0x80
};

static void
script_records(struct vector_script *script, const uint8_t *data, size_t size)
{
    uint64_t now_us = 0;
    int ended[2] = {0, 0};

    while (size >= 2) {
        enum side from = data[0] & RECORD_SERVER ? SIDE_SERVER : SIDE_CLIENT;
        size_t n = data[1];

        if (data[0] & RECORD_LATER) {
            now_us += 1000u * n;
        }
        n = n < size - 2 ? n : size - 2;
        if (n > 0 && !ended[from]) {
            vector_buf_add(
                &vector_script_add(script, VECTOR_STEP_BYTES, from, now_us)
                     ->bytes,
                data + 2, n);
        }
        if ((data[0] & RECORD_EOF) && (data[0] & RECORD_SURE) && !ended[from]) {
            vector_script_add(script, VECTOR_STEP_EOF, from, now_us);
            ended[from] = 1;
        }
        data += 2 + n;
        size -= 2 + n;
    }
}

static void
script_setup(struct vector_script *script, unsigned setup)
{
    script->config.events = vector_tap_all_events;
    if (setup & SETUP_FEWER) {
        script->config.events = EVENT_DEFAULT_MASK;
    }
    script->config.show_secrets = (setup & SETUP_SECRETS) != 0;
    script->config.max_decoded_bytes = setup & SETUP_LIMIT ? 100 : 1u << 20;
    if (setup & SETUP_HELLO) {
        corpus_hello(script);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vector_script script;
    struct vector_lines lines;
    struct vector_buf problem = {0};

    memset(&script, 0, sizeof(script));
    if (size == 0) {
        return 0;
    }
    script_setup(&script, data[0]);
    script_records(&script, data + 1, size - 1);
    corpus_play(&script, 1, &lines, &problem);
    if (problem.len > 0) {
        fprintf(stderr, "%s\n", (const char *)problem.data);
        abort();
    }
    vector_lines_clear(&lines);
    vector_script_clear(&script);
    return 0;
}
