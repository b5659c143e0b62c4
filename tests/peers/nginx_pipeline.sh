#!/bin/sh
# SPDX-License-Identifier: MIT
# 10,000 pipelined requests, cut at random in two ways, are the same events,
# and the bytes that nginx counted.
. "$(dirname "$0")/peers.inc"

make_file page.txt 2000
start_nginx <<'END'
gzip on; gzip_vary on; gzip_types text/plain;
location = /204 { return 204; }
END
for seed in 1 2; do
    start_tap --upstream "$NGINX"
    python3 "$PEERS/pipeline.py" "$TAP_LISTEN" 10000 "$seed" >"$DIR/sent"
    end_healthy
    events '.event == "connection_close" and .calls == 10000' >"$DIR/close"
    same bytes "$(jq -r '.from_client.call_bytes, .from_server.call_bytes' \
        "$DIR/close" | xargs)" "$(cat "$DIR/sent")"
    # nginx takes the length of a request before it has read its body.
    calls .stream .http_status res.wire_bytes \
        'res.body_bytes + res.framing_bytes' >"$DIR/calls"
    cut -d ' ' -f 1,2,4,5 "$NGINX_LOG" | tail -n 10000 |
        cmp - "$DIR/calls" || fail "nginx counted otherwise"
    jq -c 'select(.event | IN("call", "notice", "connection_close")) |
        del(.time, .started, .duration_us, .timing, .client, .connect_us)' \
        "$TAP_EVENTS" >"$DIR/events.$seed"
done
cmp "$DIR/events.1" "$DIR/events.2" || fail "the cuts show"
