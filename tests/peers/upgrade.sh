#!/bin/sh
# SPDX-License-Identifier: MIT
# An upgrade that the server refuses is a call like others; one that it
# accepts ends HTTP: what follows is counted and relayed, not decoded.
. "$(dirname "$0")/peers.inc"
need node

start node node "$PEERS/node_http1.js"
wait_for test -s "$DIR/node.log"
start_tap --upstream "127.0.0.1:$(cat "$DIR/node.log")"
python3 - "$TAP_PORT" <<'END'
import socket, sys

def ask(upgrade, after):
    sock = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
    sock.sendall(b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
                 b"Upgrade: %s\r\n\r\n" % upgrade)
    got = sock.recv(4096)
    while not got.endswith(b"\r\n\r\n"):
        got += sock.recv(4096)
    if after:
        sock.sendall(after)
        back = b""
        while len(back) < len(after):
            back += sock.recv(4096)
        assert back == after, back
    sock.close()

ask(b"websocket", b"")
# HTTP in what follows is not HTTP of this connection.
ask(b"echo", b"GET /y HTTP/1.1\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\1\2")
END
end_healthy
same calls "$(calls .http_status .end res.header_block_bytes \
    req.header_block_bytes req.body_bytes res.body_bytes | xargs)" \
    "400 complete 66 69 0 0 101 complete 72 64 0 0"
same opaque "$(jq -c 'select(.event == "connection_close") | [.protocol,
    (.from_client, .from_server | .undecoded_bytes)]' "$TAP_EVENTS" | xargs)" \
    "[http/1.1,0,0] [http/1.1,46,46]"
