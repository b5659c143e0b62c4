#!/bin/sh
# SPDX-License-Identifier: MIT
# Each message of a stream is in the output when it has passed, not when the
# call ends; and its times say when that was.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"

# messages N: so many have been written.
messages() {
    [ "$(events '.event == "message"' | wc -l)" -ge "$1" ]
}

# A stream without an end: whatever is written is written while it is open.
start_echo 127.0.0.1:0
start_tap --upstream "127.0.0.1:$SERVER_PORT"
start_call endless --kind bidi --count 100000 --interval-ms 50
for n in 2 4 6 8; do
    wait_for messages $n
    late=$(events '.event == "message"' |
        jq -s '(now - (last.time | sub("\\.[0-9]+"; "") | fromdate)) | floor')
    [ "$late" -le 5 ] || fail "message $n was written after $late s"
done
kill -0 "$CLIENT_PID" || fail "the stream is over"
! has_event '.event == "call"' || fail "a call event, and the stream is open"
kill -KILL "$CLIENT_PID"
wait_for has_event '.event == "call" and .end == "connection_closed"'
stop_tap

# A stream that ends: one request and its response every 200 ms.
start_tap --upstream "127.0.0.1:$SERVER_PORT"
echo_call --kind bidi --count 4 --interval-ms 200
stop_tap
wrong=$(jq -s -r '
    def seconds: (sub("\\.[0-9]+"; "") | fromdate)
        + ("0" + capture("(?<f>\\.[0-9]+)").f | tonumber);
    def apart: [ range(1; length) as $i | .[$i] - .[$i - 1] ] | min;
    [ .[] | select(.event == "message") ] as $messages
    | (.[] | select(.event == "call")) as $call
    | ("client", "server") as $from
    | [ $messages[] | select(.from == $from) ] as $mine
    | ( select([ $mine[].index ] != [0, 1, 2, 3]) | "index" ),
      ( select(([ $mine[].time | seconds ] | apart) < 0.19)
        | "time: not 200 ms apart" ),
      ( select(([ $mine[].at_us ] | apart) < 190000)
        | "at_us: not 200 ms apart" ),
      ( $mine[] | select(((.time | seconds) - ($call.started | seconds)
                          - .at_us / 1e6) | fabs > 0.001)
        | "time is not started + at_us" ),
      ( select($mine[0].time >= $call.time) | "call: before its messages" )
    | "\($from): \(.)"' "$TAP_EVENTS")
[ -z "$wrong" ] || fail "$wrong"
quiet
