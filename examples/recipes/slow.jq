# SPDX-License-Identifier: MIT
# Where the time of a call went: until the request was whole, until the
# response began, until its last message.
# Usage: jq -rf slow.jq EVENTS
select(.event == "call" and .rpc == "grpc")
| [ .path, .kind, .grpc_status_name, .duration_us,
    .timing.request_end_us, .timing.response_headers_us,
    .timing.first_message_us, .timing.last_message_us ] | @tsv
