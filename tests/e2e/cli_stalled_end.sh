#!/bin/sh
# SPDX-License-Identifier: MIT
# At the end a slow reader gets all the time it takes, one that has stopped
# reading gets 5 seconds.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fifo.inc"

serve server 127.0.0.1:0 eof
start_fifo -e frame -u "127.0.0.1:$SERVER_PORT"
send_frames 5000
finish "$FRAMES_PID"
before=$(date +%s)
status=0
kill -TERM "$TAP_PID"
wait "$TAP_PID" || status=$?
took=$(($(date +%s) - before))
[ "$status" -eq 1 ] || fail "exit status $status"
[ "$took" -ge 4 ] || fail "it took only $took s"
[ "$took" -le 8 ] || fail "it took $took s"
grep -q '/fifo takes no more: [0-9]* events were not written$' "$DIR/tap.log" ||
    fail "nothing was said"
finish_reading
count true >/dev/null || fail "half a line"
