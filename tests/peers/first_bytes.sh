#!/bin/sh
# SPDX-License-Identifier: MIT
# The first bytes of some fifty other protocols are `unknown`, relayed intact,
# and no reason to complain.
. "$(dirname "$0")/peers.inc"

mkfifo "$DIR/relay"
python3 "$PEERS/first_bytes.py" "$DIR/port" <"$DIR/relay" >"$DIR/talks" &
talks=$!
PIDS="$PIDS $talks"
exec 3>"$DIR/relay"
wait_for test -s "$DIR/port"
start_tap --upstream "127.0.0.1:$(cat "$DIR/port")"
echo "$TAP_LISTEN" >&3
finish "$talks"
stop_tap
jq -r 'select(.event == "connection_close") | "\(.protocol) \(.calls) \(
    .from_client.undecoded_bytes) \(.from_server.undecoded_bytes)"' \
    "$TAP_EVENTS" >"$DIR/seen"
same protocols "$(paste -d ' ' "$DIR/talks" "$DIR/seen")" \
    "$(sed 's/\([^ ]*\) \([0-9]*\) \([0-9]*\)/& unknown 0 \2 \3/' "$DIR/talks")"
quiet
