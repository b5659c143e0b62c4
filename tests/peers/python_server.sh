#!/bin/sh
# SPDX-License-Identifier: MIT
# Python's http.server: an answer of HTTP/1.0 whose body ends with the
# connection, and one that has a length.
. "$(dirname "$0")/peers.inc"
need curl

mkdir "$DIR/www/sub"
make_file sub/page.txt 50000
start python python3 -u -m http.server -b 127.0.0.1 -d "$DIR/www" 0
wait_for grep -q 'port [0-9]' "$DIR/python.log"
start_tap --upstream \
    "127.0.0.1:$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$DIR/python.log")"
for path in sub/ sub/page.txt none sub; do
    for version in --http1.1 --http1.0; do
        curl -s "$version" "http://$TAP_LISTEN/$path" -o "$DIR/body" -w \
            '%{http_code} %{size_request} %{size_header} %{size_download}\n' \
            >>"$DIR/curl"
    done
done
end_healthy
same curl "$(calls .http_status req.wire_bytes res.header_block_bytes \
    res.body_bytes)" "$(cat "$DIR/curl")"
same versions "$(calls .protocol .end | sort | uniq -c | xargs)" \
    "4 http/1.0 complete 4 http/1.1 complete"
