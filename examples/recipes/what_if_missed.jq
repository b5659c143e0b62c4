# SPDX-License-Identifier: MIT
# How much of the traffic do the figures stand on?  Messages that were not
# tried, by reason.
# Usage: jq -rsf what_if_missed.jq EVENTS
["method", "from", "seen", "tried", "bytes%", "empty", "large", "busy", "memory", "undecoded", "stopped"],
( map(select(.event == "what_if"))
  | group_by([.path, .from])[] | last
  | [ (.path // "(unknown)" | split("/") | last), .from, .messages_seen, .messages_sampled,
      (if .bytes_seen > 0 then (1000 * .bytes_sampled / .bytes_seen | round | . / 10) else "-" end) ]
    + (.not_sampled | [.empty, .large, .busy, .memory, .undecoded, .stopped])
) | @tsv
