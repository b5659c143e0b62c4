#!/bin/sh
# SPDX-License-Identifier: MIT
# A FIN of one side is passed on after all its bytes, and the other direction
# goes on until its own FIN; whose came first is the reason.
. "$(dirname "$0")/lib.sh"

serve first 127.0.0.1:0 recv-random=1500000 eof random=1500001 close
start_tap --upstream "127.0.0.1:$SERVER_PORT"
peer connect "$TAP_LISTEN" random=1500000 shut recv-random=1500001 eof
wait_for has_event '.reason == "client_closed" and .error == null'
has_event '.from_client.bytes == 1500000 and .from_server.bytes == 1500001' ||
    fail "wrong counts"
stop_tap

serve second 127.0.0.1:0 random=70000 shut recv-random=1500000 eof
start_tap --upstream "127.0.0.1:$SERVER_PORT"
peer connect "$TAP_LISTEN" recv-random=70000 eof random=1500000 close
wait_for has_event '.reason == "server_closed" and .error == null'
stop_tap
