#!/bin/sh
# SPDX-License-Identifier: MIT
# Many connections over several threads: each is served, has its own number,
# and its events are whole.
. "$(dirname "$0")/lib.sh"

serve server 127.0.0.1:0 echo
start_tap -t 4 --upstream "127.0.0.1:$SERVER_PORT"
python3 - "$TAP_PORT" <<'PYTHON'
import socket, sys
conns = [socket.create_connection(("127.0.0.1", int(sys.argv[1])))
         for _ in range(200)]
for number, conn in enumerate(conns):
    conn.sendall(b"%d" % number * 1000)
for number, conn in enumerate(conns):
    conn.shutdown(socket.SHUT_WR)
    got = bytearray()
    while data := conn.recv(65536):
        got += data
    assert got == b"%d" % number * 1000
PYTHON
stop_tap
[ "$(events '.event == "connection_close"' | jq .conn | sort -nu | wc -l)" \
    -eq 200 ] || fail "not 200 different connections"
