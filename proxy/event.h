/* SPDX-License-Identifier: MIT */
/*
 * The output schema: each event of a connection to one line of JSON.  The
 * event*.c files alone know the names of members; docs/events.md documents them
 * and docs/events.schema.json checks them.
 *
 * Each function does nothing when its kind is not selected.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdint.h>

#include "../grpcframe/grpcframe.h"
#include "../h2dec/h2dec.h"

struct call;
struct flow;
struct notice;
struct tap;

/* struct event_ending is how a call ended, in the words of the schema. */
struct event_ending {
    /* end is the value of `end`. */
    const char *end;
    /* has_code is 1 when a RST_STREAM came, with code. */
    uint8_t has_code;
    uint32_t code;
};

void event_connection_open(struct tap *tap);

/* event_connection_close: |error| is NULL or a sentence. */
void event_connection_close(struct tap *tap, const char *error);

void event_call(struct call *call, const struct event_ending *ending,
                uint64_t now_us);

/* event_message: the last byte of |message| passed at |now_us|. */
void event_message(struct flow *flow, const struct grpcframe_message *message,
                   uint64_t now_us);

void event_notice(struct tap *tap, const struct notice *notice);
void event_goaway(struct tap *tap, const struct h2dec_goaway *goaway);

/* EVENT_CODE_MAX holds a number as text. */
#define EVENT_CODE_MAX 12

/* event_code returns how an error code of HTTP/2 is written: its name, or the
 * number, which is then in |room|. */
const char *event_code(uint32_t code, char room[EVENT_CODE_MAX]);

/* event_headers: |start_line| is that of HTTP/1.x, NULL where there is none;
 * the last byte of the block passed at |now_us|. */
void event_headers(struct tap *tap, const struct h2dec_headers *headers,
                   const char *start_line, uint64_t now_us);
void event_frame(struct tap *tap, const struct h2dec_frame *frame);
void event_settings(struct tap *tap, const struct h2dec_settings *settings);

#endif
