# SPDX-License-Identifier: MIT
# Where the bytes of the responses went, in per cent, by encoding.
# Usage: jq -rsf ledger.jq EVENTS
def share($part; $whole): if $whole > 0 then (1000 * $part / $whole | round | . / 10) else 0 end;
["encoding", "wire_bytes", "message%", "prefix%", "framing%", "headers%", "other%"],
( map(select(.event == "call" and .response.messages != null))
  | group_by(.response.grpc_encoding)[]
  | (map(.response.wire_bytes) | add) as $wire
  | [ (.[0].response.grpc_encoding // "none"), $wire,
      share(map(.response.message_bytes) | add; $wire),
      share(map(.response.prefix_bytes) | add; $wire),
      share(map(.response.framing_bytes) | add; $wire),
      share(map(.response.header_block_bytes) | add; $wire),
      share(map(.response | .padding_bytes + .control_bytes + .truncated_bytes
                + .trailer_bytes + .base64_bytes) | add; $wire) ]
) | @tsv
