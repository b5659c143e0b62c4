#!/bin/sh
# SPDX-License-Identifier: MIT
# A decompression bomb, more than 1 GiB of zeros below gzip twice, costs
# bounded CPU and memory and one notice; curl gets it unchanged.
. "$(dirname "$0")/peers.inc"
need curl

python3 "$PEERS/bomb.py" "$DIR/www/bomb" 1025
start_nginx <<'END'
add_header Content-Encoding "gzip, gzip";
add_header Vary Accept-Encoding;
END
start_tap --upstream "$NGINX"
curl -s -H 'Accept-Encoding: gzip' "http://$TAP_LISTEN/bomb" -o "$DIR/body"
cmp "$DIR/body" "$DIR/www/bomb" || fail "changed"
# shellcheck disable=SC2034 # for wait_for
PATIENCE=60
wait_for has_event '.event == "connection_close"'
ticks=$(awk '{ print $14 + $15 }' "/proc/$TAP_PID/stat")
[ "$ticks" -lt 1500 ] || fail "$ticks ticks of CPU"
peak=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$TAP_PID/status")
[ "$peak" -lt 100000 ] || fail "$peak KiB of memory"
end_healthy decode_limit
same notices "$(events '.event == "notice"' | jq -r .code)" decode_limit
same call "$(calls .end res.body_bytes res.decoded_bytes)" \
    "complete $(wc -c <"$DIR/www/bomb") null"
