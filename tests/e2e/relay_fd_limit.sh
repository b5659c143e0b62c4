#!/bin/sh
# SPDX-License-Identifier: MIT
# Out of descriptors accepting rests, says so once, burns no time, and goes on
# by itself; connections that wait are served in the end.
. "$(dirname "$0")/lib.sh"
command -v prlimit >/dev/null || skip "needs prlimit"

ticks() {
    awk '{ print $14 + $15 }' "/proc/$TAP_PID/stat"
}

serve server 127.0.0.1:0 echo
start_tap -t 2 --connect-timeout 60s --upstream "127.0.0.1:$SERVER_PORT"
used=$(find "/proc/$TAP_PID/fd" -type l | wc -l)
prlimit --pid "$TAP_PID" --nofile=$((used + 11)):$((used + 11))
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    start "client$i" python3 "$HERE/peer.py" connect "$TAP_LISTEN" \
        send=hello recv=hello touch="$DIR/up$i" wait="$DIR/go" shut eof
done
clients=${PIDS##*"$TAP_PID"}
wait_for grep -q 'not accepting' "$TAP_LOG"
before=$(ticks)
sleep 1 # what is measured is that nothing happens in it
[ $(($(ticks) - before)) -lt 20 ] || fail "spins: $(($(ticks) - before)) ticks"
[ "$(find "$DIR" -name 'up*' | wc -l)" -lt 12 ] ||
    fail "the limit was not reached"
touch "$DIR/go"
for client in $clients; do finish "$client"; done
wait_for grep -q 'accepting connections again' "$TAP_LOG"
[ "$(grep -c 'not accepting' "$TAP_LOG")" -eq 1 ] || fail "said more than once"
stop_tap
