/* SPDX-License-Identifier: MIT */
/*
 * Owns the walk over corpora and the checks that hold for any input.  What a
 * corpus expects beyond them is its program's.
 */
#include "corpus.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../proxy/kind.h"
#include "vector_frame.h"
#include "vector_recut.h"
#include "vector_rules.h"

static char *
path_join(const char *directory, const char *name)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = vector_alloc(size);

    snprintf(path, size, "%s/%s", directory, name);
    return path;
}

char *
corpus_directory(int argc, char **argv, const char *name)
{
    const char *root = argc > 1 ? argv[1] : getenv("GRPCTAP_CORPORA");
    struct stat st;
    char *path;

    path = path_join(root == NULL ? "../shared/corpora" : root, name);
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        printf("skipped: there is no corpus at %s\n", path);
        free(path);
        exit(77);
    }
    return path;
}

static int
has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name);
    size_t k = strlen(suffix);

    return n >= k && strcmp(name + n - k, suffix) == 0;
}

void
corpus_add(struct corpus *corpus, const char *path, const char *suffix)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);

    if (n < 0) {
        vector_die("cannot read %s", path);
    }
    for (int i = 0; i < n; i++) {
        char *name = path_join(path, entries[i]->d_name);
        struct stat st;

        if (entries[i]->d_name[0] == '.' || stat(name, &st) != 0) {
            free(name);
        } else if (S_ISDIR(st.st_mode)) {
            corpus_add(corpus, name, suffix);
            free(name);
        } else if (has_suffix(name, suffix)) {
            corpus->files = vector_grow(corpus->files, corpus->n_files + 1,
                                        sizeof(*corpus->files));
            corpus->files[corpus->n_files++] = name;
        } else {
            free(name);
        }
        free(entries[i]);
    }
    free(entries);
}

void
corpus_result(struct corpus *corpus, const char *path,
              struct vector_buf *problem)
{
    if (problem->len == 0) {
        corpus->n_passed++;
        return;
    }
    printf("%s: %s\n", path, (const char *)problem->data);
    fflush(stdout);
    vector_buf_clear(problem);
    corpus->n_failed++;
}

int
corpus_end(struct corpus *corpus)
{
    int status = corpus->n_failed > 0 || corpus->n_passed == 0;

    printf("%u passed, %u failed\n", corpus->n_passed, corpus->n_failed);
    for (size_t i = 0; i < corpus->n_files; i++) {
        free(corpus->files[i]);
    }
    free(corpus->files);
    return status;
}

int
corpus_has_preface(const struct vector_script *script)
{
    struct vector_buf head = {0};
    int result;

    for (size_t i = 0; i < script->n_steps && head.len < VECTOR_PREFACE_LEN;
         i++) {
        const struct vector_step *step = &script->steps[i];

        if (step->from == SIDE_CLIENT) {
            vector_buf_add(&head, step->bytes.data, step->bytes.len);
        }
    }
    result = head.len >= VECTOR_PREFACE_LEN &&
             memcmp(head.data, VECTOR_PREFACE, VECTOR_PREFACE_LEN) == 0;
    vector_buf_clear(&head);
    return result;
}

static void
balance(const struct vector_script *script, const struct vector_run *run,
        struct vector_lines *lines, struct vector_buf *problem)
{
    struct vector_ledger_rules rules;

    memset(&rules, 0, sizeof(rules));
    for (size_t i = 0; i < script->n_steps; i++) {
        rules.sent[script->steps[i].from] += script->steps[i].bytes.len;
    }
    rules.has_calls = (script->config.events >> EVENT_CALL & 1) != 0;
    rules.has_frames = script->config.events == vector_tap_all_events;
    rules.preface = corpus_has_preface(script);
    if (vector_lines_parse(lines, &run->text, problem) == 0 &&
        vector_ledger_check(lines, &rules, problem) == 0) {
        vector_rules_check(script, SIZE_MAX, lines, problem);
    }
}

/* same compares the lines of another cut with those of the whole. */
static void
same(const struct vector_run *whole, const struct vector_run *run,
     const struct vector_cut *cut, struct vector_buf *problem)
{
    size_t n =
        whole->text.len < run->text.len ? whole->text.len : run->text.len;
    size_t at = 0;
    size_t line = 0;

    for (; at < n && whole->text.data[at] == run->text.data[at]; at++) {
        line = whole->text.data[at] == '\n' ? at + 1 : line;
    }
    if (at == whole->text.len && at == run->text.len) {
        return;
    }
    vector_format(problem,
                  "%s gives other events\n    whole:    %.*s\n"
                  "    this cut: %.*s",
                  vector_cut_name(cut),
                  (int)strcspn((char *)whole->text.data + line, "\n"),
                  whole->text.data + line,
                  (int)strcspn((char *)run->text.data + line, "\n"),
                  run->text.data + line);
}

void
corpus_play(const struct vector_script *script, unsigned n_seeds,
            struct vector_lines *lines, struct vector_buf *problem)
{
    struct vector_cut cut = {VECTOR_CUT_WHOLE, 0, 0};
    struct vector_run whole;
    struct vector_run run;

    memset(&whole, 0, sizeof(whole));
    memset(&run, 0, sizeof(run));
    memset(lines, 0, sizeof(*lines));
    vector_tap_play(script, &cut, &whole);
    balance(script, &whole, lines, problem);
    if (problem->len == 0) {
        vector_recut_check(script, 1, lines, problem);
    }
    for (unsigned i = 0; i <= n_seeds && problem->len == 0; i++) {
        cut.kind = i == 0 ? VECTOR_CUT_BYTES : VECTOR_CUT_RANDOM;
        cut.seed = i;
        vector_tap_play(script, &cut, &run);
        same(&whole, &run, &cut, problem);
    }
    vector_buf_clear(&whole.text);
    vector_buf_clear(&run.text);
}

void
corpus_hello(struct vector_script *script)
{
    struct vector_step *step =
        vector_script_add(script, VECTOR_STEP_BYTES, SIDE_CLIENT, 0);

    vector_buf_add(&step->bytes, VECTOR_PREFACE, VECTOR_PREFACE_LEN);
    vector_frame_head(&step->bytes, 0, VECTOR_FRAME_SETTINGS, 0, 0);
    step = vector_script_add(script, VECTOR_STEP_BYTES, SIDE_SERVER, 0);
    vector_frame_head(&step->bytes, 0, VECTOR_FRAME_SETTINGS, 0, 0);
    vector_frame_head(&step->bytes, 0, VECTOR_FRAME_SETTINGS, 1, 0);
    step = vector_script_add(script, VECTOR_STEP_BYTES, SIDE_CLIENT, 0);
    vector_frame_head(&step->bytes, 0, VECTOR_FRAME_SETTINGS, 1, 0);
}
