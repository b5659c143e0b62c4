#!/bin/sh
# SPDX-License-Identifier: MIT
# Content codings as nginx applies and curl undoes them, over HTTP/1.1 and
# HTTP/2: on the wire is what curl downloaded, inside it the file.
. "$(dirname "$0")/peers.inc"
need curl zstd
[ -e /usr/lib/nginx/modules/ngx_http_brotli_filter_module.so ] ||
    skip "no brotli filter"

# get ACCEPTED WANTED PATH: from nginx on TAP_LISTEN with $version.
get() {
    curl -s "$version" --compressed -H "Accept-Encoding: $1" \
        "http://$TAP_LISTEN/$3" -o "$DIR/body" \
        -w "$2 %{size_download} 300000\n" >>"$DIR/curl"
    cmp "$DIR/body" "$DIR/www/page.txt" || fail "$*"
}
make_file page.txt 300000
zstd -q "$DIR/www/page.txt" -o "$DIR/www/page.zst"
for option in '' http2; do
    rm -f "$DIR/nginx.sock" "$DIR/curl"
    start_nginx $option <<'END'
gzip on; gzip_vary on; gzip_types text/plain;
brotli on; brotli_types text/plain;
location = /page.zst { add_header Content-Encoding zstd;
 add_header Vary Accept-Encoding; default_type x/y; types {} }
END
    start_tap --upstream "$NGINX"
    version=--http1.1
    [ -z "$option" ] || version=--http2-prior-knowledge
    get gzip gzip page.txt
    get 'gzip;q=0, br' br page.txt
    get 'deflate, gzip, br, zstd' br page.txt
    get identity null page.txt
    get 'br;q=0' null page.txt
    get 'gzip, zstd' zstd page.zst
    end_healthy
    kill "$NGINX_PID"
    same "$version" "$(calls res.content_encoding res.body_bytes \
        res.decoded_bytes)" "$(cat "$DIR/curl")"
done
