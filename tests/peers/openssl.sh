#!/bin/sh
# SPDX-License-Identifier: MIT
# TLS passes through: curl and openssl s_client against nginx with TLS and
# openssl s_server; the hellos are read, nothing else is.
. "$(dirname "$0")/peers.inc"
. "$HERE/tls.inc"
need curl

make_file page.txt 300000
start_nginx "ssl http2" <<END
server_name echo.test;
ssl_certificate $DIR/cert.pem; ssl_certificate_key $DIR/key.pem;
END
start_tap --upstream "$NGINX"
for version in --http1.1 --http2; do
    curl -s "$version" --cacert "$DIR/cert.pem" -o "$DIR/body" \
        --connect-to "echo.test::$TAP_LISTEN" https://echo.test/page.txt ||
        fail "curl: $?"
    cmp "$DIR/body" "$DIR/www/page.txt" || fail "$version"
done
end_healthy
same tls "$(jq -c 'select(.event == "connection_close") | [.protocol, .calls,
    .tls.sni, (.tls.alpn_offered | join(";")), .from_client.undecoded_bytes
    == .from_client.bytes]' "$TAP_EVENTS" | xargs)" \
    "[tls,0,echo.test,http/1.1,true] [tls,0,echo.test,h2;http/1.1,true]"

start_tls server -tls1_2
printf 'abc\nCLOSE\n' | tls_connect >"$DIR/answer" || :
end_healthy
same answer "$(head -n 1 "$DIR/answer")" cba
has_event '.event == "connection_close" and .protocol == "tls" and
    .tls.version == "TLS 1.2"' || fail "not TLS 1.2"
