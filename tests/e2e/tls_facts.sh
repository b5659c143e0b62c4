#!/bin/sh
# SPDX-License-Identifier: MIT
# What the hellos say in the clear is in connection_close; what was not said,
# or is encrypted, is null.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tls.inc"

conn=0

# facts EXPECTED OPTIONS...: one connection, and its `tls`.
facts() {
    expected=$1
    shift
    conn=$((conn + 1))
    echo CLOSE | tls_connect "$@" >"$DIR/answer" || :
    wait_for has_event ".event == \"connection_close\" and .conn == $conn"
    has_event ".event == \"connection_close\" and .conn == $conn and
        (.tls | [.version, .sni, .alpn_offered, .alpn]) == $expected" ||
        fail "not $expected: $(events ".conn == $conn")"
}

start_tls server -alpn h2
facts '["TLS 1.3", "echo.test", ["h2", "http/1.1"], null]' \
    -servername echo.test -alpn h2,http/1.1
facts '["TLS 1.2", "echo.test", ["http/1.1", "h2"], "h2"]' \
    -servername echo.test -alpn http/1.1,h2 -tls1_2
facts '["TLS 1.2", null, null, null]' -noservername -tls1_2
# Refused: nothing was chosen.
facts '[null, "x.test", ["foo"], null]' -servername x.test -alpn foo
# Not TLS.
peer connect "$TAP_LISTEN" send=hello shut gone
wait_for has_event ".event == \"connection_close\" and .conn == $((conn + 1))"
has_event ".conn == $((conn + 1)) and has(\"tls\") and .tls == null" ||
    fail "tls: $(events ".conn == $((conn + 1))")"
stop_tap
