/* SPDX-License-Identifier: MIT */
/* Owns the words of a --what-if list.  What is done with the codecs is
 * what_if_bench.c's. */
#include "what_if_list.h"

#include <stdio.h>
#include <string.h>

#include "units.h"

/* WORD_MAX holds any word that can be right, and its NUL. */
#define WORD_MAX 16

static const char *const names[] = {
    [GRPCFRAME_CODEC_NONE] = "identity",
    [GRPCFRAME_CODEC_IDENTITY] = "identity",
    [GRPCFRAME_CODEC_GZIP] = "gzip",
    [GRPCFRAME_CODEC_DEFLATE] = "deflate",
    [GRPCFRAME_CODEC_BR] = "br",
    [GRPCFRAME_CODEC_ZSTD] = "zstd",
    [GRPCFRAME_CODEC_SNAPPY] = "snappy",
    [GRPCFRAME_CODEC_UNKNOWN] = "stacked",
};

const char *
what_if_codec_name(enum grpcframe_codec codec)
{
    return names[codec];
}

void
what_if_choice_label(const struct what_if_choice *choice,
                     char label[WHAT_IF_LABEL_MAX])
{
    if (choice->has_level)
        snprintf(label, WHAT_IF_LABEL_MAX, "%s:%d", names[choice->codec],
                 choice->level);
    else
        snprintf(label, WHAT_IF_LABEL_MAX, "%s", names[choice->codec]);
}

static const char *
choice_parse(struct what_if_choice *choice, const char *word)
{
    size_t name_len = strcspn(word, ":");
    struct grpcframe_levels levels;
    uint64_t level;

    choice->codec = grpcframe_codec_parse(word, name_len);
    if (grpcframe_encoder_levels(choice->codec, &levels) != 0)
        return "the codecs are gzip, deflate, br, zstd, snappy";
    choice->has_level = levels.high > 0;
    choice->level = levels.usual;
    if (word[name_len] == '\0')
        return NULL;
    if (!choice->has_level)
        return "snappy has no levels";
    if (units_parse(word + name_len + 1, units_none, (uint64_t)levels.high,
                    &level) != 0 ||
        level < (uint64_t)levels.low)
        return "the levels are gzip:1 to 9, deflate:1 to 9, br:0 to 11, "
               "zstd:1 to 22";
    choice->level = (int)level;
    return NULL;
}

static int
list_has(const struct what_if_list *list, const struct what_if_choice *choice)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->choices[i].codec == choice->codec &&
            list->choices[i].level == choice->level)
            return 1;
    return 0;
}

static const char *
list_add(struct what_if_list *list, const char *text, size_t len)
{
    struct what_if_choice choice;
    char word[WORD_MAX] = "";

    if (len < WORD_MAX)
        memcpy(word, text, len);
    const char *wrong = choice_parse(&choice, word);
    if (wrong != NULL)
        return wrong;
    if (list_has(list, &choice))
        return "a codec and level stand there twice";
    if (list->n == WHAT_IF_CODECS_MAX)
        return "more than 16 codecs";
    list->choices[list->n++] = choice;
    return NULL;
}

const char *
what_if_list_parse(struct what_if_list *list, const char *text)
{
    const char *word = text;

    list->n = 0;
    for (;;) {
        size_t len = strcspn(word, ",");
        const char *wrong = list_add(list, word, len);

        if (wrong != NULL || word[len] == '\0')
            return wrong;
        word += len + 1;
    }
}
