#!/bin/sh
# SPDX-License-Identifier: MIT
# --connect-timeout ends the wait for a server that does not answer, on TCP
# and on a Unix socket whose queue is full.
. "$(dirname "$0")/lib.sh"

for addr in 127.0.0.1:0 "unix:$DIR/full"; do
    rm -f "$DIR/where"
    start full python3 "$HERE/peer.py" full "$DIR/where" "$addr"
    wait_for test -s "$DIR/where"
    start_tap --connect-timeout 300ms --upstream "${addr%:*}:$(cat "$DIR/where")"
    peer connect "$TAP_LISTEN" send=x reset-seen
    wait_for has_event '.reason == "connect_failed"'
    has_event '.reason == "connect_failed" and (.error | contains("300 ms"))
               and .duration_us >= 290000 and .duration_us < 5000000' ||
        fail "wrong error or duration"
    stop_tap
done
