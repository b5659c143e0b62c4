/* SPDX-License-Identifier: MIT */
/*
 * Content codings of an HTTP body (RFC 9110, section 8.4): undone in a chain,
 * the last one listed first, for what comes out at its end.  Nothing is kept.
 */
#ifndef CODING_H
#define CODING_H

#include <stddef.h>
#include <stdint.h>

#include "../grpcframe/grpcframe.h"

/* CODING_MAX bounds the codings stacked on one body; more than two have not
 * been seen outside of attacks. */
#define CODING_MAX 3

/* struct coding_stage undoes one coding. */
struct coding_stage {
    /* chain and index lead back from a callback. */
    struct coding *chain;
    unsigned index;
    /* codec is what it undoes; decoder is NULL until the first byte. */
    enum grpcframe_codec codec;
    struct grpcframe_decoder *decoder;
    /* head holds the first bytes that it was given, for a hint. */
    uint8_t head_len;
    uint8_t head[GRPCFRAME_HEAD_LEN];
};

/* struct coding is the chain of one body, to be embedded. */
struct coding {
    /* stages in the order bytes pass them, n_stages of them; 0: the body is
     * not coded. */
    struct coding_stage stages[CODING_MAX];
    unsigned n_stages;
    /* is_unknown is 1 when a coding cannot be undone: nothing is fed. */
    uint8_t is_unknown;
    /* is_begun is 1 once there are decoders, from the first byte on. */
    uint8_t is_begun;
    /* is_double is 1 when what came out is compressed once more. */
    uint8_t is_double;
    /* failed is the stage whose fault ended the decoding, when result is not
     * OK. */
    unsigned failed;
    enum grpcframe_result result;
    /* decoded_bytes is what came out at the end so far. */
    uint64_t decoded_bytes;
    /* head holds the first decoded bytes, for a hint. */
    uint8_t head_len;
    uint8_t head[GRPCFRAME_HEAD_LEN];
    /* probe decompresses what came out once more while that works, to tell
     * what only looks compressed from what is. */
    struct grpcframe_decoder *probe;
    /* pool lends the decoders; ceiling bounds each of them. */
    struct grpcframe_pool *pool;
    uint64_t ceiling;
    /* ratio_free is what may come out before GRPCFRAME_RATIO_MAX counts; may
     * be set before the first byte. */
    uint64_t ratio_free;
    /* output (may be NULL) sees what comes out. */
    grpcframe_output_cb output;
    void *user;
};

/*
 * coding_open sets up |coding| for the value of Content-Encoding |list| (NULL:
 * absent).  |ceiling| bounds what each stage may put out.  Decoders are taken
 * from |pool| when the first byte comes.  The struct must not move while it is
 * open.
 */
void coding_open(struct coding *coding, struct grpcframe_pool *pool,
                 const char *list, size_t len, uint64_t ceiling,
                 grpcframe_output_cb output, void *user);

/* coding_feed takes a piece of the body. */
void coding_feed(struct coding *coding, const uint8_t *data, size_t len);

/* coding_finish says that the body is complete; the result is OK when
 * decoded_bytes is the length of what it holds.  May be called again. */
enum grpcframe_result coding_finish(struct coding *coding);

/* coding_offset returns where in the input of the failed stage the fault
 * is. */
uint64_t coding_offset(const struct coding *coding);

/* coding_name returns the name of the coding that the failed stage undoes. */
const char *coding_name(const struct coding *coding);

/* coding_magic returns what the input of the failed stage looks like, or
 * NULL. */
const char *coding_magic(const struct coding *coding);

/* coding_is_other returns 1 when the fault is that the input of the failed
 * stage is something other than its coding from the first bytes on, rather
 * than damaged or cut short. */
int coding_is_other(const struct coding *coding);

/* coding_consumed returns how much of the body has been undone; counted in
 * steps, so that it does not depend on how the body was cut. */
uint64_t coding_consumed(const struct coding *coding);

/* coding_clear gives the decoders back; nothing may be fed after it.  May be
 * called again. */
void coding_clear(struct coding *coding);

/*
 * coding_accepts returns 1 when the Accept-Encoding value |accept| (NULL: the
 * field is absent) allows the coding |name| (RFC 9110, section 12.5.3): absent
 * allows everything, empty only identity, `*` what is not listed, a weight of
 * 0 forbids.  Of a coding that is listed twice, either may allow it; a weight
 * that is none forbids nothing.
 */
int coding_accepts(const char *accept, size_t accept_len, const char *name,
                   size_t name_len);

/* coding_next returns the next element of the comma-separated |*list|, blanks
 * trimmed, and moves |*list| and |*len| behind it; NULL at the end.  Empty
 * elements are passed over (RFC 9110, section 5.6.1). */
const char *coding_next(const char **list, size_t *len, size_t *element_len);

#endif
