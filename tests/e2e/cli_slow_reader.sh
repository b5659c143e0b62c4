#!/bin/sh
# SPDX-License-Identifier: MIT
# A reader that does not read stalls no traffic and costs bounded memory; what
# is dropped is counted exactly, and what is not arrives whole.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fifo.inc"

FRAMES=600000
serve server 127.0.0.1:0 eof
start_fifo -e frame -u "127.0.0.1:$SERVER_PORT"
send_frames "$FRAMES"
finish "$FRAMES_PID"
wait_for grep -q "^eof: eof $((24 + 9 + 14 * FRAMES))$" "$DIR/server.log"
resident=$(awk '/^VmRSS/ { print $2 }' "/proc/$TAP_PID/status")
[ "$resident" -lt 262144 ] || fail "resident memory is $resident KiB"
kill -USR1 "$TAP_PID"
wait_for grep -q ' events dropped, .* wait (\(99\|100\)% of the queue)$' \
    "$DIR/tap.log"

# With room again `dropped` comes by itself, and events go on after it.
start_reading
wait_for grep -q '"event":"dropped"' "$TAP_EVENTS"
send_frames 10
finish "$FRAMES_PID"
kill -TERM "$TAP_PID"
finish "$TAP_PID"
finish_reading
frames=$(count '.event == "frame"')
dropped=$(sum 'select(.event == "dropped").counts.frame')
total=$((FRAMES + 1 + 10 + 1))
[ "$dropped" -gt 0 ] || fail "nothing was dropped"
[ $((frames + dropped)) -eq "$total" ] ||
    fail "$frames written + $dropped dropped are not $total"
[ "$(tail -n 1 "$TAP_EVENTS" | jq .dropped)" -eq "$dropped" ] ||
    fail "stop counts otherwise: $(tail -n 1 "$TAP_EVENTS")"
