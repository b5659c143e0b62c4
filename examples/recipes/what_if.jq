# SPDX-License-Identifier: MIT
# What would another codec bring?  The last figures of each method, direction
# and codec, with what is in use beside them.
# Usage: jq -rsf what_if.jq EVENTS
def pct: if . == null then "-" else (1000 * (1 - .) | round | . / 10) end;
def dash: if . == null then "-" else . end;
["method", "from", "codec", "tried", "seen", "saved%", "now%", "grew", "us/msg", "pays below Mbit/s", "gains from"],
( map(select(.event == "what_if"))
  | group_by([.path, .from, .codec, .level])[] | last
  | [ (.path // "(unknown)" | split("/") | last),
      .from,
      .codec + (if .level then ":\(.level)" else "" end),
      .messages_sampled,
      .messages_seen,
      (.ratio | pct),
      (.used.ratio | pct),
      .grew,
      (if .ratio then (.compress_us_per_message + .decompress_us_per_message | round) else "-" end),
      (if .break_even_bps then (.break_even_bps / 1e6 | round) else "-" end),
      (.smallest_gaining_bytes | dash) ]
) | @tsv
