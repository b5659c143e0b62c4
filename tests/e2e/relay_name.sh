#!/bin/sh
# SPDX-License-Identifier: MIT
# A host name is resolved for each connection; localhost needs no name server,
# and its addresses are tried in turn.
. "$(dirname "$0")/lib.sh"

serve v4 127.0.0.1:0 echo
start_tap --upstream "localhost:$SERVER_PORT"
peer connect "$TAP_LISTEN" send=hello recv=hello shut eof
wait_for has_event ".reason == \"client_closed\" and .server == \"127.0.0.1:$SERVER_PORT\""
stop_tap

serve v6 '[::1]:0' echo
start_tap --upstream "localhost:$SERVER_PORT"
peer connect "$TAP_LISTEN" send=hello recv=hello shut eof
wait_for has_event ".reason == \"client_closed\" and .server == \"[::1]:$SERVER_PORT\""
stop_tap
