#!/bin/sh
# SPDX-License-Identifier: MIT
# Go's net/http on both sides, concurrent calls of HTTP/1.1 and of cleartext
# HTTP/2: bodies, trailers and its own gzip are what Go says they are.
. "$(dirname "$0")/peers.inc"
need go

(cd "$PEERS/go_h2c" && GOTOOLCHAIN=local GOPROXY=off go build -o "$DIR/go" .) \
    >"$DIR/build.log" 2>&1 || skip "go: $(tail -n 1 "$DIR/build.log")"
start server "$DIR/go"
wait_for test -s "$DIR/server.log"
start_tap --upstream "127.0.0.1:$(cat "$DIR/server.log")"
"$DIR/go" "$TAP_LISTEN" >"$DIR/client"
end_healthy
# Go unpacks gzip, and says HTTP/2.0.
same client "$(calls .protocol .path req.body_bytes res.decoded_bytes \
    'if .path == "/trailers" then "abc" else "" end' .end | sort)" \
    "$(sed -e 's|^HTTP/1.1|http/1.1|' -e 's|^HTTP/2.0|h2|' \
        -e 's/$/ complete/' "$DIR/client" | sort)"
same coded "$(calls res.content_encoding | sort | uniq -c | xargs)" \
    "40 gzip 80 null"
