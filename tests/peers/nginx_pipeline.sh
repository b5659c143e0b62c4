#!/bin/sh
# SPDX-License-Identifier: MIT
# 10,000 pipelined requests, cut at random in two ways, are the same events,
# and the bytes that nginx counted.
. "$(dirname "$0")/peers.inc"

# A date in the responses would be another one in the second run, but it is
# as long.
make_file page.txt 2000
start_nginx <<'END'
gzip on; gzip_vary on; gzip_types text/plain;
location = /204 { proxy_pass http://127.0.0.1:1; error_page 502 =204 /empty; }
location = /empty { return 204; }
END
for seed in 1 2; do
    rm -f "$NGINX_LOG"
    kill -USR1 "$NGINX_PID"
    wait_for test -e "$NGINX_LOG"
    start_tap --upstream "$NGINX"
    python3 "$PEERS/pipeline.py" "$TAP_LISTEN" 10000 "$seed" >"$DIR/sent"
    end_healthy
    same "calls of seed $seed" "$(calls 1 | wc -l)" 10000
    calls 1 | wc -l
    cat $DIR/sent
    events '.event == "connection_close"'
    calls .stream .http_status '$req.wire_bytes' '$res.wire_bytes' \
        '$res.body_bytes' >"$DIR/calls"
    cmp "$DIR/calls" "$NGINX_LOG" || fail "nginx counted otherwise"
    jq -c 'select(.event | IN("call", "notice", "connection_close"))
        | del(.time, .started, .duration_us, .timing, .client, .authority,
              .connect_us)' "$TAP_EVENTS" >"$DIR/events.$seed"
done
cmp "$DIR/events.1" "$DIR/events.2" || fail "the cuts show"
