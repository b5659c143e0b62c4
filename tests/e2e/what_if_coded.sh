#!/bin/sh
# SPDX-License-Identifier: MIT
# Messages of gRPC-Web in bodies with a content-encoding have no size on the
# wire: --what-if says which coding is in use, and nothing of what it saves.
# With --redact it does not say which.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"
. "$(dirname "$0")/what_if.inc"

cat >"$DIR/server.py" <<'END'
import gzip, http.server, struct, sys
TYPE = "application/grpc-web+proto"

def frame(flag, data):
    return struct.pack(">BI", flag, len(data)) + data

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = gzip.compress(frame(0, b"message " * 500) +
                             frame(0x80, b"grpc-status: 0\r\n"))
        self.send_response(200)
        self.send_header("Content-Type", TYPE)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

if len(sys.argv) > 1:
    open(sys.argv[1], "wb").write(frame(0, b"request " * 100))
    sys.exit()
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("listening", server.server_port, flush=True)
server.serve_forever()
END
command -v curl >/dev/null || skip "no curl"
python3 "$DIR/server.py" "$DIR/request"
start server python3 "$DIR/server.py"
wait_for grep -q '^listening ' "$DIR/server.log"
port=$(awk '/^listening / { print $2 }' "$DIR/server.log")

requests() {
    start_tap -u "127.0.0.1:$port" --what-if gzip:6 --what-if-cpu 100 \
        --summary "$@"
    curl -sS -H 'Content-Type: application/grpc-web+proto' \
        --data-binary "@$DIR/request" "http://$TAP_LISTEN/a.B/C" >/dev/null
    stop_tap
}

# used SIDE: what is in use there.
used() {
    finals ".from == \"$1\"" | jq -c .used
}

until_all_tried requests
[ "$(used server)" = '{"encoding":"gzip","level":null,"compressed_messages":1,"bytes":null,"ratio":null}' ] ||
    fail "from the server: $(used server)"
finals '.from == "client"' | jq -e '.used | .encoding == null and .bytes == 800
    and .ratio == 1 and .compressed_messages == 0' >/dev/null ||
    fail "from the client: $(used client)"
grep -qE '^ +server +now:gzip:\? +- +1 +4000 +- +- ' "$TAP_LOG" || fail "no row"
grep -q 'saves .*; now gzip$' "$TAP_LOG" || fail "no advice"
requests --redact content-encoding
[ "$(used server | jq -r .encoding)" = "[redacted]" ] || fail "$(used server)"
! grep -q 'now:gzip\|now gzip' "$TAP_LOG" || fail "the table tells"

start_echo 127.0.0.1:0
calls() {
    start_tap -u "127.0.0.1:$SERVER_PORT" --what-if snappy --what-if-cpu 100 \
        --summary "$@"
    echo_call --size 20K --encoding gzip
    stop_tap
}
calls
has_event '.event == "what_if" and .used.encoding == "gzip"' || fail "hidden"
calls --redact grpc-encoding
! finals true | grep gzip || fail "the events tell"
! grep gzip "$TAP_LOG" || fail "the table tells"
[ "$(used client | jq -c '[.encoding, .compressed_messages]')" = \
    '["[redacted]",1]' ] || fail "$(used client)"
grep -qF 'now:[redacted]:?' "$TAP_LOG" || fail "no row"
