#!/bin/sh
# SPDX-License-Identifier: MIT
# When the reader of the events goes away the program ends with 1 and one line.
. "$(dirname "$0")/lib.sh"

run_piped() {
    {
        status=0
        "$GRPCTAP" proxy -l "unix:$DIR/sock" -u "127.0.0.1:$SERVER_PORT" \
            2>"$DIR/err" || status=$?
        echo "$status" >"$DIR/status"
    } | head -n 1 >"$DIR/first"
    touch "$DIR/reader-gone"
}

serve server 127.0.0.1:0 echo
start piped run_piped
wait_for test -s "$DIR/first"
# head has its line; what is written from now on finds no reader.
peer connect "unix:$DIR/sock" send=hello recv=hello gone || :
wait_for test -s "$DIR/status"
[ "$(cat "$DIR/status")" -eq 1 ] || fail "exit status $(cat "$DIR/status")"
[ "$(cat "$DIR/err")" = "grpctap: cannot write to standard output: Broken pipe" ] ||
    fail "$(cat "$DIR/err")"
[ "$(jq -r .event "$DIR/first")" = start ] || fail "no start event"
