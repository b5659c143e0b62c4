#!/bin/sh
# SPDX-License-Identifier: MIT
# Node's http2 module on both sides of one connection: trailers, early hints,
# a push, a ping, and a graceful GOAWAY with a text.
. "$(dirname "$0")/peers.inc"
need node

start node node "$PEERS/node_http2.js"
wait_for test -s "$DIR/node.log"
start_tap --upstream "127.0.0.1:$(cat "$DIR/node.log")"
node "$PEERS/node_http2.js" "$TAP_PORT" >"$DIR/client"
end_healthy
same client "$(calls .path res.body_bytes | sort)" \
    "$(grep -v ping "$DIR/client" | sort)"
same calls "$(calls .stream .end .http_status req.body_bytes | sort | xargs)" \
    "1 complete 200 100000 2 complete 200 0 3 complete 200 3 5 complete 200 0 \
7 complete 200 3"
has_event '.event == "goaway" and .from == "server" and .debug == "bye" and
    .code == "NO_ERROR" and .last_stream_id == 7' || fail "no goaway"
has_event '.event == "connection_close" and .from_client.frames.PING.count == 1
    and .from_server.frames.PING.count == 1' || fail "no ping"
