#!/bin/sh
# SPDX-License-Identifier: MIT
# A Unix socket somebody listens on is not taken over, nor is another file; a
# stale one is replaced, and one that is no longer ours is left alone.
. "$(dirname "$0")/lib.sh"

# refused NAME: grpctap will not listen there and leaves it alone.
refused() {
    before=$(ls -i "$DIR/$1")
    status=0
    timeout 10 "$GRPCTAP" proxy -l "unix:$DIR/$1" -u 1 >"$DIR/out.log" 2>&1 ||
        status=$?
    [ "$status" -eq 1 ] || fail "$1: exit status $status"
    grep -q "$1: Address already in use" "$DIR/out.log" || fail "no reason"
    [ "$(ls -i "$DIR/$1")" = "$before" ] || fail "$1 was replaced"
}

start busy python3 "$HERE/peer.py" full "$DIR/path" "unix:$DIR/busy"
wait_for test -s "$DIR/path"
refused busy # a queue that is full does not make a socket stale
echo precious >"$DIR/file"
refused file
serve live "unix:$DIR/live" echo
refused live
peer connect "unix:$DIR/live" send=x recv=x shut eof

kill "$SERVER_PID" # leaves its file behind
wait "$SERVER_PID" || :
serve server 127.0.0.1:0 echo
start_tap -l "unix:$DIR/live" -u "127.0.0.1:$SERVER_PORT"
peer connect "unix:$DIR/live" send=x recv=x shut eof
rm "$DIR/live"
echo precious >"$DIR/live"
stop_tap
grep -q precious "$DIR/live" || fail "removed a file that was not its own"
