/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for grpcframe.  The first 4 bytes choose codec, flags, cuts and
 * ceiling; the rest is the body of a direction, or one compressed body alone.
 * It is played whole and in cuts, each with a pool of its own: what is
 * reported must be the same, and no ceiling passed.
 */
#include <stdlib.h>
#include <string.h>

#include "../../grpcframe/grpcframe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the first byte above the codec. */
enum {
    FUZZ_DECODER = 0x08, /* a compressed body alone, with its output */
    FUZZ_FAIL = 0x10,    /* callbacks stop, at the third call */
    FUZZ_SMALL_POOL = 0x20,
    FUZZ_WEB = 0x40,   /* a trailers frame may come */
    FUZZ_BASE64 = 0x80 /* the body is base64 */
};

/* struct report is all that was reported, boiled down to a number. */
struct report {
    /* hash is over every figure and every byte that came out. */
    uint64_t hash;
    /* n_calls counts callbacks; fails is 1 when the third says no. */
    unsigned n_calls;
    int fails;
};

static void
add(struct report *report, uint64_t value)
{
    report->hash = (report->hash ^ value) * UINT64_C(1099511628211);
}

static int
on_output(const uint8_t *data, size_t len, void *user)
{
    struct report *report = user;

    for (size_t i = 0; i < len; i++)
        add(report, data[i]);
    return ++report->n_calls == 3 && report->fails;
}

static int
on_message(const struct grpcframe_message *message, void *user)
{
    struct report *report = user;
    const uint64_t figures[] = {
        message->index,          message->length,       message->flag,
        message->compressed,     message->codec,        message->result,
        message->decoded_length, message->fault_offset, message->form,
        message->head_len,       message->frames,       message->first_byte_us,
    };

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        add(report, figures[i]);
    for (size_t i = 0; i < message->head_len; i++)
        add(report, message->head[i]);
    return ++report->n_calls == 3 && report->fails;
}

/* The text is taken apart as well: its lines are in place. */
static int
on_trailers(const struct grpcframe_trailers *trailers, void *user)
{
    struct report *report = user;
    struct grpcframe_trailer line;
    char *text = trailers->text;
    size_t len = trailers->text_len;
    int result;

    add(report, trailers->frame->length);
    add(report, trailers->frame->result);
    add(report, trailers->omitted);
    if (len > GRPCFRAME_TRAILERS_MAX)
        abort();
    do {
        result = grpcframe_trailer_next(&text, &len, &line);
        add(report, (uint64_t)result);
        for (size_t i = 0; result == 1 && i < line.name_len; i++)
            add(report, (uint8_t)line.name[i]);
        for (size_t i = 0; result == 1 && i < line.value_len; i++)
            add(report, (uint8_t)line.value[i]);
    } while (result != 0);
    return ++report->n_calls == 3 && report->fails;
}

/* The next piece of what is left, by |cuts|: all at once when 0. */
static size_t
next_piece(uint32_t *cuts, size_t left)
{
    size_t n;

    if (*cuts == 0)
        return left;
    *cuts = *cuts * 1664525u + 1013904223u;
    n = *cuts >> 28 == 0 ? *cuts >> 16 & 0x1fff : *cuts >> 24 & 0x0f;
    *cuts |= 1;
    return n < left ? n : left;
}

static void
play_decoder(struct grpcframe_decoder *decoder, uint32_t cuts,
             const uint8_t *data, size_t size, struct report *report)
{
    if (decoder == NULL)
        return;
    for (size_t n; size > 0; data += n, size -= n) {
        n = next_piece(&cuts, size);
        grpcframe_decoder_feed(decoder, data, n);
    }
    add(report, grpcframe_decoder_finish(decoder));
    add(report, grpcframe_decoder_length(decoder));
    add(report, grpcframe_decoder_offset(decoder));
    add(report, grpcframe_decoder_form(decoder));
    grpcframe_decoder_put(decoder);
}

static int
on_decoded(const uint8_t *data, size_t len, void *user)
{
    return grpcframe_reader_feed(user, data, len, 1, 1);
}

static void
play_reader(struct grpcframe_reader *reader, uint32_t cuts, const uint8_t *data,
            size_t size, int is_base64, struct report *report)
{
    struct grpcframe_base64 base64 = {0};
    struct grpcframe_rest rest;
    int error = 0;

    for (size_t n; size > 0 && error == 0; data += n, size -= n) {
        n = next_piece(&cuts, size);
        if (is_base64)
            error = grpcframe_base64_feed(&base64, data, n, on_decoded, reader);
        else
            error = grpcframe_reader_feed(reader, data, n, 1, 1);
    }
    if (error == 0 || error == GRPCFRAME_ERR_INVALID)
        add(report, base64.taken + base64.pending);
    rest = grpcframe_reader_rest(reader);
    add(report, (uint64_t)error);
    add(report, reader->tally.decoded_bytes);
    add(report, reader->tally.undecoded_messages);
    /* What follows a refused message in the same feed is not consumed. */
    add(report, error == 0 ? rest.bytes : 0);
    grpcframe_reader_clear(reader);
}

static uint64_t
play(const uint8_t *setup, uint32_t cuts, const uint8_t *data, size_t size)
{
    enum grpcframe_codec codec = (enum grpcframe_codec)(setup[0] & 7);
    uint64_t ceiling = (uint64_t)setup[2] << setup[3] % 16;
    struct report report = {.fails = (setup[0] & FUZZ_FAIL) != 0};
    struct grpcframe_pool *pool;
    struct grpcframe_reader reader;

    if (grpcframe_pool_new(&pool,
                           setup[0] & FUZZ_SMALL_POOL ? 100000 : 32 << 20) != 0)
        abort();
    if (setup[0] & FUZZ_DECODER) {
        play_decoder(
            grpcframe_decoder_get(pool, codec, ceiling, on_output, &report),
            cuts, data, size, &report);
    } else {
        grpcframe_reader_init(&reader, pool, codec, ceiling, on_message,
                              &report);
        if (setup[0] & FUZZ_WEB)
            grpcframe_reader_set_web(&reader, on_trailers);
        play_reader(&reader, cuts, data, size, (setup[0] & FUZZ_BASE64) != 0,
                    &report);
        if (ceiling != 0 && reader.message.compressed &&
            reader.message.decoded_length > ceiling)
            abort();
    }
    grpcframe_pool_free(pool);
    return report.hash;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    if (play(data, 0, data + 4, size - 4) !=
        play(data, data[1] + 1u, data + 4, size - 4))
        abort();
    return 0;
}
