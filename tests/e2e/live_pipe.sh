#!/bin/sh
# SPDX-License-Identifier: MIT
# The pipe of the manual, port 0 without a host included: jq shows each
# message while its stream is still open.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"

# The tap, with its output to a pipe; `start` is looked for on the way.
run_piped() {
    sh -c 'echo $$ >"$1/pid"; exec "$2" proxy -l "$3" -u "$4"' sh \
        "$DIR" "$GRPCTAP" "$1" "127.0.0.1:$SERVER_PORT" |
        tee "$TAP_EVENTS" |
        jq -c --unbuffered 'select(.event=="message")' >"$DIR/shown"
}

shown() {
    [ "$(wc -l <"$DIR/shown")" -ge "$1" ]
}

TAP_EVENTS=$DIR/events.jsonl
start_echo 127.0.0.1:0
for listen in 127.0.0.1:0 :0 0; do
    start pipe run_piped "$listen"
    pipe=$LAST_PID
    wait_for test -s "$DIR/pid"
    tap=$(cat "$DIR/pid")
    PIDS="$PIDS $tap" # else it would outlive a test that fails
    wait_for has_event '.event == "start"'
    TAP_LISTEN=$(jq -r 'select(.event == "start").listen' "$TAP_EVENTS")
    case $TAP_LISTEN in
    127.0.0.1:*) ;;
    *) fail "-l $listen listens on $TAP_LISTEN" ;;
    esac
    start_call call --kind bidi --count 100000 --interval-ms 50
    wait_for shown 2
    wait_for shown 6
    kill -0 "$CLIENT_PID" || fail "the stream is over"
    [ "$(jq -r .from "$DIR/shown" | head -n 4 | tr '\n' ' ')" = \
        "client server client server " ] || fail "$(cat "$DIR/shown")"
    kill -KILL "$CLIENT_PID"
    kill -TERM "$tap"
    finish "$pipe"
    has_event '.event == "stop"' || fail "no stop event"
    rm "$DIR/pid" "$TAP_EVENTS" "$DIR/shown"
done
