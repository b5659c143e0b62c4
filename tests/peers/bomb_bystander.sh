#!/bin/sh
# SPDX-License-Identifier: MIT
# While a bomb is decoded, other connections of the same worker go on.
. "$(dirname "$0")/peers.inc"
need curl

make_file page.txt 10
python3 "$PEERS/bomb.py" "$DIR/www/bomb" 1000
start_nginx <<'END'
location = /bomb { add_header Content-Encoding "gzip, gzip";
 add_header Vary Accept-Encoding; }
END
start_tap --upstream "$NGINX" --threads 1
for _ in 1 2 3; do
    curl -s -H 'Accept-Encoding: gzip' "http://$TAP_LISTEN/bomb" \
        -o "$DIR/body"
    curl -s "http://$TAP_LISTEN/page.txt" -o "$DIR/body" -m 30 \
        -w '%{time_total}\n' >>"$DIR/times"
done
worst=$(sort -n "$DIR/times" | tail -n 1)
jq -en "$worst < 0.5" >"$DIR/jq.log" ||
    fail "a page of 10 bytes took $worst s behind a bomb of $(
        wc -c <"$DIR/www/bomb") bytes"
end_healthy decode_limit
