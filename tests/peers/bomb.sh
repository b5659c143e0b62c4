#!/bin/sh
# SPDX-License-Identifier: MIT
# A decompression bomb, more than 1 GiB of zeros in 1 MiB of gzip, and in gzip
# twice, costs bounded CPU and memory and one notice; curl gets it unchanged.
. "$(dirname "$0")/peers.inc"
need curl

# shellcheck disable=SC2034 # for wait_for
PATIENCE=60
# Half a second of CPU is what two layers may cost: they are given up early.
for layers in 1 2; do
    codings=gzip most=600
    [ "$layers" -eq 1 ] || codings="gzip, gzip" most=50
    python3 "$PEERS/bomb.py" "$DIR/www/bomb" 1025 "$layers"
    rm -f "$DIR/nginx.sock"
    start_nginx <<END
add_header Content-Encoding "$codings";
add_header Vary Accept-Encoding;
END
    start_tap --upstream "$NGINX"
    curl -s -H 'Accept-Encoding: gzip' "http://$TAP_LISTEN/bomb" \
        -o "$DIR/body"
    cmp "$DIR/body" "$DIR/www/bomb" || fail "changed"
    wait_for has_event '.event == "connection_close"'
    ticks=$(awk '{ print $14 + $15 }' "/proc/$TAP_PID/stat")
    peak=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' \
        "/proc/$TAP_PID/status")
    echo "$layers of gzip: $ticks ticks of CPU, $peak KiB of memory"
    [ "$ticks" -lt "$most" ] || fail "$ticks ticks of CPU"
    [ "$peak" -lt 100000 ] || fail "$peak KiB of memory"
    end_healthy decode_limit
    kill "$NGINX_PID"
    same notices "$(events '.event == "notice"' | jq -r .code)" decode_limit
    same call "$(calls .end res.body_bytes res.decoded_bytes)" \
        "complete $(wc -c <"$DIR/www/bomb") null"
done
