/* SPDX-License-Identifier: MIT */
/*
 * A bench on which messages are compressed and decompressed, and the CPU time
 * of both is taken.  It belongs to one thread.
 */
#ifndef WHAT_IF_BENCH_H
#define WHAT_IF_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "what_if_list.h"
#include "what_if_stats.h"
#include "what_if_table.h"

struct what_if_bench;

/* what_if_bench_new makes a bench for the codecs of |list|; NULL: memory. */
struct what_if_bench *what_if_bench_new(const struct what_if_list *list);

/* what_if_bench_free frees |bench|; NULL is fine. */
void what_if_bench_free(struct what_if_bench *bench);

/* what_if_bench_run tries codec |i| of the list on the |len| bytes at |data|.
 * Returns WHAT_IF_TAKEN; WHAT_IF_MEMORY; or WHAT_IF_FAILED
 * when what came of it does not decompress to |len| bytes again. */
enum what_if_skip what_if_bench_run(struct what_if_bench *bench, unsigned i,
                                    const uint8_t *data, size_t len,
                                    struct what_if_outcome *outcome);

/* what_if_bench_cpu returns the CPU time that the calling thread has used, in
 * nanoseconds. */
uint64_t what_if_bench_cpu(void);

#endif
