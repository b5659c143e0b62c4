#!/bin/sh
# SPDX-License-Identifier: MIT
# HAProxy with HTTP/2 on both sides, between two taps: clients and backend see
# other heads, but the same bodies; and its soft stop is a GOAWAY that nobody
# complains about.
. "$(dirname "$0")/peers.inc"
need curl nghttp h2load

make_file page.txt 50000
start_nghttpd --trailer 'x-sum: 1'
start_tap --upstream "$NGHTTPD"
behind=$TAP_PID
mv "$TAP_EVENTS" "$DIR/behind.jsonl"
start_haproxy <<END
frontend front
 bind unix@$DIR/haproxy.sock proto h2
 default_backend back
backend back
 server tap $TAP_LISTEN proto h2
END
wait_for test -S "$DIR/haproxy.sock"
start_tap --upstream "unix:$DIR/haproxy.sock"
at=http://$TAP_LISTEN/page.txt
h2load -n 200 -c 2 -m 10 "$at" >"$DIR/h2load.log"
curl -s --http2-prior-knowledge "$at" -o "$DIR/body"
cmp "$DIR/body" "$DIR/www/page.txt" || fail "not the page"
nghttp -nv -m 2 "$at" >"$DIR/nghttp.log"
grep -q 'x-sum: 1' "$DIR/nghttp.log" || fail "no trailers"
kill -USR1 "$HAPROXY_PID"
finish "$HAPROXY_PID"
end_healthy
want="203 complete 200 0 50000"
same front "$(calls .end .http_status req.body_bytes res.body_bytes |
    sort | uniq -c | xargs)" "$want"
TAP_PID=$behind TAP_EVENTS=$DIR/behind.jsonl
end_healthy
same behind "$(calls .end .http_status req.body_bytes res.body_bytes |
    sort | uniq -c | xargs)" "$want"
