/* SPDX-License-Identifier: MIT */
/* Owns the members of `what_if`.  How the figures come about is
 * what_if_stats.c's, when they are written what_if.c's. */
#include "event_what_if.h"

#include <stdio.h>
#include <string.h>

#include "event_line.h"
#include "tap.h"

void
event_what_if_used(const struct what_if_counts *counts,
                   char used[EVENT_WHAT_IF_USED_MAX])
{
    size_t len = 0;

    used[0] = '\0';
    for (int codec = 0; codec <= GRPCFRAME_CODEC_UNKNOWN; codec++) {
        if (counts->used[codec] == 0)
            continue;
        len += (size_t)snprintf(used + len, EVENT_WHAT_IF_USED_MAX - len,
                                "%s%s", len > 0 ? "," : "",
                                what_if_codec_name(
                                    (enum grpcframe_codec)codec));
    }
    if (counts->used_hidden > 0)
        snprintf(used + len, EVENT_WHAT_IF_USED_MAX - len, "%s" TAP_REDACTED,
                 len > 0 ? "," : "");
}

int
event_what_if_is_used_known(const struct what_if_counts *counts)
{
    return counts->used_unknown == 0;
}

/* A number that whole ones would round away. */
static void
json_decimal(struct json *json, const char *key, int known, double value)
{
    char text[64];

    if (!known) {
        json_null(json, key);
        return;
    }
    snprintf(text, sizeof(text), "%.6f", value);
    json_printed(json, key, text);
}

static void
json_count(struct json *json, const char *key, int known, uint64_t value)
{
    if (known)
        json_uint(json, key, value);
    else
        json_null(json, key);
}

static void
put_skipped(struct json *json, const uint64_t skipped[WHAT_IF_SKIPS])
{
    json_open(json, "not_sampled");
    json_uint(json, "empty", skipped[WHAT_IF_EMPTY]);
    json_uint(json, "large", skipped[WHAT_IF_LARGE]);
    json_uint(json, "busy", skipped[WHAT_IF_BUSY]);
    json_uint(json, "memory", skipped[WHAT_IF_MEMORY]);
    json_uint(json, "undecoded", skipped[WHAT_IF_UNDECODED]);
    json_uint(json, "stopped", skipped[WHAT_IF_STOPPED]);
    json_uint(json, "failed", skipped[WHAT_IF_FAILED]);
    json_close(json);
}

static void
put_used(struct json *json, const struct what_if_counts *counts)
{
    char used[EVENT_WHAT_IF_USED_MAX];
    uint64_t compressed = counts->used_hidden;
    int known = event_what_if_is_used_known(counts);

    event_what_if_used(counts, used);
    for (int codec = 0; codec <= GRPCFRAME_CODEC_UNKNOWN; codec++)
        compressed += counts->used[codec];
    json_open(json, "used");
    json_string(json, "encoding", used[0] != '\0' ? used : NULL);
    json_null(json, "level");
    json_uint(json, "compressed_messages", compressed);
    json_count(json, "bytes", known, counts->used_bytes);
    json_decimal(json, "ratio", known && counts->bytes_seen > 0,
                 (double)counts->used_bytes / (double)counts->bytes_seen);
    json_close(json);
}

static void
put_figures(struct json *json, const struct what_if_figures *figures)
{
    int known = figures->known;

    json_uint(json, "compressed_bytes", figures->compressed_bytes);
    json_decimal(json, "ratio", known, figures->ratio);
    json_uint(json, "grew", figures->grew);
    json_decimal(json, "saved_bytes_per_message", known,
                 figures->saved_bytes_per_message);
    json_decimal(json, "compress_us_per_message", known,
                 figures->compress_us_per_message);
    json_decimal(json, "compress_us_per_kib", known,
                 figures->compress_us_per_kib);
    json_decimal(json, "decompress_us_per_message", known,
                 figures->decompress_us_per_message);
    json_decimal(json, "decompress_us_per_kib", known,
                 figures->decompress_us_per_kib);
    json_count(json, "break_even_bps", figures->break_even_bps > 0,
               figures->break_even_bps);
    json_count(json, "smallest_gaining_bytes",
               figures->smallest_gaining_bytes > 0,
               figures->smallest_gaining_bytes);
    json_count(json, "largest_growing_bytes",
               figures->largest_growing_bytes > 0,
               figures->largest_growing_bytes);
}

static void
put_what(struct json *json, const struct event_what_if_facts *facts)
{
    const struct what_if_entry *entry = facts->entry;

    json_text(json, "path", entry->is_unknown ? NULL : entry->path,
              entry->path_len);
    json_literal(json, "from", side_name(entry->side));
    json_literal(json, "codec", what_if_codec_name(facts->choice->codec));
    json_count(json, "level", facts->choice->has_level,
               (uint64_t)facts->choice->level);
    json_bool(json, "final", facts->is_final);
}

void
event_what_if(struct lane *lane, int64_t wall_us,
              const struct event_what_if_facts *facts)
{
    const struct what_if_counts *counts = &facts->counts;
    struct json json;

    if (!event_line_begin_run(&json, lane, EVENT_WHAT_IF, wall_us))
        return;
    put_what(&json, facts);
    json_uint(&json, "messages_seen", counts->messages_seen);
    json_uint(&json, "messages_sampled", counts->sampled);
    json_uint(&json, "messages_waiting", counts->waiting);
    put_skipped(&json, counts->skipped);
    json_uint(&json, "bytes_seen", counts->bytes_seen);
    json_uint(&json, "bytes_sampled", counts->sampled_bytes);
    put_figures(&json, &facts->figures);
    put_used(&json, counts);
    event_line_end(&json);
}
