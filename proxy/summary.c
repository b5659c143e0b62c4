/* SPDX-License-Identifier: MIT */
/* Owns the figures per method and the look of their table.  What counts as a
 * call or an error its caller decides. */
#include "summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A row that cannot be added is not worth the program's life: see
 * summary_row. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "histogram.h"
#include "side.h"
#include "text.h"

/* COLUMNS is the number of columns before the method. */
#define COLUMNS 11

/* CELL_MAX holds any 64-bit number. */
#define CELL_MAX 24

/* NAME_MAX_LEN holds any name with each byte escaped, and one escape more, so
 * that there is always room for the next. */
#define NAME_MAX_LEN (4 * SUMMARY_PATH_MAX + 5)

/* struct row is what is known of one method. */
struct row {
    /* hh makes it an entry of the table; the key is name. */
    UT_hash_handle hh;
    /* calls counts them, errors those that failed. */
    uint64_t calls;
    uint64_t errors;
    /* The following have an entry a direction, see struct summary_call. */
    uint64_t wire_bytes[2];
    uint64_t message_bytes[2];
    uint64_t decoded_bytes[2];
    uint64_t messages[2];
    uint64_t compressed_messages[2];
    int decoded_unknown[2];
    /* has_no_messages: some call has none, see struct summary_call. */
    int has_no_messages;
    /* durations are those of the calls, in microseconds. */
    struct histogram durations;
    /* name_len is the length of name. */
    uint32_t name_len;
    /* name is the path. */
    char name[SUMMARY_PATH_MAX];
};

/* struct summary is the table. */
struct summary {
    /* rows is a uthash table. */
    struct row *rows;
    /* other takes what gets no row of its own. */
    struct row other;
    /* unknown takes calls without a path. */
    struct row unknown;
};

static void
row_set_name(struct row *row, const char *name, uint32_t len)
{
    memcpy(row->name, name, len);
    row->name_len = len;
}

struct summary *
summary_new(void)
{
    struct summary *summary = calloc(1, sizeof(*summary));

    if (summary == NULL)
        return NULL;
    row_set_name(&summary->other, "(other)", 7);
    row_set_name(&summary->unknown, "(unknown)", 9);
    return summary;
}

void
summary_free(struct summary *summary)
{
    if (summary == NULL)
        return;
    struct row *row = summary->rows;
    while (row != NULL) {
        struct row *next = row->hh.next;
        histogram_clear(&row->durations);
        HASH_DEL(summary->rows, row);
        free(row);
        row = next;
    }
    histogram_clear(&summary->other.durations);
    histogram_clear(&summary->unknown.durations);
    free(summary);
}

/* summary_new_row returns a new row of the table, or `(other)` when there are
 * too many or memory runs out. */
static struct row *
summary_new_row(struct summary *summary, const char *name, uint32_t len)
{
    if (HASH_COUNT(summary->rows) >= SUMMARY_METHODS_MAX)
        return &summary->other;
    struct row *row = calloc(1, sizeof(*row));
    if (row == NULL)
        return &summary->other;
    row_set_name(row, name, len);
    HASH_ADD(hh, summary->rows, name, len, row);
    if (row->hh.tbl == NULL) {
        free(row);
        return &summary->other;
    }
    return row;
}

static struct row *
summary_row(struct summary *summary, const char *name, uint32_t len)
{
    struct row *row = NULL;

    if (name == NULL)
        return &summary->unknown;
    if (len > SUMMARY_PATH_MAX)
        len = SUMMARY_PATH_MAX;
    HASH_FIND(hh, summary->rows, name, len, row);
    return row != NULL ? row : summary_new_row(summary, name, len);
}

void
summary_add(struct summary *summary, const struct summary_call *call)
{
    struct row *row = summary_row(summary, call->path, call->path_len);

    row->calls++;
    row->errors += call->is_error != 0;
    row->has_no_messages |= call->has_no_messages;
    histogram_add(&row->durations, call->duration_us, 1);
    for (int side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
        row->wire_bytes[side] += call->wire_bytes[side];
        row->message_bytes[side] += call->message_bytes[side];
        row->decoded_bytes[side] += call->decoded_bytes[side];
        row->messages[side] += call->messages[side];
        row->compressed_messages[side] += call->compressed_messages[side];
        row->decoded_unknown[side] |= call->decoded_unknown[side];
    }
}

static void
row_merge(struct row *into, const struct row *from)
{
    into->calls += from->calls;
    into->errors += from->errors;
    into->has_no_messages |= from->has_no_messages;
    histogram_merge(&into->durations, &from->durations);
    for (int side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
        into->wire_bytes[side] += from->wire_bytes[side];
        into->message_bytes[side] += from->message_bytes[side];
        into->decoded_bytes[side] += from->decoded_bytes[side];
        into->messages[side] += from->messages[side];
        into->compressed_messages[side] += from->compressed_messages[side];
        into->decoded_unknown[side] |= from->decoded_unknown[side];
    }
}

void
summary_merge(struct summary *into, const struct summary *from)
{
    const struct row *row;

    for (row = from->rows; row != NULL; row = row->hh.next)
        row_merge(summary_row(into, row->name, row->name_len), row);
    row_merge(&into->other, &from->other);
    row_merge(&into->unknown, &from->unknown);
}

/* --- the table --- */

/* struct line is a row as text. */
struct line {
    /* cells are right-aligned. */
    char cells[COLUMNS][CELL_MAX];
    /* name stands last, so that a long one moves nothing. */
    char name[NAME_MAX_LEN];
};

static const struct line titles = {
    {"calls", "errors", "p50_us", "p99_us", "req_wire", "resp_wire",
     "req_message", "req_decoded", "resp_message", "resp_decoded",
     "compressed"},
    "method",
};

static void
cell_put_count(char cell[CELL_MAX], uint64_t count)
{
    snprintf(cell, CELL_MAX, "%" PRIu64, count);
}

static void
cell_put_messages(char cell[CELL_MAX], const struct row *row, enum side side)
{
    if (row->has_no_messages)
        snprintf(cell, CELL_MAX, "-");
    else
        cell_put_count(cell, row->message_bytes[side]);
}

static void
cell_put_decoded(char cell[CELL_MAX], const struct row *row, enum side side)
{
    if (row->has_no_messages || row->decoded_unknown[side])
        snprintf(cell, CELL_MAX, "-");
    else
        cell_put_count(cell, row->decoded_bytes[side]);
}

static void
cell_put_share(char cell[CELL_MAX], const struct row *row)
{
    uint64_t messages = row->messages[0] + row->messages[1];
    uint64_t compressed =
        row->compressed_messages[0] + row->compressed_messages[1];

    if (messages == 0)
        snprintf(cell, CELL_MAX, "-");
    else
        snprintf(cell, CELL_MAX, "%.1f%%",
                 100.0 * (double)compressed / (double)messages);
}

static void
line_fill(struct line *line, const struct row *row)
{
    const uint64_t counts[] = {
        row->calls,
        row->errors,
        histogram_quantile(&row->durations, 500),
        histogram_quantile(&row->durations, 990),
        row->wire_bytes[SIDE_CLIENT],
        row->wire_bytes[SIDE_SERVER],
    };
    char(*cell)[CELL_MAX] = line->cells;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        cell_put_count(*cell++, counts[i]);
    cell_put_messages(*cell++, row, SIDE_CLIENT);
    cell_put_decoded(*cell++, row, SIDE_CLIENT);
    cell_put_messages(*cell++, row, SIDE_SERVER);
    cell_put_decoded(*cell++, row, SIDE_SERVER);
    cell_put_share(*cell, row);
    text_line(line->name, NAME_MAX_LEN, row->name, row->name_len);
}

static void
line_print(const struct line *line, const int widths[COLUMNS], FILE *file)
{
    for (int i = 0; i < COLUMNS; i++)
        fprintf(file, "%*s  ", widths[i], line->cells[i]);
    fprintf(file, "%s\n", line->name);
}

static void
lines_print(const struct line *lines, size_t n, FILE *file)
{
    int widths[COLUMNS];

    for (int i = 0; i < COLUMNS; i++) {
        widths[i] = (int)strlen(titles.cells[i]);
        for (size_t k = 0; k < n; k++) {
            int width = (int)strlen(lines[k].cells[i]);
            widths[i] = width > widths[i] ? width : widths[i];
        }
    }
    line_print(&titles, widths, file);
    for (size_t k = 0; k < n; k++)
        line_print(&lines[k], widths, file);
}

static int
row_compare(const void *a, const void *b)
{
    const struct row *x = *(const struct row *const *)a;
    const struct row *y = *(const struct row *const *)b;
    uint64_t of_x = x->wire_bytes[0] + x->wire_bytes[1];
    uint64_t of_y = y->wire_bytes[0] + y->wire_bytes[1];

    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return strncmp(x->name, y->name, SUMMARY_PATH_MAX);
}

/* summary_sort returns the rows in order, the two collective ones last; the
 * caller frees them.  NULL: memory. */
static const struct row **
summary_sort(const struct summary *summary, size_t *n)
{
    const struct row **rows =
        malloc((HASH_COUNT(summary->rows) + 2) * sizeof(struct row *));

    *n = 0;
    if (rows == NULL)
        return NULL;
    for (const struct row *row = summary->rows; row != NULL; row = row->hh.next)
        rows[(*n)++] = row;
    qsort(rows, *n, sizeof(*rows), row_compare);
    if (summary->other.calls > 0)
        rows[(*n)++] = &summary->other;
    if (summary->unknown.calls > 0)
        rows[(*n)++] = &summary->unknown;
    return rows;
}

void
summary_print(const struct summary *summary, FILE *file)
{
    size_t n;
    const struct row **rows = summary_sort(summary, &n);
    struct line *lines = calloc(n + 1, sizeof(*lines));

    if (rows != NULL && lines != NULL) {
        for (size_t i = 0; i < n; i++)
            line_fill(&lines[i], rows[i]);
        lines_print(lines, n, file);
    }
    free(lines);
    free(rows);
}
