#!/bin/sh
# SPDX-License-Identifier: MIT
# A client that is not being read -- half-closed, stalled by a server that
# takes nothing, or waiting for the server to be reached -- and then resets is
# noticed at once, on an event base without edges as well.
. "$(dirname "$0")/lib.sh"

for noepoll in '' 1; do
    reset='[.event, .reason] == ["connection_close", "client_reset"]'
    if [ -n "$noepoll" ]; then export EVENT_NOEPOLL=1; fi

    serve "half$noepoll" 127.0.0.1:0 --once eof touch="$DIR/eof" error-seen
    server=$SERVER_PID
    start_tap --upstream "127.0.0.1:$SERVER_PORT"
    peer connect "$TAP_LISTEN" send=x shut wait="$DIR/eof" reset
    finish "$server"
    wait_for has_event "$reset"
    stop_tap

    serve "stalled$noepoll" 127.0.0.1:0 --once wait="$DIR/go" reset-seen
    server=$SERVER_PID
    start_tap --upstream "127.0.0.1:$SERVER_PORT"
    peer connect "$TAP_LISTEN" flood reset
    wait_for has_event "$reset"
    touch "$DIR/go"
    finish "$server"
    stop_tap

    start "full$noepoll" python3 "$HERE/peer.py" full "$DIR/full" 127.0.0.1:0
    wait_for test -s "$DIR/full"
    start_tap --upstream "127.0.0.1:$(cat "$DIR/full")"
    peer connect "$TAP_LISTEN" send=x reset
    wait_for has_event "$reset"
    stop_tap
    rm "$DIR/eof" "$DIR/go" "$DIR/full"
done
