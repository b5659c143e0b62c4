#!/bin/sh
# SPDX-License-Identifier: MIT
# TLS passes as it is: a handshake that the client verifies, a record of every
# direction untouched, the connection reported as "tls" and counted as opaque.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tls.inc"

seq -f 'line %08.0f of the client' 8000 >"$DIR/lines"
python3 -c 'import sys
for line in sys.stdin: print(line[:-1][::-1])' <"$DIR/lines" >"$DIR/expected"
echo CLOSE >>"$DIR/lines"

start_tls server
conn=0
for version in tls1_2 tls1_3; do
    conn=$((conn + 1))
    tls_connect "-$version" -servername echo.test -alpn h2,http/1.1 \
        -CAfile "$DIR/cert.pem" -verify_hostname echo.test \
        -verify_return_error <"$DIR/lines" >"$DIR/answer" ||
        fail "$version: s_client exited with $?"
    cmp "$DIR/answer" "$DIR/expected" || fail "$version: bytes changed"
    wait_for has_event ".event == \"connection_close\" and .conn == $conn"
    has_event ".conn == $conn and .protocol == \"tls\" and .error == null and
        (.from_client, .from_server |
            .bytes > 200000 and .undecoded_bytes == .bytes)" ||
        fail "$version: $(events ".conn == $conn")"
done
[ "$(events '.event == "notice"')" = "" ] || fail "there is a notice"
stop_tap
