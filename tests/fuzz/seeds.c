/* SPDX-License-Identifier: MIT */
/*
 * Writes the vectors as inputs of fuzz_tap, one file each, so that fuzzing
 * starts from bytes that mean something.
 *
 * With --all also those that are too long to be worth fuzzing.
 *
 *     seeds [--all] DIRECTORY FILE...
 */
#include <stdio.h>
#include <string.h>

#include "../vector_file.h"

/* SEED_MAX is the length from which on a seed is too long. */
#define SEED_MAX 65536

/* RECORD_MAX is the most bytes one record can carry. */
#define RECORD_MAX 255

/* seed_make writes |script| the way fuzz_tap.c reads it. */
static void
seed_make(struct vector_buf *out, const struct vector_script *script)
{
    vector_buf_be(out, 0, 1);
    for (size_t i = 0; i < script->n_steps; i++) {
        const struct vector_step *step = &script->steps[i];

        if (step->kind == VECTOR_STEP_EOF) {
            vector_buf_be(out, 0x84u | (unsigned)step->from, 1);
            vector_buf_be(out, 0, 1);
        }
        for (size_t at = 0; at < step->bytes.len; at += RECORD_MAX) {
            size_t n = step->bytes.len - at;

            n = n < RECORD_MAX ? n : RECORD_MAX;
            vector_buf_be(out, step->from, 1);
            vector_buf_be(out, n, 1);
            vector_buf_add(out, step->bytes.data + at, n);
        }
    }
}

static void
seed_write(const char *directory, unsigned number,
           const struct vector_buf *seed)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/vector-%03u", directory, number);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(seed->data, 1, seed->len, file) != seed->len ||
        fclose(file) != 0) {
        vector_die("cannot write %s", path);
    }
}

int
main(int argc, char **argv)
{
    int is_all = argc > 1 && strcmp(argv[1], "--all") == 0;
    unsigned number = 0;

    argc -= is_all;
    argv += is_all;
    if (argc < 3) {
        vector_die("usage: seeds [--all] DIRECTORY FILE...");
    }
    for (int i = 2; i < argc; i++) {
        struct vector_file file;

        vector_file_load(&file, argv[i]);
        for (size_t k = 0; k < file.n; k++) {
            struct vector_buf seed = {0};

            seed_make(&seed, &file.vectors[k].script);
            if (is_all || seed.len < SEED_MAX) {
                seed_write(argv[1], number++, &seed);
            }
            vector_buf_clear(&seed);
        }
        vector_file_clear(&file);
    }
    printf("%u seeds\n", number);
    return 0;
}
