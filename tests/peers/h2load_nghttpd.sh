#!/bin/sh
# SPDX-License-Identifier: MIT
# h2load against nghttpd: calls, bodies, heads and all bytes are what h2load
# adds up.
. "$(dirname "$0")/peers.inc"
need h2load

make_file page.txt 5000
start_nghttpd
start_tap --upstream "$NGHTTPD"
h2load -n 2000 -c 5 -m 20 "http://$TAP_LISTEN/page.txt" >"$DIR/h2load.log"
end_healthy
same calls "$(calls .end .http_status req.body_bytes res.body_bytes |
    sort | uniq -c | xargs)" "2000 complete 200 0 5000"
# traffic: 9.59MB (10060525) total, 23.83KB (24405) headers (...), ... data
same traffic "$(jq -rs '[
    ([.[] | select(.event == "connection_close").from_server.bytes] | add),
    ([.[] | select(.event == "call").response.header_block_bytes] | add),
    ([.[] | select(.event == "call").response.body_bytes] | add)
    ] | map(tostring) | join(" ")' "$TAP_EVENTS")" \
    "$(sed -n '/^traffic:/s/space savings//p' "$DIR/h2load.log" |
        grep -o '([0-9]*)' | tr -d '()' | xargs)"
