#!/bin/sh
# SPDX-License-Identifier: MIT
# On an idle port the events of a call are written at once, though those of
# its connection have just been: nothing waits for more of them.
. "$(dirname "$0")/lib.sh"

mkfifo "$DIR/fifo"
start lone python3 "$HERE/lone_call.py" "$DIR/fifo" "$DIR/port" "$DIR/sock"
lone=$LAST_PID
wait_for test -s "$DIR/port"
start tap "$GRPCTAP" proxy -l "unix:$DIR/sock" -o "$DIR/fifo" \
    -u "127.0.0.1:$(cat "$DIR/port")"
finish "$lone"
cat "$DIR/lone.log"
