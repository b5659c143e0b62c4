/* SPDX-License-Identifier: MIT */
/*
 * The side of --what-if that taps see: one message after the other of one
 * direction of a call, as it passes.
 */
#ifndef WHAT_IF_TAP_H
#define WHAT_IF_TAP_H

#include <stddef.h>
#include <stdint.h>

#include "../grpcframe/grpcframe.h"
#include "side.h"

/* WHAT_IF_GUESS_MAX bounds the room that is made for a message whose length is
 * not known. */
#define WHAT_IF_GUESS_MAX 65536u

struct what_if;
struct what_if_entry;
struct what_if_sample;

/* struct what_if_flow is a direction of a call, to be embedded; zeros are its
 * initial state. */
struct what_if_flow {
    /* entry is what its messages count for; NULL until the first. */
    struct what_if_entry *entry;
    /* sample collects the message under way; NULL when it is not tried. */
    struct what_if_sample *sample;
    /* wire_bytes and decoded_bytes count a plain body, for the caller. */
    uint64_t wire_bytes;
    uint64_t decoded_bytes;
    /* is_begun is 1 once the message under way has a byte; skip says whether
     * it is tried. */
    uint8_t is_begun;
    uint8_t skip;
};

/* struct what_if_message is a message whose last byte has passed. */
struct what_if_message {
    /* wire_bytes is what it was sent as; unless is_wire_unknown is 1, of a
     * message in a body that was compressed as a whole. */
    uint64_t wire_bytes;
    int is_wire_unknown;
    /* is_hidden is 1 when the name of its codec is not to be shown. */
    int is_hidden;
    /* codec is what it was compressed with: NONE for plain, UNKNOWN for
     * several on top of each other. */
    enum grpcframe_codec codec;
    /* is_decoded is 1 when decoded_bytes is what it holds. */
    int is_decoded;
    uint64_t decoded_bytes;
};

/* what_if_flow_open sets what the messages of |flow| count for, once: |path|
 * is NULL when unknown. */
void what_if_flow_open(struct what_if *what_if, struct what_if_flow *flow,
                       enum side side, const char *path, size_t path_len);

/* what_if_flow_take takes a piece of what the message under way holds;
 * |expected| is a guess of how much it will be altogether. */
void what_if_flow_take(struct what_if *what_if, struct what_if_flow *flow,
                       uint64_t expected, const uint8_t *data, size_t len);

/* what_if_flow_end says that the message is complete. */
void what_if_flow_end(struct what_if *what_if, struct what_if_flow *flow,
                      const struct what_if_message *message);

/* what_if_flow_drop forgets the message under way, which counts for nothing as
 * it never was one.  May be called again. */
void what_if_flow_drop(struct what_if *what_if, struct what_if_flow *flow);

#endif
