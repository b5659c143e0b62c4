#!/bin/sh
# SPDX-License-Identifier: MIT
# A run that ends while the output is full: every thread reports its drops
# before `stop`, and the calls that were open get their events all the same.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fifo.inc"

FRAMES=600000
serve server 127.0.0.1:0 gone
start_fifo -v -t 3 -e frame,call -u "127.0.0.1:$SERVER_PORT"
for i in 1 2 3 4; do
    start "call$i" python3 "$HERE/frames.py" call "unix:$DIR/sock" "$DIR/up$i"
    wait_for test -e "$DIR/up$i"
done
send_frames "$FRAMES"
finish "$FRAMES_PID"
kill -TERM "$TAP_PID"
wait_for grep -q 'stopping: Terminated' "$DIR/tap.log"
start_reading
finish "$TAP_PID"
finish_reading
[ "$(count '.event == "call" and .end == "shutdown"')" -eq 4 ] ||
    fail "not every call has its event"
frames=$(count '.event == "frame"')
dropped=$(sum 'select(.event == "dropped").counts.frame // 0')
# SETTINGS and HEADERS of each call, and the other connection's SETTINGS.
total=$((FRAMES + 4 * 2 + 1))
[ "$dropped" -gt 0 ] || fail "nothing was dropped"
[ $((frames + dropped)) -eq "$total" ] ||
    fail "$frames written + $dropped dropped are not $total"
[ "$(tail -n 1 "$TAP_EVENTS" | jq -c '[.event, .dropped]')" = \
    "[\"stop\",$dropped]" ] || fail "$(tail -n 1 "$TAP_EVENTS")"
