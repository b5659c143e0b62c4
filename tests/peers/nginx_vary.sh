#!/bin/sh
# SPDX-License-Identifier: MIT
# What nginx does by default and healthy servers should not: a negotiated
# coding without Vary, and a body too short to compress.  Each is told once,
# and nothing else is.
. "$(dirname "$0")/peers.inc"
need curl

make_file page.txt 5000
printf abc >"$DIR/www/short.txt"
start_nginx <<'END'
gzip on; gzip_types text/plain; gzip_min_length 0;
location = /short.txt { gzip_vary on; }
END
start_tap --upstream "$NGINX"
curl -s --compressed "http://$TAP_LISTEN/page.txt" -o "$DIR/body"
curl -s --compressed "http://$TAP_LISTEN/short.txt" -o "$DIR/body"
# Nothing was coded: nothing was negotiated.
curl -s --compressed "http://$TAP_LISTEN/page.txt" -o "$DIR/body" -I
curl -s "http://$TAP_LISTEN/page.txt" -o "$DIR/body"
end_healthy vary_missing body_inflated
same notices "$(jq -r 'select(.event == "notice")
    | "\(.conn) \(.code)"' "$TAP_EVENTS" | xargs)" \
    "1 vary_missing 2 body_inflated 3 vary_missing"
