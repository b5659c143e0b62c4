#!/bin/sh
# SPDX-License-Identifier: MIT
# What a server says before it resets the connection over bytes it did not
# read is not lost, whether the reset shows in reading or in writing.
. "$(dirname "$0")/lib.sh"

# The server closes with bytes unread, which is a reset.
serve server 127.0.0.1:0 send=goodbye unread=20000 close
start_tap --upstream "127.0.0.1:$SERVER_PORT"
for i in 1 2 3 4 5; do
    peer connect "$TAP_LISTEN" random=20000 recv=goodbye reset-seen
    wait_for has_event ".conn == $i and .reason == \"server_reset\""
done
stop_tap

# The tap sleeps meanwhile, and then has bytes for a socket that is broken but
# still holds an answer; which side it looks at first depends on the order.
for order in "late client" "client late"; do
    serve late 127.0.0.1:0 unread=1 wait="$DIR/late" random=3000 close
    start_tap --upstream "127.0.0.1:$SERVER_PORT"
    start client python3 "$HERE/peer.py" connect "$TAP_LISTEN" send=x \
        wait="$DIR/client" random=9000 recv-random=3000 gone
    client=$LAST_PID
    wait_for grep -q unread=1 "$DIR/late.log"
    kill -STOP "$TAP_PID"
    for name in $order; do
        touch "$DIR/$name"
        wait_for grep -q random= "$DIR/$name.log"
    done
    wait_for grep -q close "$DIR/late.log"
    kill -CONT "$TAP_PID"
    finish "$client"
    stop_tap
    rm "$DIR/client" "$DIR/late"
done
