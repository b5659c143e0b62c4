/* SPDX-License-Identifier: MIT */
/*
 * What the programs that read corpora share: finding files, counting results,
 * and playing a script in several cuts.
 */
#ifndef CORPUS_H
#define CORPUS_H

#include "vector_ledger.h"
#include "vector_tap.h"

/* struct corpus is a run over the files of a corpus. */
struct corpus {
    /* files are n_files paths in order. */
    char **files;
    size_t n_files;
    /* n_passed and n_failed count the files. */
    unsigned n_passed;
    unsigned n_failed;
};

/*
 * corpus_directory returns the directory |name| of the corpora directory,
 * which the command line names, or the environment (GRPCTAP_CORPORA), or is
 * ../shared/corpora.  Where there is none the program says so and ends with
 * status 77.
 */
char *corpus_directory(int argc, char **argv, const char *name);

/* corpus_add adds the regular files under |path| whose names end with
 * |suffix|, in order; names with a leading dot do not count. */
void corpus_add(struct corpus *corpus, const char *path, const char *suffix);

/* corpus_result counts |path| as passed, or failed when |problem| has a text
 * (which is printed and emptied). */
void corpus_result(struct corpus *corpus, const char *path,
                   struct vector_buf *problem);

/* corpus_end prints the counts, frees |corpus| and returns the status to
 * exit with: 1 when anything failed or nothing was there. */
int corpus_end(struct corpus *corpus);

/*
 * corpus_play plays |script| whole, byte by byte and in |n_seeds| random
 * cuts.  The lines must be the same each time and balance.  They are left in
 * |lines| for the caller to clear; what is wrong goes to |problem|.
 */
void corpus_play(const struct vector_script *script, unsigned n_seeds,
                 struct vector_lines *lines, struct vector_buf *problem);

/* corpus_has_preface returns 1 when the client of |script| starts with the
 * whole HTTP/2 preface. */
int corpus_has_preface(const struct vector_script *script);

/* corpus_hello adds the start of an HTTP/2 connection: the preface, and empty
 * SETTINGS of both sides with their ACKs (an ACK belongs to the oldest
 * SETTINGS without one). */
void corpus_hello(struct vector_script *script);

#endif
