/* SPDX-License-Identifier: MIT */
/*
 * A main for any fuzz target: runs it on files, and on everything in
 * directories, so that a compiler without a fuzzer can replay a corpus.  With
 * --mutate N each file is also run N times with some bytes changed, always
 * the same ones.  A fault is the target's to find: it aborts.
 *
 *     replay [--mutate N] FILE|DIRECTORY...
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* INPUT_MAX is the most that is read of a file. */
#define INPUT_MAX (1u << 20)

/* struct replay counts, and holds what a run needs. */
struct replay {
    /* n_mutations is how often each file is changed. */
    unsigned long n_mutations;
    /* n_runs counts the inputs run. */
    unsigned long n_runs;
    /* state is that of the random generator. */
    uint32_t state;
};

static uint32_t
replay_random(struct replay *replay)
{
    replay->state ^= replay->state << 13;
    replay->state ^= replay->state >> 17;
    replay->state ^= replay->state << 5;
    return replay->state;
}

/* mutate changes |*size| bytes at |data| in a few places: bits, bytes, runs
 * left out, runs repeated. */
static void
mutate(struct replay *replay, uint8_t *data, size_t *size)
{
    unsigned n = 1 + replay_random(replay) % 6;

    for (unsigned i = 0; i<n && * size> 0; i++) {
        size_t at = replay_random(replay) % *size;
        size_t run = replay_random(replay) % 16;

        run = run < *size - at ? run : *size - at;
        switch (replay_random(replay) % 4) {
        case 0:
            data[at] ^= (uint8_t)(1u << replay_random(replay) % 8);
            break;
        case 1:
            data[at] = (uint8_t)replay_random(replay);
            break;
        case 2:
            memmove(data + at, data + at + run, *size - at - run);
            *size -= run;
            break;
        default:
            memmove(data + replay_random(replay) % (*size - run + 1), data + at,
                    run);
            break;
        }
    }
}

/* run gives the target a copy of its own size, for a memory checker. */
static void
run(struct replay *replay, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + (size == 0));

    if (copy == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    replay->n_runs++;
}

static void
replay_file(struct replay *replay, const char *path)
{
    static uint8_t data[INPUT_MAX];
    static uint8_t changed[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (file == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    size = fread(data, 1, sizeof(data), file);
    fclose(file);
    run(replay, data, size);
    for (unsigned long i = 0; i < replay->n_mutations; i++) {
        size_t n = size;

        memcpy(changed, data, size);
        mutate(replay, changed, &n);
        run(replay, changed, n);
    }
}

static void
replay_path(struct replay *replay, const char *path)
{
    struct dirent **entries;
    struct stat st;
    int n;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        replay_file(replay, path);
        return;
    }
    n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char name[4096];

        if (entries[i]->d_name[0] != '.') {
            snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
            replay_path(replay, name);
        }
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
}

int
main(int argc, char **argv)
{
    struct replay replay = {0, 0, 2463534242u};
    int first = 1;

    if (argc > 2 && strcmp(argv[1], "--mutate") == 0) {
        replay.n_mutations = strtoul(argv[2], NULL, 10);
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        replay_path(&replay, argv[i]);
    }
    printf("%lu passed, 0 failed\n", replay.n_runs);
    return replay.n_runs > 0 ? 0 : 1;
}
