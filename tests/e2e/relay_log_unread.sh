#!/bin/sh
# SPDX-License-Identifier: MIT
# Diagnostics wait for nobody, whatever standard error is; lines are written
# whole or counted as missing.  A file keeps its order with what others write
# there, and a standard error that was closed stays so.
. "$(dirname "$0")/lib.sh"

for kind in pipe terminal socket; do
    python3 "$HERE/unread_log.py" "$kind" "$DIR" "$GRPCTAP" ||
        fail "a $kind that is not read"
done

{
    echo before >&2
    "$GRPCTAP" proxy -l 0 -u 127.0.0.1:1 -o /no/such || :
    echo after >&2
} 2>"$DIR/err"
[ "$(cut -c 1-20 "$DIR/err" | tr '\n' ' ')" = \
    "before grpctap: cannot open after " ] || fail "$(cat "$DIR/err")"

serve server 127.0.0.1:0 echo
# shellcheck disable=SC2016 # for the inner shell
start tap sh -c 'exec "$@" 2>&-' sh "$GRPCTAP" proxy -l "unix:$DIR/closed" \
    -o "$DIR/events.jsonl" -u "127.0.0.1:$SERVER_PORT"
TAP_PID=$LAST_PID
TAP_EVENTS=$DIR/events.jsonl
wait_for test -S "$DIR/closed"
kill -USR1 "$TAP_PID"
peer connect "unix:$DIR/closed" send=x recv=x shut eof
stop_tap

# A FIFO as --log-file, likewise, and its count has the time in front.
mkfifo "$DIR/fifo"
exec 9<>"$DIR/fifo"
python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK)
try:
    while True:
        os.write(fd, b"full\n" * 100)
except BlockingIOError:
    pass' "$DIR/fifo"
start_tap -vv --log-file "$DIR/fifo" -u "127.0.0.1:$SERVER_PORT"
peer connect "127.0.0.1:$TAP_PORT" send=x recv=x shut eof
cat <&9 >"$DIR/read.log" &
PIDS="$PIDS $!"
wait_for grep -q full "$DIR/read.log"
stop_tap
wait_for grep -Eqx '20.*Z grpctap: [1-9].* lines are missing here: .*' "$DIR/read.log"
