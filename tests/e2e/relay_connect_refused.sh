#!/bin/sh
# SPDX-License-Identifier: MIT
# A server that cannot be reached resets the client, and the event says why.
. "$(dirname "$0")/lib.sh"

serve gone 127.0.0.1:0
kill "$SERVER_PID"
wait "$SERVER_PID" || :
start_tap --upstream "127.0.0.1:$SERVER_PORT"
peer connect "$TAP_LISTEN" reset-seen
wait_for has_event '.reason == "connect_failed"'
[ "$(events '.reason == "connect_failed"' | jq -r .error)" = \
    "connect to 127.0.0.1:$SERVER_PORT: Connection refused" ] ||
    fail "wrong error"
has_event ".event == \"connection_open\" and .server == \"127.0.0.1:$SERVER_PORT\"" ||
    fail "no connection_open"
stop_tap
