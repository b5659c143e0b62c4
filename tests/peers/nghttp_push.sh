#!/bin/sh
# SPDX-License-Identifier: MIT
# nghttpd pushes two files with trailers behind each; a pushed stream is a call
# of its own, whose request costs nothing.
. "$(dirname "$0")/peers.inc"
need nghttp

make_file page.txt 5000
make_file a.css 300
make_file b.js 400
start_nghttpd -p /page.txt=/a.css,/b.js --trailer 'x-sum: 1'
start_tap --upstream "$NGHTTPD" --events default,headers
nghttp -ns -H 'x: y' "http://$TAP_LISTEN/page.txt" >"$DIR/nghttp.log"
end_healthy
same calls "$(calls .path .http_status .end res.body_bytes | sort | xargs)" \
    "/a.css 200 complete 300 /b.js 200 complete 400 /page.txt 200 complete 5000"
same "promised requests" "$(calls '.stream % 2' req.wire_bytes |
    grep -c '^0 0$')" 2
same blocks "$(jq -r 'select(.event == "headers").block' "$TAP_EVENTS" |
    sort | uniq -c | xargs)" "2 push_promise 1 request 3 response 3 trailers"
