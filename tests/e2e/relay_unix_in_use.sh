#!/bin/sh
# SPDX-License-Identifier: MIT
# A Unix socket somebody listens on is not taken over, nor is another file; a
# stale one is replaced, and one that is no longer ours is left alone.
. "$(dirname "$0")/lib.sh"

serve live "unix:$DIR/live" echo
status=0
"$GRPCTAP" proxy -l "unix:$DIR/live" -u 1 >"$DIR/out.log" 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "exit status $status"
grep -q "live: Address already in use" "$DIR/out.log" || fail "no reason given"
peer connect "unix:$DIR/live" send=x recv=x shut eof

# Busy is not gone: a queue that is full does not make a socket stale.
start busy python3 "$HERE/peer.py" full "$DIR/busy.path" "unix:$DIR/busy"
wait_for test -s "$DIR/busy.path"
inode=$(ls -i "$DIR/busy")
! "$GRPCTAP" proxy -l "unix:$DIR/busy" -u 1 >"$DIR/out.log" 2>&1 ||
    fail "took a busy socket over"
[ "$(ls -i "$DIR/busy")" = "$inode" ] || fail "replaced a busy socket"

echo precious >"$DIR/file"
! "$GRPCTAP" proxy -l "unix:$DIR/file" -u 1 >"$DIR/out.log" 2>&1 ||
    fail "took a file over"
grep -q precious "$DIR/file" || fail "destroyed a file"

kill "$SERVER_PID" # leaves its file behind
wait "$SERVER_PID" || :
serve server 127.0.0.1:0 echo
start_tap -l "unix:$DIR/live" -u "127.0.0.1:$SERVER_PORT"
peer connect "unix:$DIR/live" send=x recv=x shut eof
rm "$DIR/live"
echo precious >"$DIR/live"
stop_tap
grep -q precious "$DIR/live" || fail "removed a file that was not its own"
