/* SPDX-License-Identifier: MIT */
/*
 * The table of --summary: a row per method, kept in bounded memory.  A
 * summary belongs to one worker; at the end they are merged.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdint.h>
#include <stdio.h>

/* SUMMARY_METHODS_MAX bounds the rows; calls of further methods share the row
 * `(other)`.  No service has so many methods: it is paths with numbers in
 * them that do. */
#define SUMMARY_METHODS_MAX 1000

/* SUMMARY_PATH_MAX bounds the name of a row; longer paths are cut there and
 * share the row of their beginning. */
#define SUMMARY_PATH_MAX 256

struct summary;

/* struct summary_call is what one call adds to the row of its method. */
struct summary_call {
    /* path is the row's name, path_len bytes; NULL: unknown. */
    const char *path;
    uint32_t path_len;
    /* is_error: grpc status not 0, HTTP status >= 400, or not complete. */
    int is_error;
    uint64_t duration_us;
    /* The following have an entry a direction, see enum side. */
    uint64_t wire_bytes[2];
    uint64_t message_bytes[2];
    uint64_t decoded_bytes[2];
    uint64_t messages[2];
    uint64_t compressed_messages[2];
    /* decoded_unknown is 1 when decoded_bytes of that direction is not
     * known for this call. */
    int decoded_unknown[2];
    /* has_no_messages is 1 when its bodies are not followed as messages, as
     * those of plain HTTP: what they hold is not known either. */
    int has_no_messages;
};

/* summary_new returns an empty summary, or NULL. */
struct summary *summary_new(void);

/* summary_free frees |summary|; NULL is fine. */
void summary_free(struct summary *summary);

/* summary_add adds one call; memory running out only merges it into
 * `(other)`. */
void summary_add(struct summary *summary, const struct summary_call *call);

/* summary_merge adds the rows of |from| to |into|. */
void summary_merge(struct summary *into, const struct summary *from);

/*
 * summary_print writes the table, rows by falling wire bytes:
 *
 *     calls errors p50_us p99_us req_wire resp_wire req_message req_decoded
 *     resp_message resp_decoded compressed method
 *
 * Bytes are plain integers, for awk and sort; `-` is not known, be it of a
 * single call of the row; compressed is the share of messages, of both
 * directions, that were.  Bytes of a method's
 * name that are not printable ASCII or UTF-8 are escaped.
 */
void summary_print(const struct summary *summary, FILE *file);

#endif
