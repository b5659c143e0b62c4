#!/bin/sh
# SPDX-License-Identifier: MIT
# curl through tinyproxy behind the tap: a tunnel is one call, and opaque; a
# refused CONNECT and a request in absolute form are calls like others.
. "$(dirname "$0")/peers.inc"
. "$HERE/tls.inc"
need curl tinyproxy

make_file page.txt 20000
port=$(free_port)
tls_port=$(free_port)
start_nginx <<END
listen 127.0.0.1:$port; listen 127.0.0.1:$tls_port ssl;
ssl_certificate $DIR/cert.pem; ssl_certificate_key $DIR/key.pem;
END
proxy=$(free_port)
printf 'Port %s\nListen 127.0.0.1\nConnectPort %s\nConnectPort %s\n' \
    "$proxy" "$port" "$tls_port" >"$DIR/tinyproxy.conf"
start tinyproxy tinyproxy -d -c "$DIR/tinyproxy.conf"
wait_port "$proxy"
start_tap --upstream "127.0.0.1:$proxy"
get() { curl -s -k -x "http://$TAP_LISTEN" -o "$DIR/body" "$@"; }
get "http://127.0.0.1:$port/page.txt"
get -p "http://127.0.0.1:$port/page.txt" -w '%{size_header}' >"$DIR/tunnel"
get "https://127.0.0.1:$tls_port/page.txt"
cmp "$DIR/body" "$DIR/www/page.txt" || fail "not the page"
peer connect "$TAP_LISTEN" "send=CONNECT 127.0.0.1:1 HTTP/1.1

" gone
end_healthy
same calls "$(calls .method .http_status .end res.body_bytes | xargs)" \
    "GET 200 complete 20000 CONNECT 200 complete 0 CONNECT 200 complete 0 \
CONNECT 403 complete 375"
jq -r 'select(.event == "connection_close") | "\(.protocol) \(.tls) \(
    .from_server.undecoded_bytes)"' "$TAP_EVENTS" >"$DIR/closed"
same opaque "$(sed 's/ 2..../ 20K/' "$DIR/closed" | xargs)" \
    "http/1.1 null 0 http/1.1 null 20K http/1.1 null 20K http/1.1 null 0"
# The head inside the tunnel is the server's; curl adds that of the proxy.
inner=$(sed -n '2s/.* //p' "$DIR/closed")
same inner "$((inner - 20000 + 70))" "$(cat "$DIR/tunnel")"
