#!/bin/sh
# SPDX-License-Identifier: MIT
# A standard error that nobody reads holds up neither the traffic nor the end;
# once it is read again, the lines that are missing are counted.
. "$(dirname "$0")/lib.sh"

# fill FILE: until a pipe takes nothing more.
fill() {
    python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK)
try:
    while True:
        os.write(fd, b"full\n" * 100)
except BlockingIOError:
    pass' "$1"
}

serve server 127.0.0.1:0 echo
mkfifo "$DIR/fifo"
exec 9<>"$DIR/fifo"
fill "$DIR/fifo"
# shellcheck disable=SC2016 # for the inner shell
start tap sh -c 'exec 2>"$1" 9>&-; shift; exec "$@"' sh "$DIR/fifo" \
    "$GRPCTAP" proxy -l "unix:$DIR/sock" -o "$DIR/events.jsonl" \
    -u "127.0.0.1:$SERVER_PORT"
TAP_PID=$LAST_PID
TAP_EVENTS=$DIR/events.jsonl
wait_for test -S "$DIR/sock"
kill -USR1 "$TAP_PID"
peer connect "unix:$DIR/sock" send=hello recv=hello
kill -USR1 "$TAP_PID"
peer connect "unix:$DIR/sock" send=hello recv=hello

cat <&9 >"$DIR/read.log" &
PIDS="$PIDS $!"
wait_for grep -q full "$DIR/read.log"
wait_for has_event '.event == "connection_close" and .conn == 2'
kill -USR1 "$TAP_PID"
wait_for grep -q ' 10 bytes from servers, .* bytes of output wait (0% of the queue)$' \
    "$DIR/read.log"
grep -qx 'grpctap: 2 lines are missing here: they could not be written' \
    "$DIR/read.log" || fail "nothing was said"
stop_tap
