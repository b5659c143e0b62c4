# SPDX-License-Identifier: MIT
# Where the time of a gRPC call went, in microseconds from its first byte:
# until the request was whole, until the response began, until its first and
# its last message had passed.
# Usage: jq -rsf slow.jq EVENTS
["method", "kind", "status", "duration", "request", "response", "first", "last"],
( .[] | select(.event == "call" and .rpc == "grpc")
  | [ (.path // "(unknown)" | split("/") | last), .kind, .grpc_status_name, .duration_us,
      .timing.request_end_us, .timing.response_headers_us,
      .timing.first_message_us, .timing.last_message_us ]
  | map(. // "-")
) | @tsv
