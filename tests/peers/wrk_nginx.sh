#!/bin/sh
# SPDX-License-Identifier: MIT
# wrk against nginx: as many calls and bytes as nginx served.
. "$(dirname "$0")/peers.inc"
need wrk

make_file page.txt 2000
start_nginx </dev/null
start_tap --upstream "$NGINX" --threads 2
wrk -t 1 -c 10 -d 1 "http://$TAP_LISTEN/page.txt" >"$DIR/wrk.log"
end_healthy
# wrk leaves its last requests unanswered, and does not count them.
counted=$(sed -n 's/^ *\([0-9]*\) requests in .*/\1/p' "$DIR/wrk.log")
complete=$(calls .end | grep -c '^complete$')
[ "$counted" -gt 1000 ] && [ "$complete" -ge "$counted" ] &&
    [ "$complete" -le $((counted + 10)) ] ||
    fail "wrk counted $counted, grpctap $complete"
same nginx "$(calls req.wire_bytes res.wire_bytes | head -n "$counted" |
    sort | uniq -c)" "$(head -n "$counted" "$NGINX_LOG" |
    cut -d ' ' -f 3,4 | sort | uniq -c)"
