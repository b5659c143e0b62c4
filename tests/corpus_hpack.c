/* SPDX-License-Identifier: MIT */
/*
 * Plays the header blocks that other encoders wrote (http2jp stories, netty's
 * vectors) on one connection and compares the `headers` events with what the
 * files say.  It does so once for each direction.
 *
 *     corpus_hpack [CORPORA]
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "vector_frame.h"
#include "vector_hpack.h"

/* FRAME_MAX is the longest payload that needs no setting. */
#define FRAME_MAX 16384

/* struct story is a file being played. */
struct story {
    /* script is what is played. */
    struct vector_script script;
    /* from is the side that sends the header blocks. */
    enum side from;
    /* stream is the next one to use. */
    uint32_t stream;
    /* table_size is the limit in force. */
    uint32_t table_size;
    /* wants are the decoded blocks, in order: arrays of objects that have
     * one name each. */
    const cJSON **wants;
    size_t n_wants;
    /* n_table counts the entries of the dynamic table after the last block;
     * -1 when the file does not say. */
    int n_table;
};

static struct vector_buf *
story_send(struct story *story, enum side from)
{
    return &vector_script_add(&story->script, VECTOR_STEP_BYTES, from, 0)
                ->bytes;
}

/* story_block sends |block| as HEADERS, and CONTINUATION where it is long. */
static void
story_block(struct story *story, const struct vector_buf *block)
{
    struct vector_buf *out = story_send(story, story->from);
    size_t at = 0;

    do {
        size_t n = block->len - at < FRAME_MAX ? block->len - at : FRAME_MAX;
        unsigned flags = at + n == block->len ? VECTOR_FLAG_END_HEADERS : 0u;

        if (at == 0) {
            flags |= VECTOR_FLAG_END_STREAM;
        }
        vector_frame_head(
            out, n, at == 0 ? VECTOR_FRAME_HEADERS : VECTOR_FRAME_CONTINUATION,
            flags, story->stream);
        vector_buf_add(out, block->data + at, n);
        at += n;
    } while (at < block->len);
    story->stream += 2;
}

static void
story_want(struct story *story, const cJSON *headers)
{
    story->wants =
        vector_grow(story->wants, story->n_wants + 1, sizeof(*story->wants));
    story->wants[story->n_wants++] = headers;
}

/* story_limit brings a table size into force: SETTINGS of the receiver, ACK
 * of the sender. */
static void
story_limit(struct story *story, uint32_t size)
{
    struct vector_buf *out;

    if (size == story->table_size) {
        return;
    }
    out = story_send(story, side_other(story->from));
    vector_frame_head(out, 6, VECTOR_FRAME_SETTINGS, 0, 0);
    vector_buf_be(out, 1, 2);
    vector_buf_be(out, size, 4);
    out = story_send(story, story->from);
    vector_frame_head(out, 0, VECTOR_FRAME_SETTINGS, 1, 0);
    story->table_size = size;
}

static void
hex_add(struct vector_buf *out, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    unsigned value = 0;
    int n = 0;

    for (; *text != 0; text++) {
        const char *digit = strchr(digits, tolower((unsigned char)*text));

        if (digit == NULL) {
            continue;
        }
        value = value << 4 | (unsigned)(digit - digits);
        n++;
        if (n % 2 == 0) {
            vector_buf_be(out, value & 0xff, 1);
        }
    }
}

static void
story_case(struct story *story, const cJSON *item)
{
    const cJSON *size =
        cJSON_GetObjectItemCaseSensitive(item, "header_table_size");
    struct vector_buf block = {0};

    if (cJSON_IsNumber(size)) {
        story_limit(story, (uint32_t)size->valuedouble);
    }
    hex_add(&block, vector_lines_string(item, "wire"));
    story_block(story, &block);
    story_want(story, cJSON_GetObjectItemCaseSensitive(item, "headers"));
    vector_buf_clear(&block);
}

/* netty_probe asks for every entry of the dynamic table by its index. */
static void
netty_probe(struct story *story, const cJSON *table)
{
    struct vector_buf block = {0};
    int n = cJSON_GetArraySize(table);

    for (int i = 0; i < n; i++) {
        vector_hpack_indexed(&block, 62 + (uint32_t)i);
    }
    if (n > 0) {
        story_block(story, &block);
        story_want(story, table);
    }
    story->n_table = n;
    vector_buf_clear(&block);
}

/* netty_case plays one block.  The limit that netty's decoder is created
 * with is said on the wire: as an update in the first block. */
static void
netty_case(struct story *story, const cJSON *item, const cJSON *limit)
{
    struct vector_buf block = {0};
    const cJSON *line;

    if (cJSON_IsNumber(limit)) {
        vector_hpack_size(&block, (uint32_t)limit->valuedouble);
    }
    cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(item, "encoded"))
    {
        hex_add(&block, line->valuestring);
    }
    story_block(story, &block);
    story_want(story, cJSON_GetObjectItemCaseSensitive(item, "headers"));
    netty_probe(story, cJSON_GetObjectItemCaseSensitive(item, "dynamic_table"));
    vector_buf_clear(&block);
}

static void
story_build(struct story *story, const cJSON *file)
{
    const cJSON *limit =
        cJSON_GetObjectItemCaseSensitive(file, "max_header_table_size");
    const cJSON *item;

    corpus_hello(&story->script);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(file, "cases"))
    {
        story_case(story, item);
    }
    cJSON_ArrayForEach(item,
                       cJSON_GetObjectItemCaseSensitive(file, "header_blocks"))
    {
        netty_case(story, item, limit);
        limit = NULL;
    }
    if (story->n_table >= 0) {
        struct vector_buf block = {0};

        vector_hpack_indexed(&block, 62 + (uint32_t)story->n_table);
        story_block(story, &block);
        vector_buf_clear(&block);
    }
}

/* pairs_of returns the pairs of a `headers` event. */
static const cJSON *
pairs_of(const cJSON *event)
{
    return cJSON_GetObjectItemCaseSensitive(event, "headers");
}

/* block_matches compares [[name, value]...] with [{name: value}...]. */
static int
block_matches(const cJSON *got, const cJSON *want)
{
    const cJSON *pair = got->child;
    const cJSON *item;

    cJSON_ArrayForEach(item, want)
    {
        const cJSON *field = item->child;
        const cJSON *name = cJSON_GetArrayItem(pair, 0);
        const cJSON *value = cJSON_GetArrayItem(pair, 1);

        if (!cJSON_IsString(name) || !cJSON_IsString(value) ||
            strcmp(name->valuestring, field->string) != 0 ||
            strcmp(value->valuestring, field->valuestring) != 0) {
            return 0;
        }
        pair = pair->next;
    }
    return pair == NULL;
}

/* story_compare: each block as the file says, and no fault but the one that
 * the last probe makes on purpose. */
static void
story_compare(const struct story *story, const struct vector_lines *lines,
              struct vector_buf *problem)
{
    size_t n = 0;
    int n_errors = 0;

    for (size_t i = 0; i < lines->n; i++) {
        const cJSON *event = lines->events[i];

        n_errors +=
            strcmp(vector_lines_string(event, "code"), "hpack_error") == 0;
        if (strcmp(vector_lines_event(event), "headers") != 0 ||
            n == story->n_wants) {
            continue;
        }
        if (!cJSON_IsArray(pairs_of(event)) ||
            !block_matches(pairs_of(event), story->wants[n])) {
            char *text = cJSON_PrintUnformatted(event);

            vector_format(problem, "block %zu is different: %s", n, text);
            cJSON_free(text);
            return;
        }
        n++;
    }
    if (n != story->n_wants) {
        vector_format(problem, "%zu of %zu blocks were decoded", n,
                      story->n_wants);
    } else if (n_errors != (story->n_table >= 0)) {
        vector_format(problem, "%d hpack_error notices", n_errors);
    }
}

static void
story_play(const cJSON *file, enum side from, struct vector_buf *problem)
{
    struct story story;
    struct vector_lines lines;

    memset(&story, 0, sizeof(story));
    story.from = from;
    story.stream = 1;
    story.table_size = 4096;
    story.n_table = -1;
    story.script.config.events = vector_tap_all_events;
    story.script.config.show_secrets = 1;
    story_build(&story, file);
    corpus_play(&story.script, 1, &lines, problem);
    if (problem->len == 0) {
        story_compare(&story, &lines, problem);
    }
    vector_lines_clear(&lines);
    vector_script_clear(&story.script);
    free(story.wants);
}

static void
file_play(const char *path, struct vector_buf *problem)
{
    struct vector_buf text = {0};
    cJSON *file = NULL;

    if (vector_file_read(&text, path) == 0) {
        file = cJSON_Parse((const char *)text.data);
    }
    if (file == NULL) {
        vector_format(problem, "cannot be read");
    } else {
        story_play(file, SIDE_CLIENT, problem);
    }
    if (problem->len == 0) {
        story_play(file, SIDE_SERVER, problem);
    }
    cJSON_Delete(file);
    vector_buf_clear(&text);
}

int
main(int argc, char **argv)
{
    char *directory = corpus_directory(argc, argv, "hpack");
    struct corpus corpus;

    memset(&corpus, 0, sizeof(corpus));
    corpus_add(&corpus, directory, ".json");
    for (size_t i = 0; i < corpus.n_files; i++) {
        struct vector_buf problem = {0};

        file_play(corpus.files[i], &problem);
        corpus_result(&corpus, corpus.files[i], &problem);
    }
    free(directory);
    return corpus_end(&corpus);
}
