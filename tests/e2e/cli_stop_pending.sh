#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGTERM and SIGINT write the events of calls and connections that are open,
# then stop, and exit with 0; --summary prints its table.
. "$(dirname "$0")/lib.sh"

for signal in TERM INT; do
    serve "server$signal" 127.0.0.1:0 gone
    start_tap -u "127.0.0.1:$SERVER_PORT" --summary
    start "call$signal" python3 "$HERE/frames.py" call "$TAP_LISTEN" "$DIR/up$signal"
    wait_for test -e "$DIR/up$signal"
    wait_for has_event '.event == "connection_open"'
    kill "-$signal" "$TAP_PID"
    finish "$TAP_PID"
    has_event '.event == "call" and .end == "shutdown" and
        .path == "/e2e.Test/Pending"' || fail "$signal: no call event"
    has_event '.event == "connection_close" and .reason == "shutdown" and .calls == 1' ||
        fail "$signal: no connection_close event"
    [ "$(tail -n 1 "$TAP_EVENTS" | jq -c '[.event, .connections, .calls, .dropped]')" = \
        '["stop",1,1,0]' ] || fail "$signal: $(tail -n 1 "$TAP_EVENTS")"
    check_ledger "$TAP_EVENTS"
    grep -q '^ *calls  errors .* method$' "$DIR/tap.log" || fail "no table"
    grep -q '^ *1  .*  /e2e\.Test/Pending$' "$DIR/tap.log" || fail "no row"
    rm "$TAP_EVENTS"
done
