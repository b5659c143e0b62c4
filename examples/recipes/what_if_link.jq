# SPDX-License-Identifier: MIT
# Which codec makes transfers shortest on a link of so many Mbit/s?  Time for
# an average message, compressing and decompressing included.
# Usage: jq -rsf what_if_link.jq --argjson mbit 10 EVENTS
["method", "from", "best", "us", "plain us", "saved%"],
( map(select(.event == "what_if" and .ratio != null))
  | group_by([.path, .from])[]
  | (.[0].bytes_sampled / .[0].messages_sampled) as $bytes
  | ($bytes * 8 / $mbit) as $plain
  | ( group_by([.codec, .level]) | map(last
      | { codec: (.codec + (if .level then ":\(.level)" else "" end)), ratio,
          us: (($bytes - .saved_bytes_per_message) * 8 / $mbit
               + .compress_us_per_message + .decompress_us_per_message) })
      + [{codec: "plain", ratio: 1, us: $plain}] | min_by(.us) ) as $best
  | [ (.[0].path // "(unknown)" | split("/") | last), .[0].from, $best.codec,
      (10 * $best.us | round | . / 10), (10 * $plain | round | . / 10), (1000 * (1 - $best.ratio) | round | . / 10) ]
) | @tsv
