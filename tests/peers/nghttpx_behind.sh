#!/bin/sh
# SPDX-License-Identifier: MIT
# nghttpx behind the tap, which speaks both versions on one port.
. "$(dirname "$0")/peers.inc"
. "$(dirname "$0")/nghttpx.inc"
need curl h2load

make_file page.txt 50000
start_nghttpd
start_nghttpx "${NGHTTPD%:*},${NGHTTPD#*:};;proto=h2"
start_tap --upstream "$NGHTTPX"
at=http://$TAP_LISTEN
h2load -n 100 -c 2 -m 10 "$at/page.txt" >"$DIR/h2load.log"
h2load --h1 -n 100 -c 2 "$at/page.txt" >"$DIR/h2load.log"
for version in --http1.1 --http2-prior-knowledge --http1.0; do
    curl -s "$version" "$at/page.txt" -o "$DIR/body"
    cmp "$DIR/body" "$DIR/www/page.txt" || fail "$version"
    curl -s "$version" "$at/none" -o "$DIR/body"
    curl -s "$version" -d @"$DIR/www/page.txt" "$at/page.txt" -o "$DIR/body"
done
end_healthy
same protocols "$(calls .protocol .end | sort | uniq -c | xargs)" \
    "103 h2 complete 3 http/1.0 complete 103 http/1.1 complete"
wait_for test "$(wc -l <"$DIR/nghttpx.txt")" -ge 209
same nghttpx "$(calls .http_status res.body_bytes | sort)" \
    "$(sort "$DIR/nghttpx.txt")"
