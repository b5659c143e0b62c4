/* SPDX-License-Identifier: MIT */
/* Owns Content-Encoding and Accept-Encoding: the chain that undoes codings, and
 * the rules of what is acceptable.  What is worth a notice is call_http.c's. */
#include "coding.h"

#include <string.h>
#include <strings.h>

/* PROBE_LEN is how many bytes that came out say whether to probe them; less
 * than that is compressed by nobody. */
#define PROBE_LEN 4

/* PROBE_CEILING is how much must come out of the probe to be convincing, when
 * it has not come to an end before. */
#define PROBE_CEILING 4096

/* ---- Lists ----------------------------------------------------------- */

static int
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void
trim(const char **text, size_t *len)
{
    while (*len > 0 && is_blank(**text)) {
        (*text)++;
        (*len)--;
    }
    while (*len > 0 && is_blank((*text)[*len - 1])) {
        (*len)--;
    }
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
        trim(&start, &n);
        if (n > 0) {
            *element_len = n;
            return start;
        }
    }
    return NULL;
}

/* ---- Accept-Encoding ------------------------------------------------- */

static int
is_name(const char *text, size_t len, const char *name)
{
    return len == strlen(name) && strncasecmp(text, name, len) == 0;
}

/* Whether |text| is a weight of 0: "0", "0." or "0." and zeros. */
static int
is_zero(const char *text, size_t len)
{
    if (len == 0 || text[0] != '0' || (len > 1 && text[1] != '.')) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if (text[i] != '0') {
            return 0;
        }
    }
    return 1;
}

/* Whether one of the parameters behind a coding is a weight of 0. */
static int
is_refused(const char *params, size_t len)
{
    while (len > 0) {
        const char *start = params;
        const char *end = memchr(start, ';', len);
        size_t n = end == NULL ? len : (size_t)(end - start);
        size_t step = end == NULL ? n : n + 1;

        params += step;
        len -= step;
        trim(&start, &n);
        if (n > 2 && is_name(start, 2, "q=") && is_zero(start + 2, n - 2)) {
            return 1;
        }
    }
    return 0;
}

/* The names of old, without their prefix (RFC 9110, section 8.4.1). */
static void
drop_prefix(const char **name, size_t *len)
{
    if (is_name(*name, *len, "x-gzip") || is_name(*name, *len, "x-compress")) {
        *name += 2;
        *len -= 2;
    }
}

/* How much of an element is the name of its coding. */
static size_t
name_of(const char *element, size_t len)
{
    const char *end = memchr(element, ';', len);
    size_t n = end == NULL ? len : (size_t)(end - element);

    while (n > 0 && is_blank(element[n - 1])) {
        n--;
    }
    return n;
}

int
coding_accepts(const char *accept, size_t accept_len, const char *name,
               size_t name_len)
{
    int by_star = is_name(name, name_len, "identity");
    int is_listed = 0;
    const char *element;
    size_t len;

    if (accept == NULL) {
        return 1;
    }
    drop_prefix(&name, &name_len);
    for (;;) {
        const char *own;
        size_t own_len;
        int is_allowed;

        element = coding_next(&accept, &accept_len, &len);
        if (element == NULL) {
            return !is_listed && by_star;
        }
        own = element;
        own_len = name_of(element, len);
        is_allowed = !is_refused(element + own_len, len - own_len);
        drop_prefix(&own, &own_len);
        if (own_len == name_len && strncasecmp(own, name, own_len) == 0) {
            if (is_allowed) {
                return 1;
            }
            is_listed = 1;
        } else if (is_name(own, own_len, "*")) {
            by_star = is_allowed;
        }
    }
}

/* ---- First bytes ----------------------------------------------------- */

static void
keep_head(uint8_t *head, uint8_t *head_len, const uint8_t *data, size_t len)
{
    size_t room = GRPCFRAME_HEAD_LEN - (size_t)*head_len;

    if (len > room) {
        len = room;
    }
    if (len > 0) {
        memcpy(head + *head_len, data, len);
        *head_len = (uint8_t)(*head_len + len);
    }
}

/* No codec writes printable ASCII only. */
static int
is_text(const uint8_t *head, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((head[i] < 0x20 || head[i] > 0x7e) && head[i] != '\t' &&
            head[i] != '\r' && head[i] != '\n') {
            return 0;
        }
    }
    return len > 0;
}

/* ---- Compressed twice ------------------------------------------------ */

/* The codec that what came out may be compressed with.  Brotli has no magic
 * number: it is tried below itself. */
static enum grpcframe_codec
probe_codec(const struct coding *coding)
{
    enum grpcframe_codec last = coding->stages[coding->n_stages - 1].codec;
    const char *magic = grpcframe_magic(coding->head, coding->head_len);

    if (magic == NULL) {
        return last == GRPCFRAME_CODEC_BR &&
                       !is_text(coding->head, coding->head_len)
                   ? last
                   : GRPCFRAME_CODEC_NONE;
    }
    /* Two bytes that look like zlib may be anything; below deflate they are
     * not likely to. */
    if (strcmp(magic, "zlib") == 0) {
        return last == GRPCFRAME_CODEC_DEFLATE ? last : GRPCFRAME_CODEC_NONE;
    }
    if (strcmp(magic, "gzip") == 0 || strcmp(magic, "zstd") == 0) {
        return grpcframe_codec_parse(magic, strlen(magic));
    }
    return GRPCFRAME_CODEC_NONE;
}

static void
probe_end(struct coding *coding)
{
    grpcframe_decoder_put(coding->probe);
    coding->probe = NULL;
}

static void
probe_feed(struct coding *coding, const uint8_t *data, size_t len)
{
    enum grpcframe_result result;

    if (coding->probe == NULL) {
        return;
    }
    result = grpcframe_decoder_feed(coding->probe, data, len);
    if (result != GRPCFRAME_RESULT_OK) {
        coding->is_double = result == GRPCFRAME_RESULT_LIMIT;
        probe_end(coding);
    }
}

/* Takes what came out, whose first bytes are kept already; |before| of them
 * came before. */
static void
probe_take(struct coding *coding, size_t before, const uint8_t *data,
           size_t len)
{
    if (before < PROBE_LEN && coding->head_len >= PROBE_LEN) {
        coding->probe =
            grpcframe_decoder_get(coding->pool, probe_codec(coding),
                                  PROBE_CEILING, NULL, NULL);
        probe_feed(coding, coding->head, before);
    }
    probe_feed(coding, data, len);
}

static void
probe_finish(struct coding *coding)
{
    if (coding->probe != NULL) {
        enum grpcframe_result result =
            grpcframe_decoder_finish(coding->probe);

        coding->is_double =
            result == GRPCFRAME_RESULT_LIMIT ||
            (result == GRPCFRAME_RESULT_OK &&
             grpcframe_decoder_length(coding->probe) > 0);
        probe_end(coding);
    }
}

/* ---- The chain ------------------------------------------------------- */

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

static void
stage_feed(struct coding_stage *stage, const uint8_t *data, size_t len)
{
    keep_head(stage->head, &stage->head_len, data, len);
    note_result(stage->chain, stage->index,
                grpcframe_decoder_feed(stage->decoder, data, len));
}

/* What grpcframe hands to a codec at once counts as consumed. */
#define STEP 4096

uint64_t
coding_consumed(const struct coding *coding)
{
    return coding->n_stages == 0 || coding->stages[0].decoder == NULL
               ? coding->decoded_bytes
               : grpcframe_decoder_offset(coding->stages[0].decoder) + STEP;
}

/* Each layer may stay below what grpcframe puts up with, and all together
 * make gigabytes of a few bytes. */
static int
is_bomb(const struct coding *coding)
{
    return coding->n_stages > 1 &&
           coding->decoded_bytes > coding->ratio_free &&
           coding->decoded_bytes / GRPCFRAME_RATIO_MAX >
               coding_consumed(coding);
}

/* What the body holds, at the end of the chain. */
static int
put_out(struct coding *coding, const uint8_t *data, size_t len)
{
    size_t before = coding->head_len;

    coding->decoded_bytes += len;
    keep_head(coding->head, &coding->head_len, data, len);
    if (is_bomb(coding)) {
        note_result(coding, coding->n_stages - 1, GRPCFRAME_RESULT_LIMIT);
        return -1;
    }
    if (coding->n_stages > 0) {
        probe_take(coding, before, data, len);
    }
    return coding->output == NULL ? 0
                                  : coding->output(data, len, coding->user);
}

static int
on_output(const uint8_t *data, size_t len, void *user)
{
    const struct coding_stage *stage = user;
    struct coding *coding = stage->chain;

    if (stage->index + 1 < coding->n_stages) {
        stage_feed(&coding->stages[stage->index + 1], data, len);
        return coding->result != GRPCFRAME_RESULT_OK;
    }
    return put_out(coding, data, len);
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
    coding->pool = pool;
    coding->ceiling = ceiling;
    coding->ratio_free = GRPCFRAME_RATIO_FREE;
    coding->output = output;
    coding->user = user;
    if (n > CODING_MAX) {
        coding->is_unknown = 1;
        return;
    }
    coding->n_stages = n;
    for (unsigned i = 0; i < n; i++) {
        struct coding_stage *stage = &coding->stages[i];

        /* The coding listed last was applied last: it is undone first. */
        stage->chain = coding;
        stage->index = i;
        stage->codec = codecs[n - 1 - i];
        if (stage->codec == GRPCFRAME_CODEC_UNKNOWN) {
            coding->is_unknown = 1;
        }
    }
}

/* Only a body that has bytes needs decoders: many responses that name a
 * coding have none. */
static void
begin(struct coding *coding)
{
    coding->is_begun = 1;
    for (unsigned i = 0; i < coding->n_stages; i++) {
        struct coding_stage *stage = &coding->stages[i];

        stage->decoder =
            grpcframe_decoder_get(coding->pool, stage->codec,
                                  coding->ceiling, on_output, stage);
        if (stage->decoder == NULL) {
            coding->is_unknown = 1;
            note_result(coding, i, GRPCFRAME_RESULT_MEMORY);
            return;
        }
        grpcframe_decoder_set_free(stage->decoder, coding->ratio_free);
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
        if (put_out(coding, data, len) != 0) {
            coding->result = GRPCFRAME_RESULT_LIMIT;
        }
        return;
    }
    if (!coding->is_begun) {
        begin(coding);
    }
    if (!coding->is_unknown) {
        stage_feed(&coding->stages[0], data, len);
    }
}

enum grpcframe_result
coding_finish(struct coding *coding)
{
    if (coding->is_unknown && coding->result == GRPCFRAME_RESULT_OK) {
        return GRPCFRAME_RESULT_UNAVAILABLE;
    }
    for (unsigned i = 0; coding->is_begun && i < coding->n_stages; i++) {
        if (coding->result != GRPCFRAME_RESULT_OK) {
            break;
        }
        note_result(coding, i,
                    grpcframe_decoder_finish(coding->stages[i].decoder));
    }
    if (coding->result == GRPCFRAME_RESULT_OK) {
        probe_finish(coding);
    }
    return coding->result;
}

void
coding_clear(struct coding *coding)
{
    for (unsigned i = 0; i < coding->n_stages; i++) {
        grpcframe_decoder_put(coding->stages[i].decoder);
        coding->stages[i].decoder = NULL;
    }
    probe_end(coding);
}

/* ---- The fault ------------------------------------------------------- */

uint64_t
coding_offset(const struct coding *coding)
{
    const struct grpcframe_decoder *decoder =
        coding->stages[coding->failed].decoder;

    return decoder == NULL ? 0 : grpcframe_decoder_offset(decoder);
}

const char *
coding_name(const struct coding *coding)
{
    static const char *const names[] = {
        [GRPCFRAME_CODEC_NONE] = "none",
        [GRPCFRAME_CODEC_IDENTITY] = "identity",
        [GRPCFRAME_CODEC_GZIP] = "gzip",
        [GRPCFRAME_CODEC_DEFLATE] = "deflate",
        [GRPCFRAME_CODEC_BR] = "br",
        [GRPCFRAME_CODEC_ZSTD] = "zstd",
        [GRPCFRAME_CODEC_SNAPPY] = "snappy",
        [GRPCFRAME_CODEC_UNKNOWN] = "unknown",
    };

    return names[coding->stages[coding->failed].codec];
}

const char *
coding_magic(const struct coding *coding)
{
    const struct coding_stage *stage = &coding->stages[coding->failed];

    return grpcframe_magic(stage->head, stage->head_len);
}

/* Whether the input begins with |magic|, as far as it goes; of the first
 * byte the bits of |mask| count. */
static int
begins_with(const struct coding_stage *stage, const uint8_t *magic, size_t len,
            uint8_t mask)
{
    if (len > stage->head_len) {
        len = stage->head_len;
    }
    return len == 0 || ((stage->head[0] & mask) == (magic[0] & mask) &&
                        memcmp(stage->head + 1, magic + 1, len - 1) == 0);
}

int
coding_is_other(const struct coding *coding)
{
    static const uint8_t gzip[] = {0x1f, 0x8b};
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18};
    const struct coding_stage *stage = &coding->stages[coding->failed];

    if (stage->decoder == NULL) {
        return 0;
    }
    switch (stage->codec) {
    case GRPCFRAME_CODEC_GZIP:
        return !begins_with(stage, gzip, sizeof(gzip), 0xff);
    case GRPCFRAME_CODEC_ZSTD:
        return !begins_with(stage, zstd, sizeof(zstd), 0xff) &&
               !begins_with(stage, skippable, sizeof(skippable), 0xf0);
    default:
        break;
    }
    /* Neither brotli nor raw deflate has a magic number. */
    if (stage->codec != GRPCFRAME_CODEC_BR && stage->head_len > 1 &&
        grpcframe_decoder_form(stage->decoder) == GRPCFRAME_FORM_REGULAR) {
        return 0;
    }
    return is_text(stage->head, stage->head_len) ||
           coding_magic(coding) != NULL ||
           (coding->result == GRPCFRAME_RESULT_CORRUPT &&
            coding_offset(coding) < GRPCFRAME_HEAD_LEN);
}
