#!/bin/sh
# SPDX-License-Identifier: MIT
# nghttpx in front of the tap, with HTTP/2 and with HTTP/1.1 to the server.
. "$(dirname "$0")/peers.inc"
. "$(dirname "$0")/nghttpx.inc"
need curl h2load

make_file page.txt 50000
for protocol in http/1.1 h2; do
    option=
    [ "$protocol" != h2 ] || option=http2
    rm -f "$DIR/nginx.sock"
    start_nginx $option </dev/null
    start_tap --upstream "$NGINX"
    start_nghttpx "127.0.0.1,$TAP_PORT${option:+;;proto=h2}"
    h2load -n 100 -c 2 -m 10 "http://$NGHTTPX/page.txt" >"$DIR/h2load.log"
    curl -s -d x=y "http://$NGHTTPX/page.txt" -o "$DIR/body"
    curl -s -I "http://$NGHTTPX/page.txt" -o "$DIR/body"
    end_healthy
    kill "$NGINX_PID"
    same calls "$(calls .end .http_status req.body_bytes res.body_bytes |
        sort | uniq -c | xargs)" \
        "1 complete 200 0 0 100 complete 200 0 50000 1 complete 405 3 157"
    same protocol "$(calls .protocol | uniq)" "$protocol"
done
