#!/bin/sh
# SPDX-License-Identifier: MIT
# Node's http module on both sides of one connection: chunks and trailers,
# early hints, deflate, a chunked request, 100 Continue.
. "$(dirname "$0")/peers.inc"
need node

start node node "$PEERS/node_http1.js"
wait_for test -s "$DIR/node.log"
start_tap --upstream "127.0.0.1:$(cat "$DIR/node.log")" \
    --events default,headers
node "$PEERS/node_http1.js" "$TAP_PORT" >"$DIR/client"
end_healthy
same client "$(calls .http_status res.body_bytes)" "$(cat "$DIR/client")"
# A chunk costs its size line and two line ends; the last is `0`, its line end
# and the one behind the trailers.
same framing "$(calls .stream .end req.frames req.framing_bytes \
    res.frames res.framing_bytes res.decoded_bytes | xargs)" \
    "1 complete 0 0 2 15 14 2 complete 0 0 0 0 6 3 complete 0 0 1 11 5000 4 \
complete 2 15 0 0 5 5 complete 0 0 0 0 5"
same blocks "$(jq -r 'select(.event == "headers" and .block != "request"
    and .block != "response") | [.stream, .block, .start_line // "-",
    .header_block_bytes] | map(tostring) | join(" ")' "$TAP_EVENTS")" \
    "1 trailers - 12
2 informational HTTP/1.1 103 57
5 informational HTTP/1.1 100 25"
