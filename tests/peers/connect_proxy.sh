#!/bin/sh
# SPDX-License-Identifier: MIT
# curl through tinyproxy behind the tap: a tunnel is one call, its bytes are
# opaque (an HTTP request in it makes no call, TLS is not looked into); a
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
printf '%s\n' "Port $proxy" 'Listen 127.0.0.1' 'Timeout 60' \
    "ConnectPort $port" "ConnectPort $tls_port" >"$DIR/tinyproxy.conf"
start tinyproxy tinyproxy -d -c "$DIR/tinyproxy.conf"
wait_port "$proxy"
start_tap --upstream "127.0.0.1:$proxy"
get() {
    curl -s -k -x "http://$TAP_LISTEN" -o "$DIR/body" -w \
        '%{http_connect} %{size_header} %{size_download}\n' "$@" || :
}
get "http://127.0.0.1:$port/page.txt" >"$DIR/plain"
get -p "http://127.0.0.1:$port/page.txt" >"$DIR/tunnel"
cmp "$DIR/body" "$DIR/www/page.txt" || fail "not the page"
get "https://127.0.0.1:$tls_port/page.txt" >"$DIR/tls"
cmp "$DIR/body" "$DIR/www/page.txt" || fail "not the page"
get -p http://127.0.0.1:1/ >"$DIR/refused"
end_healthy
# Two heads are one to curl in a tunnel; the inner one is the server's.
same calls "$(calls .method .http_status .end '$res.body_bytes')" \
    "GET 200 complete 20000
CONNECT 200 complete 0
CONNECT 200 complete 0
CONNECT 403 complete 375"
same heads "$(calls '$res.header_block_bytes' | xargs)" "250 70 70 103"
same opaque "$(jq -c 'select(.event == "connection_close") | [.protocol, .tls,
    .from_server.undecoded_bytes > 20000]' "$TAP_EVENTS" | uniq -c | xargs)" \
    "1 [http/1.1,null,false] 2 [http/1.1,null,true] 1 [http/1.1,null,false]"
inner=$(jq 'select(.event == "connection_close" and .conn == 2)
    .from_server.undecoded_bytes' "$TAP_EVENTS")
same inner "$((inner - 20000 + 70))" "$(cut -d ' ' -f 2 "$DIR/tunnel")"
