#!/bin/sh
# SPDX-License-Identifier: MIT
# --what-if takes bodies of plain HTTP too, their content codings undone, each
# path and direction by itself; what gRPC is not and what has no body counts
# for nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/what_if.inc"

cat >"$DIR/server.py" <<'END'
import gzip, http.server, json, sys
BODY = json.dumps([{"id": n, "name": f"item {n * 7919 % 1000}"}
                   for n in range(400)]).encode()

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body, *headers):
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/gzip":
            self.answer(gzip.compress(BODY, 6), ("Content-Encoding", "gzip"))
        elif self.path == "/damaged":
            self.answer(gzip.compress(BODY, 6)[:-9],
                        ("Content-Encoding", "gzip"))
        else:
            self.answer(BODY if self.path[:6] in ("/plain", "/query") else b"")

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("listening", server.server_port, flush=True)
server.serve_forever()
END
command -v curl >/dev/null || skip "no curl"
start server python3 "$DIR/server.py"
wait_for grep -q '^listening ' "$DIR/server.log"
port=$(awk '/^listening / { print $2 }' "$DIR/server.log")

requests() {
    start_tap -u "127.0.0.1:$port" --what-if gzip:6,zstd --what-if-cpu 100
    curl -sS "http://$TAP_LISTEN/plain" "http://$TAP_LISTEN/gzip" \
        "http://$TAP_LISTEN/empty" >/dev/null
    curl -sS "http://$TAP_LISTEN/query?a=1" "http://$TAP_LISTEN/query?b=2?" \
        "http://$TAP_LISTEN/query" >/dev/null
    curl -sS --data-binary "@$DIR/server.py" "http://$TAP_LISTEN/post" \
        >"$DIR/answer"
    cmp -s "$DIR/server.py" "$DIR/answer" || fail "the body came back changed"
    stop_tap
}
until_all_tried requests

got=$(finals '.codec == "gzip"' | jq -s -c '
    map({path, from, n: .messages_seen, used: .used.encoding}) | sort_by(.path, .from)')
want='[{"path":"/gzip","from":"server","n":1,"used":"gzip"},{"path":"/plain","from":"server","n":1,"used":null},{"path":"/post","from":"client","n":1,"used":null},{"path":"/post","from":"server","n":1,"used":null},{"path":"/query","from":"server","n":3,"used":null}]'
[ "$got" = "$want" ] || fail "$got"
# One body, plain and compressed by Python with the same library: the same.
[ "$(finals '.path == "/gzip" and .used.bytes != .compressed_bytes
             and .codec == "gzip"')" = "" ] || fail "not what Python wrote"
[ "$(finals '.path == "/gzip" or .path == "/plain"' |
    jq -s 'map([.codec, .compressed_bytes]) | unique | length')" -eq 2 ] ||
    fail "plain and gzip differ"

# A body that cannot be undone is seen, and not tried.
start_tap -u "127.0.0.1:$port" --what-if gzip:6
curl -sS "http://$TAP_LISTEN/damaged" >/dev/null
stop_tap
has_event '.event == "what_if" and .messages_seen == 1 and .bytes_seen == 0
           and .not_sampled.undecoded == 1 and .ratio == null' ||
    fail "damaged: $(finals true)"
