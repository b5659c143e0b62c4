#!/bin/sh
# SPDX-License-Identifier: MIT
# An output that cannot be opened, or not be written from the start, ends the
# program at once with 1 and one sentence.
. "$(dirname "$0")/lib.sh"

ended() {
    [ "$1" -eq 1 ] || fail "exit status $1"
    [ "$(cat "$DIR/err")" = "grpctap: $2" ] || fail "$(cat "$DIR/err")"
}

status=0
"$GRPCTAP" proxy -l 0 -u 127.0.0.1:1 -o /dev/full 2>"$DIR/err" || status=$?
ended "$status" "cannot write to /dev/full: No space left on device"

status=0
"$GRPCTAP" proxy -l 0 -u 127.0.0.1:1 >/dev/full 2>"$DIR/err" || status=$?
ended "$status" "cannot write to standard output: No space left on device"

status=0
"$GRPCTAP" proxy -l 0 -u 127.0.0.1:1 >&- 2>"$DIR/err" || status=$?
ended "$status" "cannot write to standard output: Bad file descriptor"

status=0
"$GRPCTAP" proxy -l 0 -u 127.0.0.1:1 -o "$DIR/no/such" 2>"$DIR/err" || status=$?
ended "$status" "cannot open $DIR/no/such: No such file or directory"

status=0
"$GRPCTAP" proxy -l 0 -u 127.0.0.1:1 --log-file "$DIR/no/such" \
    2>"$DIR/err" || status=$?
ended "$status" "cannot open $DIR/no/such: No such file or directory"
