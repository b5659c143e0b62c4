#!/bin/sh
# SPDX-License-Identifier: MIT
# At the end every open connection gets its event, in every thread, and its
# peers an end.
. "$(dirname "$0")/lib.sh"

serve server 127.0.0.1:0 echo
start_tap -t 3 --upstream "127.0.0.1:$SERVER_PORT"
for i in 1 2 3 4 5 6 7; do
    start "client$i" python3 "$HERE/peer.py" connect "$TAP_LISTEN" \
        send=hello recv=hello touch="$DIR/up$i" gone
done
clients=${PIDS##*"$TAP_PID"}
for i in 1 2 3 4 5 6 7; do wait_for test -e "$DIR/up$i"; done
stop_tap
[ "$(events '.reason == "shutdown" and .from_server.bytes == 5' | wc -l)" -eq 7 ] ||
    fail "not every connection was shut down"
[ "$(tail -n 1 "$TAP_EVENTS" | jq -r .event)" = stop ] || fail "stop is not last"
for client in $clients; do finish "$client"; done
