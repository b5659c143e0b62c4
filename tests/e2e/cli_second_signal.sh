#!/bin/sh
# SPDX-License-Identifier: MIT
# After the first SIGTERM a reader that takes nothing is waited for; a second
# one ends the program at once, with 1, and leaves whole lines in the pipe.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fifo.inc"

serve server 127.0.0.1:0 eof
start_fifo -v -e frame -u "127.0.0.1:$SERVER_PORT"
send_frames 5000
finish "$FRAMES_PID"
kill -TERM "$TAP_PID"
wait_for grep -q 'stopping: Terminated' "$DIR/tap.log"
sleep 0.5
kill -0 "$TAP_PID" || fail "one signal did not wait for the reader"
before=$(date +%s%N)
status=0
kill -TERM "$TAP_PID"
wait "$TAP_PID" || status=$?
[ "$status" -eq 1 ] || fail "exit status $status"
took=$((($(date +%s%N) - before) / 1000000))
[ "$took" -lt 2000 ] || fail "it took $took ms"
finish_reading
[ "$(tail -c 1 "$TAP_EVENTS" | od -An -c | tr -d ' ')" = '\n' ] ||
    fail "half a line"
lost=$(sed -n 's/^grpctap: .*takes no more: \([0-9]*\) events.*/\1/p' "$DIR/tap.log")
# 5001 frames, start and stop.
[ $(($(count true) + lost)) -eq 5003 ] ||
    fail "$(count true) written + $lost lost are not 5003"
