#!/bin/sh
# SPDX-License-Identifier: MIT
# A server that reads nothing stops its client after a bounded number of bytes
# and costs bounded memory; other connections go on, and not a byte is lost.
. "$(dirname "$0")/lib.sh"

resident() {
    awk '/^VmRSS/ { print $2 }' "/proc/$TAP_PID/status"
}

serve server 127.0.0.1:0 wait="$DIR/go" echo
start_tap --upstream "127.0.0.1:$SERVER_PORT"
before=$(resident)
for i in 1 2 3 4; do
    start "client$i" python3 "$HERE/peer.py" connect "$TAP_LISTEN" \
        flood touch="$DIR/full$i" shut eof
done
clients=${PIDS##*"$TAP_PID"}
for i in 1 2 3 4; do wait_for test -e "$DIR/full$i"; done
grown=$(($(resident) - before))
# 4 times 768 KiB of backlog, its overhead, and one buffer.
[ "$grown" -lt 10240 ] || fail "resident memory grew by $grown KiB"

# Echoing floods stall in both directions until the clients read.
touch "$DIR/go"
for client in $clients; do finish "$client"; done
for i in 1 2 3 4; do
    sent=$(sed -n 's/^flood: //p' "$DIR/client$i.log")
    grep -q "^eof: eof $sent$" "$DIR/client$i.log" || fail "client $i lost bytes"
done
stop_tap
