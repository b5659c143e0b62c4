#!/bin/sh
# SPDX-License-Identifier: MIT
# h2load against nginx with pipelined HTTP/1.1.
. "$(dirname "$0")/peers.inc"
need h2load

make_file page.txt 5000
start_nginx </dev/null
start_tap --upstream "$NGINX"
h2load --h1 -n 2000 -c 5 -m 20 "http://$TAP_LISTEN/page.txt" >"$DIR/h2load.log"
end_healthy
same calls "$(calls .end .http_status req.body_bytes res.body_bytes |
    sort | uniq -c | xargs)" "2000 complete 200 0 5000"
# traffic: 10.00MB (10482000) total, ... headers (...), 9.54MB (10000000) data
same traffic "$(jq -s '[.[] | select(.event == "connection_close") |
    .from_server.bytes] | add' "$TAP_EVENTS")" \
    "$(sed -n 's/^traffic: [^ ]* (\([0-9]*\)) total.*/\1/p' "$DIR/h2load.log")"
same nginx "$(calls .http_status req.wire_bytes res.wire_bytes \
    res.body_bytes | sort)" "$(cut -d ' ' -f 2- "$NGINX_LOG" | sort)"
