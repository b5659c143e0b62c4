#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGUSR1 prints live counters of all threads on standard error.
. "$(dirname "$0")/lib.sh"

serve server 127.0.0.1:0 echo
start_tap -t 3 --upstream "127.0.0.1:$SERVER_PORT"
for i in 1 2 3 4; do
    start "client$i" python3 "$HERE/peer.py" connect "$TAP_LISTEN" \
        send=hello recv=hello touch="$DIR/up$i" gone
    wait_for test -e "$DIR/up$i"
done
kill -USR1 "$TAP_PID"
wait_for grep -q '^grpctap: 4 connections (4 open), .* 20 bytes from clients, 20 bytes from servers' \
    "$TAP_LOG"
stop_tap
