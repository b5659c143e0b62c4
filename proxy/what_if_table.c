/* SPDX-License-Identifier: MIT */
/* Owns the entries of --what-if and the finding of them.  What is counted in
 * them is what_if_tap.c's and what_if.c's. */
#include "what_if_table.h"

#include <stdlib.h>
#include <string.h>

#include "what_if_stats.h"

static void
entry_set(struct what_if_entry *entry, enum side side, const char *path,
          size_t path_len)
{
    entry->side = side;
    entry->path_len = (uint32_t)path_len;
    memcpy(entry->path, path, path_len);
}

/* Others may be walking along the list. */
static void
table_publish(struct what_if_table *table, struct what_if_entry *entry)
{
    entry->next = atomic_load(&table->first);
    atomic_store(&table->first, entry);
}

void
what_if_table_init(struct what_if_table *table)
{
    static const char unknown[] = "(unknown)";
    static const char other[] = "(other)";

    memset(table, 0, sizeof(*table));
    pthread_mutex_init(&table->lock, NULL);
    for (int side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
        entry_set(&table->unknown[side], (enum side)side, unknown,
                  sizeof(unknown) - 1);
        entry_set(&table->other[side], (enum side)side, other,
                  sizeof(other) - 1);
        table->unknown[side].is_unknown = 1;
        table_publish(table, &table->unknown[side]);
        table_publish(table, &table->other[side]);
    }
}

static int
is_collective(const struct what_if_table *table,
              const struct what_if_entry *entry)
{
    for (int side = SIDE_CLIENT; side <= SIDE_SERVER; side++)
        if (entry == &table->unknown[side] || entry == &table->other[side])
            return 1;
    return 0;
}

void
what_if_table_clear(struct what_if_table *table)
{
    struct what_if_entry *entry = atomic_load(&table->first);

    HASH_CLEAR(hh, table->by_path[SIDE_CLIENT]);
    HASH_CLEAR(hh, table->by_path[SIDE_SERVER]);
    while (entry != NULL) {
        struct what_if_entry *next = entry->next;

        free(entry->stats);
        if (!is_collective(table, entry))
            free(entry);
        entry = next;
    }
    pthread_mutex_destroy(&table->lock);
}

static struct what_if_entry *
table_add(struct what_if_table *table, enum side side, const char *path,
          size_t len)
{
    struct what_if_entry *entry;

    if (table->n == WHAT_IF_ENTRIES_MAX)
        return &table->other[side];
    entry = calloc(1, sizeof(*entry));
    if (entry == NULL)
        return &table->other[side];
    entry_set(entry, side, path, len);
    HASH_ADD(hh, table->by_path[side], path, len, entry);
    if (entry->hh.tbl == NULL) {
        free(entry);
        return &table->other[side];
    }
    table->n++;
    table_publish(table, entry);
    return entry;
}

struct what_if_entry *
what_if_table_find(struct what_if_table *table, enum side side,
                   const char *path, size_t path_len)
{
    struct what_if_entry *entry = NULL;

    if (path == NULL)
        return &table->unknown[side];
    if (path_len > WHAT_IF_PATH_MAX)
        path_len = WHAT_IF_PATH_MAX;
    pthread_mutex_lock(&table->lock);
    HASH_FIND(hh, table->by_path[side], path, path_len, entry);
    if (entry == NULL)
        entry = table_add(table, side, path, path_len);
    pthread_mutex_unlock(&table->lock);
    return entry;
}

struct what_if_counts
what_if_entry_counts(const struct what_if_entry *entry)
{
    struct what_if_counts counts = {0};
    uint64_t settled = 0;

    if (entry->stats != NULL) {
        counts.sampled = entry->stats->messages;
        counts.sampled_bytes = entry->stats->bytes;
    }
    for (int i = 0; i < WHAT_IF_SKIPS; i++) {
        counts.skipped[i] = atomic_load(&entry->skipped[i]);
        settled += counts.skipped[i];
    }
    for (int i = 0; i <= GRPCFRAME_CODEC_UNKNOWN; i++)
        counts.used[i] = atomic_load(&entry->used[i]);
    counts.used_hidden = atomic_load(&entry->used_hidden);
    counts.used_unknown = atomic_load(&entry->used_unknown);
    counts.used_bytes = atomic_load(&entry->used_bytes);
    counts.bytes_seen = atomic_load(&entry->bytes_seen);
    /* Last: a message is seen before anything else is counted of it. */
    counts.messages_seen = atomic_load(&entry->messages_seen);
    counts.waiting = counts.messages_seen - settled - counts.sampled;
    return counts;
}
