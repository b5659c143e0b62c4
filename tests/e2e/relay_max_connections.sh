#!/bin/sh
# SPDX-License-Identifier: MIT
# --max-connections: those above the limit wait until one ends; said once.
. "$(dirname "$0")/lib.sh"

serve server 127.0.0.1:0 echo
start_tap -t 2 --max-connections 2 --upstream "127.0.0.1:$SERVER_PORT"
for i in 1 2; do
    start "client$i" python3 "$HERE/peer.py" connect "$TAP_LISTEN" \
        send=hi recv=hi touch="$DIR/up$i" wait="$DIR/go$i" shut eof
    wait_for test -e "$DIR/up$i"
done
for i in 3 4; do
    start "client$i" python3 "$HERE/peer.py" connect "$TAP_LISTEN" \
        send=hi recv=hi touch="$DIR/up$i" wait="$DIR/go1" shut eof
done
wait_for grep -q 'limit of connections' "$TAP_LOG"
wait_for grep -q send=hi "$DIR/client3.log"
wait_for grep -q send=hi "$DIR/client4.log"
[ "$(events '.event == "connection_open"' | wc -l)" -eq 2 ] || fail "third open"
touch "$DIR/go1"
wait_for test -e "$DIR/up3"
wait_for test -e "$DIR/up4"
touch "$DIR/go2"
wait_for has_event '.event == "connection_close" and .conn == 4'
[ "$(grep -c 'limit of connections' "$TAP_LOG")" -eq 1 ] || fail "said twice"
stop_tap
