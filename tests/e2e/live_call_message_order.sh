#!/bin/sh
# SPDX-License-Identifier: MIT
# A call event comes after all message events of its call, and nothing about
# the call comes after it; with many calls of each kind at a time.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"

start_echo 127.0.0.1:0
start_tap -e connection,call,message,headers,frame -t 2 \
    --upstream "127.0.0.1:$SERVER_PORT"
for kind in unary client server bidi; do
    echo_call --kind $kind --calls 200 --count 3 --in-flight 64 \
        --connections 3 --encoding gzip
done
stop_tap
wrong=$(jq -n -r '
    reduce inputs as $e ({seen: {}, over: {}, wrong: []};
        "\($e.conn) \($e.stream)" as $key
        | if $e.event == "call" then
            .over[$key] = true | .calls += 1
            | ($e.request.messages + $e.response.messages) as $want
            | if .seen[$key] != $want then
                .wrong += ["call \($key) after \(.seen[$key]) of \($want)"]
              else . end
          elif $e.event == "message" then
            .seen[$key] += 1
            | if .over[$key] then .wrong += ["message \($key) after call"]
              else . end
          elif $e.event == "headers" and .over[$key] then
            .wrong += ["headers \($key) after call"]
          else . end)
    | .wrong[], (select(.calls != 800) | "\(.calls) calls")' "$TAP_EVENTS")
[ -z "$wrong" ] || fail "$(echo "$wrong" | head -n 5)"
quiet
