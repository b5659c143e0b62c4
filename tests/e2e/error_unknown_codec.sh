#!/bin/sh
# SPDX-License-Identifier: MIT
# An encoding that grpctap does not know: a notice names it, the sizes on the
# wire are there, the decoded ones are null, and the next call is served.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"

start_echo 127.0.0.1:0
start_tap --upstream "127.0.0.1:$SERVER_PORT"
# The server does not know it either, and says so to each of the two calls.
echo_call --calls 2 --encoding gzip --label-encoding lzma --expect 12
echo_call --encoding gzip
stop_tap
[ ! -s "$TAP_LOG" ] || fail "diagnostics: $(cat "$TAP_LOG")"
wrong=$(jq -s -r '
    [ .[] | select(.event == "notice" and .code == "codec_unavailable") ]
        as $notices
    | [ .[] | select(.event == "call") ] as $calls
    | [ .[] | select(.event == "message" and .from == "client") ] as $messages
    | ( select([ $notices[] | [.conn, .stream, .from, .severity, .encoding] ]
            != [[1, 1, "client", "info", "lzma"],
                [1, 3, "client", "info", "lzma"]])
        | "notices: \($notices)" ),
      ( $notices[] | select(.detail | test("decode") | not) | .detail ),
      ( select([ $calls[] | [.conn, .grpc_status] ]
            != [[1, 12], [1, 12], [2, 0]]) | "calls: \($calls)" ),
      ( select([ $messages[] | [.conn, .compressed, .encoding] ]
            != [[1, true, "lzma"], [1, true, "lzma"], [2, true, "gzip"]])
        | "messages: \($messages)" ),
      ( $messages[] | select(.length == 0
            or (.decoded_length == null) != (.conn == 1)) | "sizes: \(.)" ),
      ( $calls[] | select(.request.message_bytes == 0
            or (.request.decoded_bytes == null) != (.conn == 1))
        | "sizes: \(.)" )' "$TAP_EVENTS")
[ -z "$wrong" ] || fail "$wrong"
