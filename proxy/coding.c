/* SPDX-License-Identifier: MIT */
/* Owns Content-Encoding and Accept-Encoding: the chain that undoes codings, and
 * the rules of what is acceptable.  What is worth a notice is call_http.c's. */
#include "coding.h"

#include <string.h>
#include <strings.h>

/* ---- Lists ----------------------------------------------------------- */

static int
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

const char *
coding_next(const char **list, size_t *len, size_t *element_len)
{
    while (*len > 0) {
        const char *start = *list;
        const char *comma = memchr(start, ',', *len);
        size_t n = comma == NULL ? *len : (size_t)(comma - start);
        size_t step = comma == NULL ? n : n + 1;

        *list += step;
        *len -= step;
        while (n > 0 && is_blank(*start)) {
            start++;
            n--;
        }
        while (n > 0 && is_blank(start[n - 1])) {
            n--;
        }
        if (n > 0) {
            *element_len = n;
            return start;
        }
    }
    return NULL;
}

/* ---- Accept-Encoding ------------------------------------------------- */

/* Whether the parameters behind a coding say q=0. */
static int
is_refused(const char *params, size_t len)
{
    size_t at = 0;

    while (at + 1 < len && !((params[at] == 'q' || params[at] == 'Q') &&
                             params[at + 1] == '=')) {
        at++;
    }
    if (at + 2 >= len || params[at + 2] != '0') {
        return 0;
    }
    for (at += 3; at < len; at++) {
        if (params[at] >= '1' && params[at] <= '9') {
            return 0;
        }
    }
    return 1;
}

static int
is_name(const char *element, size_t len, const char *name, size_t name_len)
{
    return len == name_len && strncasecmp(element, name, len) == 0;
}

int
coding_accepts(const char *accept, size_t accept_len, const char *name,
               size_t name_len)
{
    int by_star = is_name(name, name_len, "identity", 8);
    const char *element;
    size_t len;

    if (accept == NULL) {
        return 1;
    }
    for (;;) {
        size_t n;

        element = coding_next(&accept, &accept_len, &len);
        if (element == NULL) {
            return by_star;
        }
        for (n = 0; n < len && element[n] != ';' && !is_blank(element[n]);) {
            n++;
        }
        if (is_name(element, n, name, name_len) ||
            (is_name(element, n, "x-gzip", 6) &&
             is_name(name, name_len, "gzip", 4))) {
            return !is_refused(element + n, len - n);
        }
        if (is_name(element, n, "*", 1)) {
            by_star = !is_refused(element + n, len - n);
        }
    }
}

/* ---- The chain ------------------------------------------------------- */

static void
keep_head(struct coding *coding, const uint8_t *data, size_t len)
{
    size_t room = GRPCFRAME_HEAD_LEN - (size_t)coding->head_len;

    if (len > room) {
        len = room;
    }
    if (len > 0) {
        memcpy(coding->head + coding->head_len, data, len);
        coding->head_len = (uint8_t)(coding->head_len + len);
    }
}

static void
note_result(struct coding *coding, unsigned stage,
            enum grpcframe_result result)
{
    /* The first fault counts; what it does to later stages does not. */
    if (result != GRPCFRAME_RESULT_OK &&
        coding->result == GRPCFRAME_RESULT_OK) {
        coding->result = result;
        coding->failed = stage;
    }
}

static int
on_output(const uint8_t *data, size_t len, void *user)
{
    const struct coding_stage *stage = user;
    struct coding *coding = stage->chain;
    unsigned next = stage->index + 1;

    if (next < coding->n_stages) {
        note_result(coding, next,
                    grpcframe_decoder_feed(coding->stages[next].decoder, data,
                                           len));
        return coding->result != GRPCFRAME_RESULT_OK;
    }
    coding->decoded_bytes += len;
    keep_head(coding, data, len);
    return coding->output == NULL ? 0
                                  : coding->output(data, len, coding->user);
}

/* Reads the codings of |list| into |codecs|, identity apart.  Returns how many,
 * or CODING_MAX + 1 for more than can be undone. */
static unsigned
list_codecs(const char *list, size_t len, enum grpcframe_codec *codecs)
{
    unsigned n = 0;
    size_t name_len;
    const char *name;

    while (list != NULL) {
        enum grpcframe_codec codec;

        name = coding_next(&list, &len, &name_len);
        if (name == NULL) {
            break;
        }
        codec = grpcframe_codec_parse(name, name_len);
        if (codec == GRPCFRAME_CODEC_IDENTITY) {
            continue;
        }
        if (n == CODING_MAX) {
            return CODING_MAX + 1;
        }
        codecs[n] = codec;
        n++;
    }
    return n;
}

void
coding_open(struct coding *coding, struct grpcframe_pool *pool,
            const char *list, size_t len, uint64_t ceiling,
            grpcframe_output_cb output, void *user)
{
    enum grpcframe_codec codecs[CODING_MAX];
    unsigned n = list_codecs(list, len, codecs);

    memset(coding, 0, sizeof(*coding));
    coding->output = output;
    coding->user = user;
    coding->is_unknown = n > CODING_MAX;
    for (unsigned i = 0; i < n && !coding->is_unknown; i++) {
        struct coding_stage *stage = &coding->stages[i];

        /* The coding listed last was applied last: it is undone first. */
        stage->chain = coding;
        stage->index = i;
        stage->decoder = grpcframe_decoder_get(pool, codecs[n - 1 - i],
                                               ceiling, on_output, stage);
        coding->is_unknown = stage->decoder == NULL;
        coding->n_stages++;
    }
}

void
coding_feed(struct coding *coding, const uint8_t *data, size_t len)
{
    if (coding->is_unknown || coding->result != GRPCFRAME_RESULT_OK ||
        len == 0) {
        return;
    }
    if (coding->n_stages == 0) {
        coding->decoded_bytes += len;
        return;
    }
    note_result(coding, 0,
                grpcframe_decoder_feed(coding->stages[0].decoder, data, len));
}

enum grpcframe_result
coding_finish(struct coding *coding)
{
    for (unsigned i = 0; !coding->is_unknown && i < coding->n_stages; i++) {
        if (coding->result != GRPCFRAME_RESULT_OK) {
            break;
        }
        note_result(coding, i,
                    grpcframe_decoder_finish(coding->stages[i].decoder));
    }
    return coding->is_unknown ? GRPCFRAME_RESULT_UNAVAILABLE
                              : coding->result;
}

uint64_t
coding_offset(const struct coding *coding)
{
    const struct grpcframe_decoder *decoder =
        coding->stages[coding->failed].decoder;

    return decoder == NULL ? 0 : grpcframe_decoder_offset(decoder);
}

void
coding_clear(struct coding *coding)
{
    for (unsigned i = 0; i < coding->n_stages; i++) {
        grpcframe_decoder_put(coding->stages[i].decoder);
    }
    coding->n_stages = 0;
}
