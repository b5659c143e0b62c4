#!/bin/sh
# SPDX-License-Identifier: MIT
# A full disk leaves no half line and stops no traffic; what waits is written
# when there is room, what never got any is named, and the exit status is 1.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fifo.inc"

mkdir "$DIR/disk"
mount -t tmpfs -o size=512k tmpfs "$DIR/disk" 2>/dev/null || skip "cannot mount"
at_exit() { umount -l "$DIR/disk"; }

# whole_lines: a file of whole JSON lines, the last one too.
whole_lines() {
    [ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ] || fail "half a line"
    jq -e . "$1" >/dev/null || fail "a line is not JSON"
}

TAP_EVENTS=$DIR/disk/events
serve server 127.0.0.1:0 eof
head -c 450000 /dev/zero >"$DIR/disk/filler"
start tap "$GRPCTAP" proxy -l "unix:$DIR/sock" -o "$TAP_EVENTS" -e frame \
    -u "127.0.0.1:$SERVER_PORT"
TAP_PID=$LAST_PID
wait_for test -s "$TAP_EVENTS"
send_frames 2000
finish "$FRAMES_PID"
wait_for grep -q 'events: No space left on device; events wait' "$DIR/tap.log"
whole_lines "$TAP_EVENTS"
before=$(count '.event == "frame"')
[ "$before" -lt 2001 ] || fail "the disk was not full"

rm "$DIR/disk/filler"
wait_for grep -q 'events can be written again' "$DIR/tap.log"
all_written() { [ "$(count '.event == "frame"')" -eq 2001 ]; }
wait_for all_written

# Full once more, to the end.
send_frames 5000
finish "$FRAMES_PID"
full_again() { [ "$(grep -c 'No space left' "$DIR/tap.log")" -eq 2 ]; }
wait_for full_again
status=0
kill -TERM "$TAP_PID"
wait "$TAP_PID" || status=$?
[ "$status" -eq 1 ] || fail "exit status $status"
whole_lines "$TAP_EVENTS"
lost=$(sed -n 's/^grpctap: \([0-9]*\) events were not written to .*/\1/p' "$DIR/tap.log")
# 7002 frames and stop, which found no room either.
[ $(($(count '.event == "frame"') + lost)) -eq 7003 ] ||
    fail "$(count '.event == "frame"') written + $lost lost are not 7003"
