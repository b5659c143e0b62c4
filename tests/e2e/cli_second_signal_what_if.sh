#!/bin/sh
# SPDX-License-Identifier: MIT
# With --what-if the end waits for the message under way, up to 2 s; a second
# signal ends that at once.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"

# Of 4 MiB br:11 takes seconds.
start_echo 127.0.0.1:0
start_tap -v -u "127.0.0.1:$SERVER_PORT" --what-if br:11 --what-if-cpu 100
echo_call --size 4000000 --text random
sleep 0.3
kill -TERM "$TAP_PID"
wait_for grep -q 'stopping: Terminated' "$DIR/tap.log"
sleep 0.2
kill -0 "$TAP_PID" || fail "one signal did not wait for the message"
before=$(date +%s%N)
kill -TERM "$TAP_PID"
# Lines that are still to be written may be lost: 0 or 1.
wait "$TAP_PID" || [ $? -eq 1 ] || fail "it died"
took=$((($(date +%s%N) - before) / 1000000))
[ "$took" -lt 1000 ] || fail "it took $took ms"
