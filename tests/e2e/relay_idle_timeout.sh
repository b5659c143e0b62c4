#!/bin/sh
# SPDX-License-Identifier: MIT
# --idle-timeout ends a connection on which nothing moves, and none that is
# in use, however slow.
. "$(dirname "$0")/lib.sh"

serve server 127.0.0.1:0 echo
start_tap --idle-timeout 600ms --upstream "127.0.0.1:$SERVER_PORT"
# In use: a byte each way every 200 ms, for longer than the timeout.
start busy python3 -c '
import socket, sys, time
conn = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for _ in range(8):
    conn.sendall(b"x")
    assert conn.recv(1) == b"x"
    time.sleep(0.2)
conn.shutdown(socket.SHUT_WR)
assert conn.recv(1) == b""
' "$TAP_PORT"
busy=$LAST_PID
peer connect "$TAP_LISTEN" send=hello recv=hello eof
wait_for has_event '.reason == "timeout" and .from_server.bytes == 5'
has_event '.reason == "timeout" and .duration_us >= 590000' || fail "too early"
finish "$busy"
wait_for has_event '.reason == "client_closed" and .from_client.bytes == 8'
stop_tap
