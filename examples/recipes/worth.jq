# SPDX-License-Identifier: MIT
# Did compression help or hurt?  Messages by size: how many grew, and what was
# saved or wasted altogether.
# Usage: jq -rsf worth.jq EVENTS
def bucket: if . < 64 then "a: < 64" elif . < 1024 then "b: < 1 KiB"
  elif . < 16384 then "c: < 16 KiB" else "d: larger" end;
["decoded size", "encoding", "messages", "grew", "wire", "decoded", "saved%"],
( map(select(.event == "message" and .compressed and .decoded_length != null))
  | group_by([(.decoded_length | bucket), .encoding])[]
  | (map(.length) | add) as $wire
  | (map(.decoded_length) | add) as $decoded
  | [ (.[0].decoded_length | bucket | .[3:]),
      .[0].encoding,
      length,
      (map(select(.length > .decoded_length)) | length),
      $wire,
      $decoded,
      (if $decoded > 0 then (1000 * (1 - $wire / $decoded) | round | . / 10) else 0 end) ]
) | @tsv
