# SPDX-License-Identifier: MIT
# Reads all events of a run (jq -s) and returns what does not balance: an empty
# array is a balanced ledger.  Sums over calls are only checked for
# connections whose call events are all there.

def residual:
    .bytes - .call_bytes - .connection_bytes - .late_bytes - .undecoded_bytes;

def call_residual:
    .wire_bytes - .framing_bytes - .header_block_bytes - .padding_bytes
    - .control_bytes - .body_bytes;

def body_residual:
    .body_bytes - .prefix_bytes - .message_bytes - .truncated_bytes
    - .trailer_bytes - .base64_bytes;

. as $all
| [ $all[] | select(.event == "call") ] as $calls
| ( $calls | group_by(.conn) | map({key: (.[0].conn | tostring), value: .})
    | from_entries ) as $by_conn
| [
    ( $all[] | select(.event == "connection_close") | . as $close
      | ($by_conn[$close.conn | tostring] // []) as $mine
      | ( ("from_client", "from_server") as $from
          | select(.[$from] | residual != 0)
          | {conn, $from, residual: (.[$from] | residual)} ),
        ( select(($mine | length) == .calls)
          | (["from_client", "request"], ["from_server", "response"]) as $d
          | ([ $mine[][$d[1]].wire_bytes ] | add // 0) as $sum
          | select($sum != .[$d[0]].call_bytes)
          | {conn, from: $d[0], call_bytes: .[$d[0]].call_bytes, $sum} ) ),
    ( $calls[] | ("request", "response") as $side
      | select(.[$side] | call_residual != 0)
      | {conn, stream, $side, residual: (.[$side] | call_residual)} ),
    ( $calls[] | ("request", "response") as $side
      | select(.[$side] | .prefix_bytes != null and body_residual != 0)
      | {conn, stream, $side, body: (.[$side] | body_residual)} ),
    ( select(any($all[]; .event == "stop"))
      | [ $all[] | select(.event == "connection_open") | .conn ] as $opened
      | [ $all[] | select(.event == "connection_close") | .conn ] as $closed
      | select(($opened | length) > 0
               and ($opened | sort) != ($closed | sort))
      | {opened: $opened, closed: $closed} )
  ]
