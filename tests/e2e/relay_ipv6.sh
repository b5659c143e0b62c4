#!/bin/sh
# SPDX-License-Identifier: MIT
# IPv6 on both legs.
. "$(dirname "$0")/lib.sh"
python3 -c 'import socket; socket.socket(socket.AF_INET6).bind(("::1", 0))' ||
    skip "no IPv6 here"

serve server '[::1]:0' echo
start_tap --listen '[::1]:0' --upstream "[::1]:$SERVER_PORT"
[ "$TAP_LISTEN" = "[::1]:$TAP_PORT" ] || fail "listens on $TAP_LISTEN"
peer connect "$TAP_LISTEN" random=300000 shut recv-random=300000 eof
wait_for has_event '.reason == "client_closed"'
has_event "(.client | startswith(\"[::1]:\")) and .server == \"[::1]:$SERVER_PORT\"" ||
    fail "wrong addresses"
stop_tap
