#!/bin/sh
# SPDX-License-Identifier: MIT
# A decompression bomb, 1 GiB of zeros below gzip twice, costs bounded CPU and
# memory and one notice; curl gets it unchanged.
. "$(dirname "$0")/peers.inc"
need curl

python3 "$PEERS/bomb.py" "$DIR/www/bomb" 1
start_nginx <<'END'
add_header Content-Encoding "gzip, gzip";
add_header Vary Accept-Encoding;
END
start_tap --upstream "$NGINX"
used() {
    awk '{ print $14 + $15 }' "/proc/$TAP_PID/stat"
}
peak() {
    sed -n 's/^VmHWM: *\([0-9]*\) kB/\1/p' "/proc/$TAP_PID/status"
}
before=$(used)
for i in 1 2 3; do date +%s.%N
    curl -s -H 'Accept-Encoding: gzip' "http://$TAP_LISTEN/bomb" \
        -o "$DIR/body"
    cmp "$DIR/body" "$DIR/www/bomb" || fail "changed"
done
cat /proc/$TAP_PID/stat; wait_for test "$(events '.event == "connection_close"' | wc -l)" -eq 3
echo $(($(used) - before)) $(peak)
ls -l $DIR/www/bomb
end_healthy decode_limit
calls '$res.decoded_bytes' '$res.body_bytes'
events '.event == "notice"'
