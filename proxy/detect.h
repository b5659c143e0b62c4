/* SPDX-License-Identifier: MIT */
/* What a side speaks, from the first bytes it sends: a pure function of
 * bytes. */
#ifndef DETECT_H
#define DETECT_H

#include <stddef.h>
#include <stdint.h>

#include "side.h"

/* DETECT_MAX is how many first bytes decide at the latest: the length of the
 * HTTP/2 preface. */
#define DETECT_MAX 24

/* enum speech is what a side speaks. */
enum speech {
    SPEECH_OPEN,       /* more bytes are needed to tell */
    SPEECH_H2_PREFACE, /* the preface of an HTTP/2 client */
    SPEECH_H2_FRAME,   /* an HTTP/2 frame (the preface of a server, or a
                        * client whose preface was missed) */
    SPEECH_HTTP1,
    SPEECH_TLS,
    SPEECH_OTHER
};

/*
 * detect_speech says what |side| speaks whose first |len| bytes (not more than
 * DETECT_MAX count) are |bytes|.  |final| is 1 when no more will come.  Each
 * prefix of the same bytes gives OPEN or the same answer.
 */
enum speech detect_speech(enum side side, const uint8_t *bytes, size_t len,
                          int final);

/* detect_name returns |speech| for a reader: "HTTP/2", "HTTP/1.1", "TLS",
 * "another protocol". */
const char *detect_name(enum speech speech);

#endif
