/* SPDX-License-Identifier: MIT */
/*
 * grpcframe: the body of a gRPC call to messages, and what they cost.
 *
 * Model.  A reader is one direction of one call.  It is fed the payload of
 * that direction's DATA frames, cut anywhere, and reports each message of the
 * gRPC wire protocol ("Length-Prefixed-Message": 1 byte flag, 4 bytes length,
 * payload; https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md)
 * once its last byte has passed.  A compressed message is inflated as it
 * passes, to count what comes out; what comes out is not kept.  The decoders
 * that do it live in a pool, which many readers share and which bounds their
 * memory.
 *
 * Ownership.  Memory given to a callback is valid until it returns; memory
 * given to a function stays the caller's.
 *
 * Units.  Sizes are bytes.  Time is microseconds on any clock the caller
 * likes: the library only hands it back.
 *
 * The library does no I/O, reads no clock and holds no mutable globals.  A
 * pool and the readers that use it belong to one thread at a time.
 */
#ifndef GRPCFRAME_H
#define GRPCFRAME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * GRPCFRAME_PREFIX_LEN is the length of the prefix of each message: flag and
 * big-endian length.
 */
#define GRPCFRAME_PREFIX_LEN 5

/*
 * GRPCFRAME_HEAD_LEN is how many first bytes of a payload are kept with its
 * message: enough for every magic number that grpcframe_magic knows.
 */
#define GRPCFRAME_HEAD_LEN 16

/* enum grpcframe_error is what functions return; 0 is success. */
enum grpcframe_error {
    GRPCFRAME_OK = 0,
    /* A callback returned non-zero; nothing further was consumed. */
    GRPCFRAME_ERR_CALLBACK = -1,
    /* An argument breaks the contract of the function. */
    GRPCFRAME_ERR_INVALID = -2,
    /* Fatal: out of memory.  The object must be cleared. */
    GRPCFRAME_ERR_NOMEM = -101
};

/* grpcframe_strerror returns a short English text for |error|. */
const char *grpcframe_strerror(int error);

/* grpcframe_error_is_fatal returns 1 when the object cannot go on. */
int grpcframe_error_is_fatal(int error);

/* ---- Codecs ---------------------------------------------------------- */

/* enum grpcframe_codec names what this library can inflate. */
enum grpcframe_codec {
    /* No encoding was declared. */
    GRPCFRAME_CODEC_NONE = 0,
    GRPCFRAME_CODEC_IDENTITY,
    /* RFC 1952, one or more members. */
    GRPCFRAME_CODEC_GZIP,
    /* RFC 1950 (zlib); raw RFC 1951 is recognised and noticed. */
    GRPCFRAME_CODEC_DEFLATE,
    /* RFC 7932. */
    GRPCFRAME_CODEC_BR,
    /* RFC 8878. */
    GRPCFRAME_CODEC_ZSTD,
    /* The framing format of snappy, or its bare block format. */
    GRPCFRAME_CODEC_SNAPPY,
    /* A name was declared that is none of the above. */
    GRPCFRAME_CODEC_UNKNOWN
};

/*
 * grpcframe_codec_parse returns the codec that the grpc-encoding or
 * content-coding value |name| of |len| bytes stands for: `gzip` and `x-gzip`,
 * `deflate`, `br`, `zstd`, `snappy`, `identity`.  Names compare without regard
 * to case (RFC 9110, section 8.4.1); blanks around them do not count.  An
 * empty name is NONE.
 */
enum grpcframe_codec grpcframe_codec_parse(const char *name, size_t len);

/* enum grpcframe_result says how the inflating of one body ended. */
enum grpcframe_result {
    /* The decoded length is known. */
    GRPCFRAME_RESULT_OK = 0,
    /* The codec is unknown, or none was declared for a compressed message. */
    GRPCFRAME_RESULT_UNAVAILABLE,
    /* The bytes are not what the codec writes. */
    GRPCFRAME_RESULT_CORRUPT,
    /* The bytes end before the coded stream does (a missing trailer). */
    GRPCFRAME_RESULT_TRUNCATED,
    /* A checksum, or a length stored in the stream, does not match. */
    GRPCFRAME_RESULT_CHECKSUM,
    /* Further bytes follow the end of the coded stream. */
    GRPCFRAME_RESULT_TRAILING,
    /* More than the ceiling came out; inflating stopped there. */
    GRPCFRAME_RESULT_LIMIT,
    /* The pool had no memory left to lend, or the stream asks for a window
     * above the limits of this library. */
    GRPCFRAME_RESULT_MEMORY
};

/* grpcframe_result_reason returns |result| as a few words for a reader. */
const char *grpcframe_result_reason(enum grpcframe_result result);

/* ---- Decoders -------------------------------------------------------- */

/*
 * GRPCFRAME_POOL_DEFAULT_BYTES is a sensible ceiling for a pool: thousands of
 * gzip windows (44 KiB each), or some thirty of the largest of zstd (8 MiB),
 * or sixteen of brotli (16 MiB).
 */
#define GRPCFRAME_POOL_DEFAULT_BYTES (256u << 20)

/*
 * GRPCFRAME_WINDOW_LOG_MAX bounds the window of a zstd frame: 8 MiB is what
 * RFC 8878, section 3.1.1.1.2 asks every decoder to support.
 */
#define GRPCFRAME_WINDOW_LOG_MAX 23

/*
 * A body that holds more than GRPCFRAME_RATIO_MAX times its length is given up
 * once more than GRPCFRAME_RATIO_FREE bytes have come out, whatever the
 * ceiling: what a few bytes make a decoder do must not keep its thread busy.
 * One layer of deflate cannot pass 1,032; br and zstd pass it with runs of
 * equal bytes, and codings that are stacked with anything.
 */
#define GRPCFRAME_RATIO_MAX 1100
#define GRPCFRAME_RATIO_FREE (64u << 20)

/*
 * struct grpcframe_pool owns decoders, lends them, and bounds their memory.
 * It keeps up to 8 returned decoders of each kind for reuse, and frees them
 * when others need the memory.
 */
struct grpcframe_pool;

/* struct grpcframe_decoder inflates one body at a time. */
struct grpcframe_decoder;

/*
 * grpcframe_pool_new makes a pool whose decoders use at most |max_bytes|
 * altogether, and sets |*pool|.  Returns 0 or GRPCFRAME_ERR_NOMEM.
 */
int grpcframe_pool_new(struct grpcframe_pool **pool, size_t max_bytes);

/* grpcframe_pool_free frees |pool| (NULL is fine) and the decoders it holds;
 * all of them must have been returned. */
void grpcframe_pool_free(struct grpcframe_pool *pool);

/* grpcframe_pool_bytes returns the bytes that decoders of |pool| use now,
 * idle ones kept for reuse included. */
size_t grpcframe_pool_bytes(const struct grpcframe_pool *pool);

/*
 * grpcframe_output_cb is given decoded bytes as they come out.  Non-zero stops
 * the inflating as a ceiling there would: the result is LIMIT.  Decoders of
 * the same pool may be used inside, three deep; those deeper end with MEMORY.
 */
typedef int (*grpcframe_output_cb)(const uint8_t *data, size_t len, void *user);

/*
 * grpcframe_decoder_get borrows a decoder for |codec| from |pool|.  At most
 * |ceiling| bytes are inflated (0: no ceiling).  |output| (may be NULL) sees
 * the decoded bytes; to have any, a block of snappy must not copy from more
 * than 64 KiB back (Google's encoders never do), or the result is MEMORY.
 * Returns NULL when the pool has no memory left or the codec is not one that
 * can be inflated.
 */
struct grpcframe_decoder *
grpcframe_decoder_get(struct grpcframe_pool *pool, enum grpcframe_codec codec,
                      uint64_t ceiling, grpcframe_output_cb output, void *user);

/*
 * grpcframe_decoder_feed inflates the next |len| bytes of the body.  Once the
 * result is not OK it does nothing: the caller may go on feeding.
 *
 * Up to 4 KiB wait in the decoder for more: what comes out, and any fault,
 * may show some bytes late.  That makes it independent of the cuts.
 */
enum grpcframe_result grpcframe_decoder_feed(struct grpcframe_decoder *decoder,
                                             const uint8_t *data, size_t len);

/* grpcframe_decoder_finish says that the body has ended and returns the
 * result for it: OK with length 0 for a body of no bytes, in any codec. */
enum grpcframe_result
grpcframe_decoder_finish(struct grpcframe_decoder *decoder);

/*
 * grpcframe_decoder_set_free sets how much may come out before
 * GRPCFRAME_RATIO_MAX counts: GRPCFRAME_RATIO_FREE unless set, before the
 * first byte is fed.
 */
void grpcframe_decoder_set_free(struct grpcframe_decoder *decoder,
                                uint64_t bytes);

/* grpcframe_decoder_length returns how many bytes came out so far. */
uint64_t grpcframe_decoder_length(const struct grpcframe_decoder *decoder);

/*
 * grpcframe_decoder_offset returns how many bytes of the body were consumed
 * without fault: the offset of the fault once there is one.  That is
 *
 *   TRUNCATED  the length of the body;
 *   TRAILING   where the coded stream ended;
 *   CHECKSUM   the field that does not match; of snappy, its chunk;
 *   CORRUPT    the first byte that gzip, deflate and br could not use; of
 *              zstd the block or the frame header, of snappy the chunk or
 *              the element that is at fault;
 *   otherwise  how much was consumed when inflating stopped: no fault of the
 *              body, and coarse.
 */
uint64_t grpcframe_decoder_offset(const struct grpcframe_decoder *decoder);

/* enum grpcframe_form tells which of two forms a codec's body took. */
enum grpcframe_form {
    /* The form the name stands for, or not known yet. */
    GRPCFRAME_FORM_REGULAR = 0,
    /* `deflate` without the zlib wrapper (RFC 1951 alone). */
    GRPCFRAME_FORM_RAW_DEFLATE,
    /* `snappy` in its block format, without framing. */
    GRPCFRAME_FORM_SNAPPY_BLOCK
};

/* grpcframe_decoder_form returns the form of the body seen so far.  It means
 * something once the result is known to be OK: anything that lacks the first
 * bytes of the regular form is tried as the other one. */
enum grpcframe_form
grpcframe_decoder_form(const struct grpcframe_decoder *decoder);

/* grpcframe_decoder_put gives |decoder| (NULL is fine) back to its pool. */
void grpcframe_decoder_put(struct grpcframe_decoder *decoder);

/* ---- Encoders -------------------------------------------------------- */

/*
 * struct grpcframe_encoder compresses whole messages with one codec at one
 * level, to learn what they would come to: the body of a message as a stack
 * would send it that uses the same library in one go.  It keeps its memory
 * from one message to the next, where the codec library can.
 */
struct grpcframe_encoder;

/* struct grpcframe_levels is what a codec can be told. */
struct grpcframe_levels {
    /* low and high are its weakest and strongest level; both 0: it has none. */
    int low;
    int high;
    /* usual is what servers use that are not told. */
    int usual;
};

/* grpcframe_encoder_levels sets |*levels| for |codec|.  Returns 0, or
 * GRPCFRAME_ERR_INVALID when |codec| is none that compresses. */
int grpcframe_encoder_levels(enum grpcframe_codec codec,
                             struct grpcframe_levels *levels);

/*
 * grpcframe_encoder_new makes an encoder for |codec| at |level| and sets
 * |*encoder|.  gzip and deflate (zlib) use a window of 32 KiB and memory level
 * 8, br a window of 4 MiB, zstd what the level stands for, snappy the framing
 * format.  Returns 0, GRPCFRAME_ERR_NOMEM, or GRPCFRAME_ERR_INVALID when there
 * is no such level.
 */
int grpcframe_encoder_new(struct grpcframe_encoder **encoder,
                          enum grpcframe_codec codec, int level);

/* grpcframe_encoder_free frees |encoder|; NULL is fine. */
void grpcframe_encoder_free(struct grpcframe_encoder *encoder);

/* grpcframe_encoder_bound returns the room that a message of |len| bytes may
 * need; |len| is below 1 GiB. */
size_t grpcframe_encoder_bound(const struct grpcframe_encoder *encoder,
                               size_t len);

/*
 * grpcframe_encoder_run compresses the |len| bytes at |data| to |out|, which
 * has the room that grpcframe_encoder_bound says, and sets |*out_len|.
 * Returns 0, or GRPCFRAME_ERR_NOMEM; the encoder can be used again then.
 */
int grpcframe_encoder_run(struct grpcframe_encoder *encoder,
                          const uint8_t *data, size_t len, uint8_t *out,
                          size_t *out_len);

/* ---- Messages -------------------------------------------------------- */

/* struct grpcframe_message is one message whose last byte has passed. */
struct grpcframe_message {
    /* index counts the messages of this direction from 0. */
    uint64_t index;
    /* length is the payload on the wire. */
    uint32_t length;
    /* flag is the first byte of the prefix, as sent. */
    uint8_t flag;
    /* compressed is bit 0 of flag. */
    uint8_t compressed;
    /* codec is the one that applied: NONE unless compressed. */
    enum grpcframe_codec codec;
    /* result is OK when decoded_length is the length after decompression. */
    enum grpcframe_result result;
    /* form is which of two forms the codec's body took. */
    enum grpcframe_form form;
    /* decoded_length is the length after decompression; what came out before
     * inflating stopped where result is not OK. */
    uint64_t decoded_length;
    /* fault_offset is where in the payload the fault is (result not OK), as
     * grpcframe_decoder_offset has it. */
    uint64_t fault_offset;
    /* partly_shown is 1 when a span callback was shown its beginning only: it
     * goes back further than is kept.  The rest is known all the same. */
    uint8_t partly_shown;
    /* frames counts the DATA frames that carried any byte of it. */
    uint32_t frames;
    /* head holds the first bytes of the payload, head_len of them. */
    uint8_t head_len;
    uint8_t head[GRPCFRAME_HEAD_LEN];
    /* first_byte_us is when the first byte of the prefix passed. */
    uint64_t first_byte_us;
};

/* struct grpcframe_tally adds up the complete messages of one direction. */
struct grpcframe_tally {
    /* messages counts them all. */
    uint64_t messages;
    /* compressed_messages counts those with bit 0 of the flag set. */
    uint64_t compressed_messages;
    /* prefix_bytes is 5 a message. */
    uint64_t prefix_bytes;
    /* message_bytes is payload as sent. */
    uint64_t message_bytes;
    /* decoded_bytes sums the decoded lengths that are known. */
    uint64_t decoded_bytes;
    /* undecoded_messages counts those whose decoded length is not known. */
    uint64_t undecoded_messages;
    /* grown_messages counts compressed messages longer than decoded, and
     * grown_bytes by how much altogether. */
    uint64_t grown_messages;
    uint64_t grown_bytes;
    /* trailer_bytes is prefix and payload of a complete trailers frame. */
    uint64_t trailer_bytes;
    /* surplus_bytes counts what came behind that, where nothing may. */
    uint64_t surplus_bytes;
};

/*
 * grpcframe_span_cb is given what a message under way holds, decompressed
 * where it is compressed, piece by piece; |message| is complete but for what
 * inflating it will show.
 */
typedef void (*grpcframe_span_cb)(const struct grpcframe_message *message,
                                  const uint8_t *data, size_t len, void *user);

/* grpcframe_message_cb is given each message; non-zero stops the reader. */
typedef int (*grpcframe_message_cb)(const struct grpcframe_message *message,
                                    void *user);

/*
 * GRPCFRAME_TRAILERS_MAX bounds what is kept of the text of a trailers frame:
 * twice the 8 KiB that gRPC stacks take as metadata unless told otherwise.
 */
#define GRPCFRAME_TRAILERS_MAX 16384

/*
 * struct grpcframe_trailers is the frame that ends a response of gRPC-Web
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md): flag 0x80,
 * or 0x81 when it is compressed, and lines like those of HTTP/1 headers.
 */
struct grpcframe_trailers {
    /* frame describes it as if it were a message; its index is the number of
     * messages before it. */
    const struct grpcframe_message *frame;
    /* text is what it says after decompression, as far as frame->result
     * allows; the receiver may change it. */
    char *text;
    size_t text_len;
    /* omitted counts the bytes that are left out of text: all from the line on
     * that is not within GRPCFRAME_TRAILERS_MAX. */
    uint64_t omitted;
};

/* grpcframe_trailers_cb is given the trailers frame; non-zero stops the
 * reader. */
typedef int (*grpcframe_trailers_cb)(const struct grpcframe_trailers *trailers,
                                     void *user);

/*
 * struct grpcframe_reader is one direction of one call, to be embedded.  Set
 * up by grpcframe_reader_init; fields under "private" belong to the library.
 */
struct grpcframe_reader {
    /* tally may be read at any time. */
    struct grpcframe_tally tally;
    /* ratio_free may be set at any time: see grpcframe_decoder_set_free; it
     * holds for messages that begin afterwards. */
    uint64_t ratio_free;
    /* private */
    /* message is the current one, complete as far as it can be. */
    struct grpcframe_message message;
    /* pool lends decoder, which is NULL unless a message is being inflated. */
    struct grpcframe_pool *pool;
    struct grpcframe_decoder *decoder;
    /* on_message (may be NULL) is given each message, and user with it. */
    grpcframe_message_cb on_message;
    void *user;
    /* on_trailers (may be NULL) is given the trailers frame of a web body. */
    grpcframe_trailers_cb on_trailers;
    /* on_span (may be NULL) is given what messages hold. */
    grpcframe_span_cb on_span;
    /* text holds text_len bytes of trailers in text_cap bytes of the pool's;
     * omitted counts those that are left out. */
    char *text;
    size_t text_len;
    size_t text_cap;
    uint64_t omitted;
    /* text_failed is 1 when the pool had no memory for the text. */
    uint8_t text_failed;
    /* is_web is 1 when a trailers frame may come, is_over behind it. */
    uint8_t is_web;
    uint8_t is_over;
    /* ceiling bounds what is inflated of one message; 0: no ceiling. */
    uint64_t ceiling;
    /* last_frame is the last frame that message.frames counts. */
    uint64_t last_frame;
    /* received counts the bytes of the payload so far. */
    uint32_t received;
    /* prefix holds what came of the prefix, prefix_len bytes. */
    uint8_t prefix_len;
    uint8_t prefix[GRPCFRAME_PREFIX_LEN];
    /* codec is what a set flag stands for. */
    enum grpcframe_codec codec;
};

/*
 * grpcframe_reader_init sets up |reader| for a direction whose messages are
 * compressed with |codec| where their flag says so.  |ceiling| bounds what is
 * inflated of one message (0: no ceiling).  Allocates nothing.
 */
void grpcframe_reader_init(struct grpcframe_reader *reader,
                           struct grpcframe_pool *pool,
                           enum grpcframe_codec codec, uint64_t ceiling,
                           grpcframe_message_cb on_message, void *user);

/*
 * grpcframe_reader_set_web makes |reader|, which has been fed nothing yet, one
 * of gRPC-Web: a frame of flag 0x80 or 0x81 is no message, but goes to
 * |on_trailers| (may be NULL) with the user of the messages.  What follows it
 * only counts as surplus_bytes.
 */
void grpcframe_reader_set_web(struct grpcframe_reader *reader,
                              grpcframe_trailers_cb on_trailers);

/*
 * grpcframe_reader_set_span lets |on_span| see what the messages of |reader|
 * hold, with the user of the messages: before the end of the message each time,
 * and also of one that turns out to be damaged.  Trailers frames are none.  A
 * bare block of snappy is shown up to the first copy from more than 64 KiB back
 * (see grpcframe_decoder_get); partly_shown says so.  All else that is said of
 * messages is the same as without |on_span|.
 */
void grpcframe_reader_set_span(struct grpcframe_reader *reader,
                               grpcframe_span_cb on_span);

/*
 * grpcframe_reader_feed takes the next |len| bytes of the body.  |frame| is a
 * number that differs from one DATA frame to the next, |now_us| the time.
 * A compressed message of length 0 is not inflated: its decoded length is 0.
 * Returns 0 or GRPCFRAME_ERR_CALLBACK.
 */
int grpcframe_reader_feed(struct grpcframe_reader *reader, const uint8_t *data,
                          size_t len, uint64_t frame, uint64_t now_us);

/* struct grpcframe_rest is what of a direction never became a message. */
struct grpcframe_rest {
    /* bytes is all of it, prefix bytes included; 0 at a message boundary. */
    uint64_t bytes;
    /* in_payload is 1 when the prefix was complete. */
    uint8_t in_payload;
    /* in_trailers is 1 when it is moreover that of a trailers frame. */
    uint8_t in_trailers;
    /* flag is valid when bytes is not 0. */
    uint8_t flag;
    /* declared is the length the prefix declared, when in_payload. */
    uint32_t declared;
    /* received is how much of the payload came. */
    uint32_t received;
};

/* grpcframe_reader_rest says what stands incomplete in |reader| now. */
struct grpcframe_rest
grpcframe_reader_rest(const struct grpcframe_reader *reader);

/* grpcframe_reader_decoding returns how many bytes have come out so far of the
 * compressed message under way. */
uint64_t grpcframe_reader_decoding(const struct grpcframe_reader *reader);

/* grpcframe_reader_clear gives the decoder back; |reader| itself is not
 * freed.  May be called again.  What is fed later is still taken apart, but
 * the message that was being inflated ends with UNAVAILABLE. */
void grpcframe_reader_clear(struct grpcframe_reader *reader);

/* ---- Base64 ---------------------------------------------------------- */

/*
 * struct grpcframe_base64 undoes the base64 of a gRPC-Web-text body, to be
 * embedded.  Such a body is any number of pieces, padded each on its own, and
 * cut anywhere (RFC 4648, section 4; no line breaks).  Zeros are its initial
 * state.
 */
struct grpcframe_base64 {
    /* taken counts the characters of complete groups of four. */
    uint64_t taken;
    /* decoded counts the bytes these stand for. */
    uint64_t decoded;
    /* pending is how many characters of the current group came. */
    uint8_t pending;
    /* is_faulty is 1 once a character could not be; taken + pending is its
     * offset. */
    uint8_t is_faulty;
    /* private */
    /* pads counts the `=` of the current group, bits holds the rest of it. */
    uint8_t pads;
    uint32_t bits;
};

/*
 * grpcframe_base64_feed decodes the next |len| characters and gives what they
 * stand for to |output| (may be NULL) with |user|, once a group is complete.
 * Returns 0; GRPCFRAME_ERR_INVALID at a character that cannot be, and from
 * there on always; or GRPCFRAME_ERR_CALLBACK when |output| did not return 0.
 */
int grpcframe_base64_feed(struct grpcframe_base64 *decoder, const uint8_t *data,
                          size_t len, grpcframe_output_cb output, void *user);

/* grpcframe_base64_finish says that the body has ended.  Returns 0, or
 * GRPCFRAME_ERR_INVALID after a fault or inside a group. */
int grpcframe_base64_finish(struct grpcframe_base64 *decoder);

/* ---- Values of header fields ---------------------------------------- */

/* struct grpcframe_trailer is a line of a trailers frame. */
struct grpcframe_trailer {
    /* name is in lower case. */
    const char *name;
    size_t name_len;
    /* value has no blanks at its ends. */
    const char *value;
    size_t value_len;
};

/*
 * grpcframe_trailer_next takes the next line off the |*len| bytes at |*text|,
 * turning its name to lower case there.  Lines end in CRLF or LF, the last one
 * may end without; empty ones are passed over.  Returns 1 and sets |*trailer|,
 * 0 at the end, or GRPCFRAME_ERR_INVALID for a line that is no `name: value`;
 * it has been taken off, too.
 */
int grpcframe_trailer_next(char **text, size_t *len,
                           struct grpcframe_trailer *trailer);

/* GRPCFRAME_STATUS_MAX is the highest status code gRPC defines. */
#define GRPCFRAME_STATUS_MAX 16

/*
 * grpcframe_status_parse reads a grpc-status value: an integer from 0 to 16
 * without sign, blanks or leading zeros.  Returns 0 and sets |*status|, or
 * GRPCFRAME_ERR_INVALID.
 */
int grpcframe_status_parse(const char *value, size_t len, int *status);

/* grpcframe_status_name returns the name of |status| ("OK", "CANCELLED", ...)
 * or NULL outside 0..16. */
const char *grpcframe_status_name(int status);

/*
 * grpcframe_percent_decode decodes a grpc-message value into |out|, which
 * holds at least |len| bytes, and returns the length written.  A malformed
 * escape stays as it is and sets |*malformed| (which may be NULL) to 1.
 */
size_t grpcframe_percent_decode(char *out, const char *value, size_t len,
                                int *malformed);

/*
 * grpcframe_timeout_parse reads a grpc-timeout value: 1 to 8 digits and one of
 * H M S m u n.  Returns 0 and sets |*timeout_us| (nanoseconds round up), or
 * GRPCFRAME_ERR_INVALID.
 */
int grpcframe_timeout_parse(const char *value, size_t len,
                            uint64_t *timeout_us);

/*
 * grpcframe_base64_valid returns 1 when |value| is base64, padded or not, as
 * the values of `-bin` metadata are; several values may be joined by commas.
 */
int grpcframe_base64_valid(const char *value, size_t len);

/*
 * grpcframe_list_has returns 1 when the comma-separated |list| (a
 * grpc-accept-encoding value; blanks do not count) holds |name|, compared
 * without regard to case.
 */
int grpcframe_list_has(const char *list, size_t list_len, const char *name,
                       size_t name_len);

/*
 * grpcframe_magic returns what the first bytes of a body look like: "gzip",
 * "zlib", "zstd", "snappy", "html", "json", or NULL.  A hint, never a
 * decode.
 */
const char *grpcframe_magic(const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
