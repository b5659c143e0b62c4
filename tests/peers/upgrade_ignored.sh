#!/bin/sh
# SPDX-License-Identifier: MIT
# curl --http2 offers h2c to a server that goes on with HTTP/1.1: an exchange
# like others.
. "$(dirname "$0")/peers.inc"
need curl

make_file page.txt 10000
start_nginx </dev/null
start_tap --upstream "$NGINX"
curl -s --http2 "http://$TAP_LISTEN/page.txt" -o "$DIR/body" \
    "http://$TAP_LISTEN/page.txt" -o "$DIR/body" \
    -w '%{size_request} %{size_header} %{size_download}\n' >"$DIR/curl"
end_healthy
same curl "$(calls req.wire_bytes res.header_block_bytes \
    res.body_bytes)" "$(cat "$DIR/curl")"
same calls "$(calls .conn .stream .protocol .end | xargs)" \
    "1 1 http/1.1 complete 1 2 http/1.1 complete"
same quiet "$(events '.event == "notice"')" ""
