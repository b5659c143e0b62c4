#!/bin/sh
# SPDX-License-Identifier: MIT
# --lossless holds the traffic while the output is full, and loses nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fifo.inc"

FRAMES=600000
serve server 127.0.0.1:0 eof
start_fifo -e frame --lossless -u "127.0.0.1:$SERVER_PORT"
send_frames "$FRAMES"

# stalled: two reports in a row with the same bytes.
last=
stalled() {
    kill -USR1 "$TAP_PID"
    sleep 0.3
    now=$(sed -n '$s/.* \([0-9]*\) bytes from clients.*/\1/p' "$DIR/tap.log")
    [ "${now:-0}" -gt 1000000 ] && [ "$now" = "$last" ] && return 0
    last=$now
    return 1
}
wait_for stalled
kill -0 "$FRAMES_PID" 2>/dev/null || fail "the traffic was not held"

start_reading
finish "$FRAMES_PID"
wait_for grep -q "^eof: eof $((24 + 9 + 14 * FRAMES))$" "$DIR/server.log"
kill -TERM "$TAP_PID"
finish "$TAP_PID"
finish_reading
[ "$(count '.event == "frame"')" -eq $((FRAMES + 1)) ] || fail "events were lost"
[ "$(count '.event == "dropped"')" -eq 0 ] || fail "events were dropped"
[ "$(tail -n 1 "$TAP_EVENTS" | jq .dropped)" -eq 0 ] || fail "stop counts drops"
