#!/bin/sh
# SPDX-License-Identifier: MIT
# A name that cannot be resolved, or not in time, fails the connection alone.
. "$(dirname "$0")/lib.sh"

start_tap --connect-timeout 1s --upstream no-such-host.invalid:80
for i in 1 2; do
    peer connect "$TAP_LISTEN" send=x reset-seen
    wait_for has_event ".conn == $i and .reason == \"connect_failed\"
        and (.error | startswith(\"resolve no-such-host.invalid:\"))"
done
peer connect "$TAP_LISTEN" send=x reset # while it is being resolved
wait_for has_event '.conn == 3 and .event == "connection_close"'
stop_tap
