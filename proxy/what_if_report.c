/* SPDX-License-Identifier: MIT */
/* Owns what --summary says of --what-if: a table for each method and direction
 * and a sentence of advice below it.  The figures are what_if_stats.c's. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event_what_if.h"
#include "text.h"
#include "what_if_parts.h"

/* COLUMNS is the number of columns before the method. */
#define COLUMNS 11

/* CELL_MAX holds the widest cell: the codecs in use. */
#define CELL_MAX (EVENT_WHAT_IF_USED_MAX + 8)

/* NAME_MAX_LEN holds any name with each byte escaped. */
#define NAME_MAX_LEN (4 * WHAT_IF_PATH_MAX + 5)

/* The link for which advice names the codec that makes transfers shortest:
 * what a good access line has, and a virtual machine is often given. */
#define ADVICE_BPS 100e6

/* struct what_if_row is a line of the table. */
struct what_if_row {
    /* cells are right-aligned; what does not apply is `-`. */
    char cells[COLUMNS][CELL_MAX];
};

static const char *const titles[COLUMNS] = {
    "from",        "codec",           "tried",       "seen",       "bytes",
    "compressed",  "saved",           "grew",        "comp_us/KiB",
    "decomp_us/KiB", "pays_below",
};

/* struct what_if_group is an entry with what is said of it. */
struct what_if_group {
    /* entry is a method and direction, counts what was counted of it. */
    const struct what_if_entry *entry;
    struct what_if_counts counts;
    /* figures has an entry a codec. */
    struct what_if_figures figures[WHAT_IF_CODECS_MAX];
};

/* ---- Cells ----------------------------------------------------------- */

static void
cell_put_count(char cell[CELL_MAX], uint64_t count)
{
    snprintf(cell, CELL_MAX, "%" PRIu64, count);
}

static void
cell_put_saved(char cell[CELL_MAX], int known, double ratio)
{
    if (known)
        snprintf(cell, CELL_MAX, "%.1f%%", 100.0 * (1.0 - ratio));
}

/* A speed in three digits or so, without blanks. */
static void
put_speed(char *out, size_t cap, uint64_t bps, const char *gap)
{
    static const char *const units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s"};
    double speed = (double)bps;
    unsigned unit = 0;

    for (; speed >= 1000.0 && unit < 3; unit++)
        speed /= 1000.0;
    snprintf(out, cap, speed < 10.0 ? "%.1f%s%s" : "%.0f%s%s", speed, gap,
             units[unit]);
}

static void
row_begin(struct what_if_row *row, const struct what_if_group *group)
{
    for (int i = 0; i < COLUMNS; i++)
        snprintf(row->cells[i], CELL_MAX, "-");
    snprintf(row->cells[0], CELL_MAX, "%s", side_name(group->entry->side));
    cell_put_count(row->cells[3], group->counts.messages_seen);
}

/* What is in use: the level is not on the wire. */
static void
row_put_used(struct what_if_row *row, const struct what_if_group *group)
{
    const struct what_if_counts *counts = &group->counts;
    char used[EVENT_WHAT_IF_USED_MAX];

    event_what_if_used(counts, used);
    row_begin(row, group);
    if (used[0] != '\0')
        snprintf(row->cells[1], CELL_MAX, "now:%s:?", used);
    else
        snprintf(row->cells[1], CELL_MAX, "now:plain");
    cell_put_count(row->cells[4], counts->bytes_seen);
    if (!event_what_if_is_used_known(counts))
        return;
    cell_put_count(row->cells[5], counts->used_bytes);
    cell_put_saved(row->cells[6], counts->bytes_seen > 0,
                   (double)counts->used_bytes / (double)counts->bytes_seen);
}

static void
row_put_codec(struct what_if_row *row, const struct what_if_group *group,
              const struct what_if_choice *choice,
              const struct what_if_figures *figures)
{
    char label[WHAT_IF_LABEL_MAX];

    row_begin(row, group);
    what_if_choice_label(choice, label);
    snprintf(row->cells[1], CELL_MAX, "%s", label);
    cell_put_count(row->cells[2], group->counts.sampled);
    if (!figures->known)
        return;
    cell_put_count(row->cells[4], group->counts.sampled_bytes);
    cell_put_count(row->cells[5], figures->compressed_bytes);
    cell_put_saved(row->cells[6], 1, figures->ratio);
    cell_put_count(row->cells[7], figures->grew);
    snprintf(row->cells[8], CELL_MAX, "%.2f", figures->compress_us_per_kib);
    snprintf(row->cells[9], CELL_MAX, "%.2f", figures->decompress_us_per_kib);
    if (figures->break_even_bps > 0)
        put_speed(row->cells[10], CELL_MAX, figures->break_even_bps, "");
}

static void
rows_print(const struct what_if_row *rows, unsigned n, const char *name,
           FILE *file)
{
    for (unsigned k = 0; k < n; k++) {
        for (int i = 0; i < COLUMNS; i++) {
            int width = (int)strlen(titles[i]);

            /* The same widths for all groups, so that the table is one. */
            width = i == 1 ? 12 : width < 10 ? 10 : width;
            fprintf(file, "%*s  ", width, rows[k].cells[i]);
        }
        fprintf(file, "%s\n", name);
    }
}

static void
titles_print(FILE *file)
{
    struct what_if_row row;

    for (int i = 0; i < COLUMNS; i++)
        snprintf(row.cells[i], CELL_MAX, "%s", titles[i]);
    rows_print(&row, 1, "method", file);
}

/* ---- Advice ---------------------------------------------------------- */

/* What a message takes on the link of the advice, in us, saved by |figures|. */
static double
gain_of(const struct what_if_figures *figures)
{
    return figures->saved_bytes_per_message * 8e6 / ADVICE_BPS -
           figures->compress_us_per_message -
           figures->decompress_us_per_message;
}

/* The codec that gains most there; where none does, the one that pays on the
 * fastest link.  -1: none pays anywhere. */
static int
best_of(const struct what_if_group *group, unsigned n)
{
    int best = -1;
    int fastest = -1;

    for (unsigned i = 0; i < n; i++) {
        const struct what_if_figures *figures = &group->figures[i];

        if (figures->break_even_bps == 0)
            continue;
        if (fastest < 0 ||
            figures->break_even_bps > group->figures[fastest].break_even_bps)
            fastest = (int)i;
        if (gain_of(figures) > 0 &&
            (best < 0 || gain_of(figures) > gain_of(&group->figures[best])))
            best = (int)i;
    }
    return best >= 0 ? best : fastest;
}

static void
print_grown(const struct what_if_group *group,
            const struct what_if_figures *figures, FILE *file)
{
    if (figures->grew == 0)
        return;
    if (figures->is_split)
        fprintf(file, "; messages up to %" PRIu64 " bytes grow",
                figures->largest_growing_bytes);
    else
        fprintf(file, "; %" PRIu64 " of %" PRIu64 " messages grow",
                figures->grew, group->counts.sampled);
}

/* What is in use saves something, too. */
static void
print_used(const struct what_if_group *group, FILE *file)
{
    const struct what_if_counts *counts = &group->counts;
    char used[EVENT_WHAT_IF_USED_MAX];

    event_what_if_used(counts, used);
    if (used[0] == '\0')
        return;
    fprintf(file, "; now %s", used);
    if (event_what_if_is_used_known(counts))
        fprintf(file, " saves %.1f %%",
                100.0 - 100.0 * (double)counts->used_bytes /
                            (double)counts->bytes_seen);
}

static void
print_advice(const struct what_if_group *group,
             const struct what_if_list *list, FILE *file)
{
    int best = best_of(group, list->n);
    char label[WHAT_IF_LABEL_MAX];
    char speed[32];

    if (group->counts.sampled == 0) {
        fputs("    nothing could be tried: no advice\n", file);
        return;
    }
    if (best < 0) {
        fputs("    leave it plain: no codec of the list makes these messages "
              "shorter\n",
              file);
        return;
    }
    const struct what_if_figures *figures = &group->figures[best];
    what_if_choice_label(&list->choices[best], label);
    put_speed(speed, sizeof(speed), figures->break_even_bps, " ");
    fprintf(file, "    %s saves %.1f %% and pays below %s", label,
            100.0 * (1.0 - figures->ratio), speed);
    print_grown(group, figures, file);
    print_used(group, file);
    fputs("\n", file);
}

/* ---- The table ------------------------------------------------------- */

static void
print_group(const struct what_if_group *group,
            const struct what_if_list *list, FILE *file)
{
    struct what_if_row rows[WHAT_IF_CODECS_MAX + 1];
    char name[NAME_MAX_LEN];

    text_line(name, sizeof(name), group->entry->path, group->entry->path_len);
    row_put_used(&rows[0], group);
    for (unsigned i = 0; i < list->n; i++)
        row_put_codec(&rows[i + 1], group, &list->choices[i],
                      &group->figures[i]);
    rows_print(rows, list->n + 1, name, file);
    print_advice(group, list, file);
}

/* Most bytes first; a method's two directions are entries of their own. */
static int
group_compare(const void *a, const void *b)
{
    const struct what_if_group *x = a;
    const struct what_if_group *y = b;

    if (x->counts.bytes_seen != y->counts.bytes_seen)
        return x->counts.bytes_seen < y->counts.bytes_seen ? 1 : -1;
    if (x->entry->side != y->entry->side)
        return x->entry->side > y->entry->side ? 1 : -1;
    return strncmp(x->entry->path, y->entry->path, WHAT_IF_PATH_MAX);
}

/* Returns the entries with messages, for free(); NULL: memory. */
static struct what_if_group *
make_groups(const struct what_if *what_if, size_t *n)
{
    const struct what_if_entry *entry;
    struct what_if_group *groups;

    *n = 0;
    for (entry = atomic_load(&what_if->table.first); entry != NULL;
         entry = entry->next)
        ++*n;
    groups = calloc(*n, sizeof(*groups));
    *n = 0;
    for (entry = atomic_load(&what_if->table.first);
         entry != NULL && groups != NULL; entry = entry->next) {
        struct what_if_group *group = &groups[*n];

        group->entry = entry;
        group->counts = what_if_entry_counts(entry);
        for (unsigned i = 0; i < what_if->config.list.n; i++)
            group->figures[i] = what_if_stats_figures(entry->stats, i);
        *n += group->counts.messages_seen > 0;
    }
    return groups;
}

void
what_if_print(const struct what_if *what_if, FILE *file)
{
    size_t n;
    struct what_if_group *groups = make_groups(what_if, &n);

    if (groups == NULL || n == 0) {
        free(groups);
        return;
    }
    qsort(groups, n, sizeof(*groups), group_compare);
    fputs("\n", file);
    titles_print(file);
    for (size_t i = 0; i < n; i++)
        print_group(&groups[i], &what_if->config.list, file);
    free(groups);
}
