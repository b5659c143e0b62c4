# SPDX-License-Identifier: MIT
# What a call costs, by direction and encoding: calls, bytes of one on average,
# and where these went, in per cent.
# Usage: jq -rsf ledger.jq EVENTS
def share($part; $whole): if $whole > 0 then (1000 * $part / $whole | round | . / 10) else 0 end;
["from", "encoding", "calls", "wire_bytes", "per_call", "message%", "prefix%", "framing%", "headers%", "other%"],
( map(select(.event == "call" and .response.messages != null)
    | ({from: "client", half: .request}, {from: "server", half: .response}))
  | group_by([.from, .half.grpc_encoding])[]
  | .[0].from as $from
  | map(.half)
  | (map(.wire_bytes) | add) as $wire
  | [ $from, (.[0].grpc_encoding // "none"), length, $wire, ($wire / length | round),
      share(map(.message_bytes) | add; $wire),
      share(map(.prefix_bytes) | add; $wire),
      share(map(.framing_bytes) | add; $wire),
      share(map(.header_block_bytes) | add; $wire),
      share(map(.padding_bytes + .control_bytes + .truncated_bytes
                + .trailer_bytes + .base64_bytes) | add; $wire) ]
) | @tsv
