#!/bin/sh
# SPDX-License-Identifier: MIT
# A reset of either side reaches the other one as a reset, with what was sent
# before it.
. "$(dirname "$0")/lib.sh"

serve server 127.0.0.1:0 --once recv=hello touch="$DIR/got" reset-seen
server=$SERVER_PID
start_tap --upstream "127.0.0.1:$SERVER_PORT"
peer connect "$TAP_LISTEN" send=hello wait="$DIR/got" reset
finish "$server"
wait_for has_event '.reason == "client_reset"'
has_event '.reason == "client_reset" and (.error | contains("client"))' ||
    fail "error does not name the client"
stop_tap

serve resetter 127.0.0.1:0 send=bye wait="$DIR/bye" reset
start_tap --upstream "127.0.0.1:$SERVER_PORT"
peer connect "$TAP_LISTEN" recv=bye touch="$DIR/bye" reset-seen
wait_for has_event '.reason == "server_reset" and (.error | contains("server"))'
stop_tap
