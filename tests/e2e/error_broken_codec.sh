#!/bin/sh
# SPDX-License-Identifier: MIT
# A message that is not what its grpc-encoding says: an error says which, of
# whom, and where; the relay and the next call are not affected.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"

start_echo 127.0.0.1:0
start_tap --upstream "127.0.0.1:$SERVER_PORT"
conn=0
for label in gzip deflate br zstd snappy; do
    actual=gzip
    [ $label != gzip ] || actual=br
    # The server cannot decode them either, and ends both with INTERNAL.
    echo_call --calls 2 --encoding $actual --label-encoding $label --expect 13
    echo_call --encoding $label
    conn=$((conn + 2))
    wait_for has_event ".event == \"connection_close\" and .conn == $conn"
    wrong=$(jq -s -r --arg codec $label --argjson bad $((conn - 1)) '
        [ .[] | select(.event == "notice" and .conn >= $bad) ] as $notices
        | [ .[] | select(.event == "message" and .from == "client"
                         and .conn >= $bad) ] as $messages
        | ( select([ $notices[] | [.conn, .stream, .code, .severity, .from,
                                   .index, .encoding] ]
                != [ (1, 3) | [$bad, ., "decode_error", "error", "client", 0,
                               $codec] ]) | "notices: \($notices)" ),
          ( range($notices | length) as $i | $notices[$i]
            | $messages[$i].length as $length
            | select((.reason | length) == 0 or .offset > $length
                     or (.detail | contains("message 0 of \($length) bytes")
                         | not)) | "notice: \(.)" ),
          ( select([ $messages[] | .decoded_length == null ]
                != [true, true, false]) | "messages: \($messages)" ),
          ( .[] | select(.event == "call" and .conn >= $bad)
            | select((.request.decoded_bytes == null) != (.conn == $bad)
                     or .request.message_bytes == 0
                     or .end != "complete")
            | "call: \(.)" )' "$TAP_EVENTS")
    [ -z "$wrong" ] || fail "$actual as $label: $wrong"
done
stop_tap
[ ! -s "$TAP_LOG" ] || fail "diagnostics: $(cat "$TAP_LOG")"
