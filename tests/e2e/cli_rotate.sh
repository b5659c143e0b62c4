#!/bin/sh
# SPDX-License-Identifier: MIT
# Rotating the files of --output and --log-file with SIGHUP under traffic loses
# nothing and tears no line.
. "$(dirname "$0")/lib.sh"

serve server 127.0.0.1:0 eof
start_tap --log-file "$DIR/diagnostics" -v -e frame -u "127.0.0.1:$SERVER_PORT"
start frames python3 "$HERE/frames.py" frames "$TAP_LISTEN" 60000 0.02
FRAMES_PID=$LAST_PID
has_frames() { grep -q '"event":"frame"' "$TAP_EVENTS"; }
for i in 1 2 3 4; do
    wait_for has_frames
    mv "$TAP_EVENTS" "$DIR/old$i"
    mv "$DIR/diagnostics" "$DIR/olddiag$i"
    kill -HUP "$TAP_PID"
    wait_for test -e "$TAP_EVENTS" -a -e "$DIR/diagnostics"
done
finish "$FRAMES_PID"
kill -TERM "$TAP_PID"
finish "$TAP_PID"
cat "$DIR"/old? "$TAP_EVENTS" >"$DIR/all"
jq -e . "$DIR/all" >/dev/null || fail "a line is torn"
[ "$(grep -c '"event":"frame"' "$DIR/all")" -eq 60001 ] || fail "events were lost"
[ "$(head -n 1 "$DIR/all" | jq -r .event)" = start ] || fail "start is not first"
[ "$(tail -n 1 "$DIR/all" | jq -r .event)" = stop ] || fail "stop is not last"
grep -q '^20[0-9-]*T[0-9:.]*Z grpctap: stopping: Terminated$' "$DIR/diagnostics" ||
    fail "diagnostics are not in the new file"
[ ! -s "$DIR/tap.log" ] || fail "something went to standard error"
