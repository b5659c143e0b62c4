# SPDX-License-Identifier: MIT
# Per method and encoding: what was declared, what was used, what it saved.
# Usage: jq -rsf compression.jq EVENTS
["method", "encoding", "used", "messages", "wire", "decoded", "ratio"],
( map(select(.event == "call" and .rpc == "grpc"))
  | group_by([.path, .response.grpc_encoding])[]
  | [ (.[0].path | split("/")[-1]),
      (.[0].response.grpc_encoding // "none"),
      (map(.response.compression) | unique | join("/")),
      (map(.response.messages) | add),
      (map(.response.message_bytes) | add),
      (map(.response.decoded_bytes) | add) ]
  | . + [ if .[5] > 0 then (1000 * .[4] / .[5] | round | . / 1000) else null end ]
) | @tsv
