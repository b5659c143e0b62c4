/* SPDX-License-Identifier: MIT */
/*
 * Owns the reader: it takes the body of one direction apart into messages
 * and adds them up.  Keeps no payload beyond the first few bytes, and knows
 * of compression only that decoders exist (inflate.c).
 *
 * Uncompressed messages are the common case and cost arithmetic alone: every
 * byte of a payload is skipped, not looked at.
 */
#include "inflate.h"
#include "trailers.h"

#include <string.h>

void
grpcframe_reader_init(struct grpcframe_reader *reader,
                      struct grpcframe_pool *pool, enum grpcframe_codec codec,
                      uint64_t ceiling, grpcframe_message_cb on_message,
                      void *user)
{
    memset(reader, 0, sizeof(*reader));
    reader->pool = pool;
    reader->codec = codec;
    reader->ceiling = ceiling;
    reader->ratio_free = GRPCFRAME_RATIO_FREE;
    reader->on_message = on_message;
    reader->user = user;
}

void
grpcframe_reader_set_web(struct grpcframe_reader *reader,
                         grpcframe_trailers_cb on_trailers)
{
    reader->is_web = 1;
    reader->on_trailers = on_trailers;
}

void
grpcframe_reader_set_span(struct grpcframe_reader *reader,
                          grpcframe_span_cb on_span)
{
    reader->on_span = on_span;
}

/* With other bits beside them, bits 7 and 0 are no trailers but one more sign
 * that the body is no framing. */
static int
reader_is_in_trailers(const struct grpcframe_reader *reader)
{
    return reader->is_web && reader->prefix_len == GRPCFRAME_PREFIX_LEN &&
           (reader->prefix[0] & 0xfe) == 0x80;
}

/* The message is what it is once its prefix is complete; only the result of
 * inflating it is still open. */
static void
reader_begin_message(struct grpcframe_reader *reader)
{
    struct grpcframe_message *message = &reader->message;
    const uint8_t *p = reader->prefix;

    message->index = reader->tally.messages;
    message->flag = p[0];
    message->compressed = p[0] & 1;
    message->length = (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 |
                      (uint32_t)p[3] << 8 | (uint32_t)p[4];
    message->codec = message->compressed ? reader->codec : GRPCFRAME_CODEC_NONE;
    message->result = GRPCFRAME_RESULT_OK;
    message->form = GRPCFRAME_FORM_REGULAR;
    message->decoded_length = message->compressed ? 0 : message->length;
    message->fault_offset = 0;
    message->partly_shown = 0;
    message->head_len = 0;
    reader->received = 0;
}

/* Counts |frame| when it is the first byte of it that belongs to the current
 * message. */
static void
reader_count_frame(struct grpcframe_reader *reader, uint64_t frame,
                   uint64_t now_us)
{
    struct grpcframe_message *message = &reader->message;

    if (reader->prefix_len == 0) {
        message->frames = 1;
        message->first_byte_us = now_us;
        reader->last_frame = frame;
    } else if (reader->last_frame != frame) {
        /* A message of 4 GiB in frames of 1 byte would wrap around. */
        if (message->frames != UINT32_MAX)
            message->frames++;
        reader->last_frame = frame;
    }
}

static size_t
reader_take_prefix(struct grpcframe_reader *reader, const uint8_t *data,
                   size_t len)
{
    size_t n = GRPCFRAME_PREFIX_LEN - (size_t)reader->prefix_len;

    if (n > len)
        n = len;
    memcpy(reader->prefix + reader->prefix_len, data, n);
    reader->prefix_len = (uint8_t)(reader->prefix_len + n);
    if (reader->prefix_len == GRPCFRAME_PREFIX_LEN)
        reader_begin_message(reader);
    return n;
}

/* Takes over what the decoder found and gives it back: at the end of a
 * message, or at a fault, so that a slow sender of a bad message does not hold
 * on to its memory. */
static void
reader_settle(struct grpcframe_reader *reader, enum grpcframe_result result)
{
    struct grpcframe_message *message = &reader->message;

    message->result = result;
    message->decoded_length = grpcframe_decoder_length(reader->decoder);
    message->form = grpcframe_decoder_form(reader->decoder);
    message->partly_shown =
        reader->decoder->may_lose && reader->decoder->output == NULL;
    if (result != GRPCFRAME_RESULT_OK)
        message->fault_offset = grpcframe_decoder_offset(reader->decoder);
    grpcframe_decoder_put(reader->decoder);
    reader->decoder = NULL;
}

static int
codec_is_inflatable(enum grpcframe_codec codec)
{
    return codec != GRPCFRAME_CODEC_NONE && codec != GRPCFRAME_CODEC_IDENTITY &&
           codec != GRPCFRAME_CODEC_UNKNOWN;
}

static int
reader_show(const uint8_t *data, size_t len, void *user)
{
    const struct grpcframe_reader *reader = user;

    reader->on_span(&reader->message, data, len, reader->user);
    return 0;
}

/* Who is to see what comes out of the message under way; NULL: nobody. */
static grpcframe_output_cb
reader_output(const struct grpcframe_reader *reader)
{
    if (reader_is_in_trailers(reader))
        return grpcframe_trailers_keep;
    return reader->on_span != NULL ? reader_show : NULL;
}

static void
reader_inflate(struct grpcframe_reader *reader, const uint8_t *data, size_t len)
{
    int last = reader->message.length - reader->received == len;
    enum grpcframe_result result;

    if (reader->received == 0) {
        if (!codec_is_inflatable(reader->codec)) {
            reader->message.result = GRPCFRAME_RESULT_UNAVAILABLE;
            return;
        }
        reader->decoder = grpcframe_decoder_get(
            reader->pool, reader->codec, reader->ceiling,
            reader_output(reader), reader);
        if (reader->decoder == NULL) {
            reader->message.result = GRPCFRAME_RESULT_MEMORY;
            return;
        }
        /* That somebody looks changes nothing of what is said. */
        reader->decoder->may_lose = reader_output(reader) == reader_show;
        grpcframe_decoder_set_free(reader->decoder, reader->ratio_free);
    }
    result = grpcframe_inflate_feed(reader->decoder, data, len, last);
    if (last)
        result = grpcframe_decoder_finish(reader->decoder);
    if (last || result != GRPCFRAME_RESULT_OK)
        reader_settle(reader, result);
}

static size_t
reader_take_payload(struct grpcframe_reader *reader, const uint8_t *data,
                    size_t len)
{
    struct grpcframe_message *message = &reader->message;
    size_t n = message->length - reader->received;

    if (n > len)
        n = len;
    if (message->head_len < GRPCFRAME_HEAD_LEN) {
        size_t room = GRPCFRAME_HEAD_LEN - (size_t)message->head_len;
        size_t kept = n < room ? n : room;

        memcpy(message->head + message->head_len, data, kept);
        message->head_len = (uint8_t)(message->head_len + kept);
    }
    if (message->compressed && message->result == GRPCFRAME_RESULT_OK)
        reader_inflate(reader, data, n);
    else if (!message->compressed && reader_output(reader) != NULL)
        (void)reader_output(reader)(data, n, reader);
    reader->received += (uint32_t)n;
    return n;
}

static void
reader_tally(struct grpcframe_reader *reader)
{
    const struct grpcframe_message *message = &reader->message;
    struct grpcframe_tally *tally = &reader->tally;

    tally->messages++;
    tally->prefix_bytes += GRPCFRAME_PREFIX_LEN;
    tally->message_bytes += message->length;
    tally->compressed_messages += message->compressed;
    if (message->result != GRPCFRAME_RESULT_OK) {
        tally->undecoded_messages++;
        return;
    }
    tally->decoded_bytes += message->decoded_length;
    if (message->length > message->decoded_length) {
        tally->grown_messages++;
        tally->grown_bytes += message->length - message->decoded_length;
    }
}

/* The reader stands at a message boundary before the callback runs, which may
 * clear it. */
static int
reader_end_message(struct grpcframe_reader *reader)
{
    if (reader_is_in_trailers(reader)) {
        reader->tally.trailer_bytes +=
            GRPCFRAME_PREFIX_LEN + (uint64_t)reader->message.length;
        reader->prefix_len = 0;
        reader->received = 0;
        reader->is_over = 1;
        return grpcframe_trailers_end(reader);
    }
    reader_tally(reader);
    reader->prefix_len = 0;
    reader->received = 0;
    if (reader->on_message == NULL)
        return GRPCFRAME_OK;
    if (reader->on_message(&reader->message, reader->user) != 0)
        return GRPCFRAME_ERR_CALLBACK;
    return GRPCFRAME_OK;
}

int
grpcframe_reader_feed(struct grpcframe_reader *reader, const uint8_t *data,
                      size_t len, uint64_t frame, uint64_t now_us)
{
    while (len > 0) {
        size_t n;

        if (reader->is_over) {
            reader->tally.surplus_bytes += len;
            return GRPCFRAME_OK;
        }
        reader_count_frame(reader, frame, now_us);
        if (reader->prefix_len < GRPCFRAME_PREFIX_LEN)
            n = reader_take_prefix(reader, data, len);
        else
            n = reader_take_payload(reader, data, len);
        data += n;
        len -= n;
        if (reader->prefix_len == GRPCFRAME_PREFIX_LEN &&
            reader->received == reader->message.length &&
            reader_end_message(reader) != GRPCFRAME_OK)
            return GRPCFRAME_ERR_CALLBACK;
    }
    return GRPCFRAME_OK;
}

struct grpcframe_rest
grpcframe_reader_rest(const struct grpcframe_reader *reader)
{
    struct grpcframe_rest rest = {0};

    if (reader->prefix_len == 0)
        return rest;
    rest.flag = reader->prefix[0];
    rest.bytes = reader->prefix_len;
    if (reader->prefix_len == GRPCFRAME_PREFIX_LEN) {
        rest.in_payload = 1;
        rest.in_trailers = (uint8_t)reader_is_in_trailers(reader);
        rest.declared = reader->message.length;
        rest.received = reader->received;
        rest.bytes += reader->received;
    }
    return rest;
}

uint64_t
grpcframe_reader_decoding(const struct grpcframe_reader *reader)
{
    return reader->decoder == NULL ? 0
                                   : grpcframe_decoder_length(reader->decoder);
}

void
grpcframe_reader_clear(struct grpcframe_reader *reader)
{
    /* What may follow of a text would not begin at its beginning. */
    if (reader_is_in_trailers(reader))
        reader->text_failed = 1;
    grpcframe_trailers_drop(reader);
    if (reader->decoder == NULL)
        return;
    grpcframe_decoder_put(reader->decoder);
    reader->decoder = NULL;
    /* Should the message go on all the same, it is not inflated. */
    reader->message.result = GRPCFRAME_RESULT_UNAVAILABLE;
}
