#!/bin/sh
# SPDX-License-Identifier: MIT
# Unix sockets on both legs: bytes, half-close, a gone peer; the file is
# removed at the end.
. "$(dirname "$0")/lib.sh"

serve server "unix:$DIR/server" echo
start_tap --listen "unix:$DIR/tap" --upstream "unix:$DIR/server"
[ "$TAP_LISTEN" = "unix:$DIR/tap" ] || fail "listens on $TAP_LISTEN"
peer connect "$TAP_LISTEN" random=600000 shut recv-random=600000 eof
wait_for has_event '.reason == "client_closed" and .from_server.bytes == 600000'
has_event ".server == \"unix:$DIR/server\" and .client == \"unix:\"" ||
    fail "wrong addresses"
kill "$SERVER_PID"
wait "$SERVER_PID" || :
peer connect "$TAP_LISTEN" gone
wait_for has_event '.reason == "connect_failed" and (.error | contains("refused"))'
stop_tap
[ ! -e "$DIR/tap" ] || fail "$DIR/tap was left behind"
