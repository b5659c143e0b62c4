/* SPDX-License-Identifier: MIT */
/*
 * The methods that --what-if has seen, each direction an entry, and what was
 * counted for it.  Workers find entries, under a lock that they share, and
 * count; the thread of --what-if walks along them without it.
 */
#ifndef WHAT_IF_TABLE_H
#define WHAT_IF_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* An entry that cannot be added is not worth the program's life. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "../grpcframe/grpcframe.h"
#include "side.h"

/* WHAT_IF_ENTRIES_MAX bounds the entries; what has no place goes to the entry
 * `(other)` of its direction.  An entry has sums for each codec: up to 12 KiB
 * with the longest list. */
#define WHAT_IF_ENTRIES_MAX 500

/* WHAT_IF_PATH_MAX bounds the name of an entry; longer paths are cut there and
 * share the entry of their beginning. */
#define WHAT_IF_PATH_MAX 256

/* enum what_if_skip is why a message was not tried. */
enum what_if_skip {
    WHAT_IF_EMPTY,     /* it has no bytes */
    WHAT_IF_LARGE,     /* it is longer than WHAT_IF_MESSAGE_MAX */
    WHAT_IF_BUSY,      /* too much was waiting already */
    WHAT_IF_MEMORY,    /* memory ran out */
    WHAT_IF_UNDECODED, /* what it holds is not known */
    WHAT_IF_STOPPED,   /* the run ended before its turn */
    WHAT_IF_FAILED,    /* what a codec made of it is not it again */
    WHAT_IF_SKIPS,
    WHAT_IF_TAKEN = WHAT_IF_SKIPS /* it is or will be tried */
};

struct what_if_stats;

/* struct what_if_entry is a method and direction. */
struct what_if_entry {
    /* next is the entry made before; set once. */
    struct what_if_entry *next;
    /* hh makes it an entry of a hash table; the key is path. */
    UT_hash_handle hh;
    /* Counted by workers, each message once it is complete. */
    _Atomic uint64_t messages_seen;
    /* bytes_seen is what those hold whose content is known, used_bytes what
     * they were sent as. */
    _Atomic uint64_t bytes_seen;
    _Atomic uint64_t used_bytes;
    /* used counts the compressed ones of these, by codec; used_hidden those
     * whose codec is not to be shown; used_unknown those of which nobody knows
     * what they were sent as, and which used_bytes lacks. */
    _Atomic uint64_t used[GRPCFRAME_CODEC_UNKNOWN + 1];
    _Atomic uint64_t used_hidden;
    _Atomic uint64_t used_unknown;
    /* skipped counts by enum what_if_skip. */
    _Atomic uint64_t skipped[WHAT_IF_SKIPS];
    /* n_waiting is how many wait to be tried, held the bytes of their samples
     * and of those that are being collected. */
    _Atomic unsigned n_waiting;
    _Atomic size_t held;
    /* The rest is the thread's: what was tried (NULL: nothing yet), and
     * messages_seen of the last event. */
    struct what_if_stats *stats;
    uint64_t reported;
    /* side sent the messages. */
    enum side side;
    /* is_unknown is 1 for calls without a path. */
    int is_unknown;
    /* path has path_len bytes. */
    uint32_t path_len;
    char path[WHAT_IF_PATH_MAX];
};

/* struct what_if_table is all entries. */
struct what_if_table {
    /* lock is for workers, each of which may wait for another, to find or make
     * an entry.  The thread, of the lowest priority, never takes it. */
    pthread_mutex_t lock;
    /* first is the entry made last. */
    struct what_if_entry *_Atomic first;
    /* by_path are the entries of each side, uthash tables of n entries
     * altogether; for workers, under the lock. */
    struct what_if_entry *by_path[2];
    unsigned n;
    /* other and unknown are the collective entries of each direction. */
    struct what_if_entry other[2];
    struct what_if_entry unknown[2];
};

/* what_if_table_init sets up |table|; what_if_table_clear frees the entries
 * and their statistics. */
void what_if_table_init(struct what_if_table *table);
void what_if_table_clear(struct what_if_table *table);

/* what_if_table_find returns the entry of |path| (NULL: unknown) and |side|;
 * memory running out only merges it into `(other)`.  From any worker. */
struct what_if_entry *what_if_table_find(struct what_if_table *table,
                                         enum side side, const char *path,
                                         size_t path_len);

/* struct what_if_counts is an entry's counts at one moment. */
struct what_if_counts {
    uint64_t messages_seen;
    uint64_t bytes_seen;
    uint64_t used_bytes;
    uint64_t used[GRPCFRAME_CODEC_UNKNOWN + 1];
    uint64_t used_hidden;
    uint64_t used_unknown;
    uint64_t skipped[WHAT_IF_SKIPS];
    /* sampled were tried, of sampled_bytes; waiting are to be. */
    uint64_t sampled;
    uint64_t sampled_bytes;
    uint64_t waiting;
};

/* what_if_entry_counts returns the counts of |entry|: messages_seen is the sum
 * of skipped, sampled and waiting.  For the thread. */
struct what_if_counts what_if_entry_counts(const struct what_if_entry *entry);

#endif
