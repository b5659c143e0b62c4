#!/bin/sh
# SPDX-License-Identifier: MIT
# HTTP/1.1 byte counts are what curl and nginx counted: heads, bodies and all
# of it, with and without a body, whole and in ranges.
. "$(dirname "$0")/peers.inc"
need curl
make_file page.txt 100000
start_nginx <<'END'
location = /204 { return 204; } location = /moved { return 302 /; }
location = /put { dav_methods PUT; }
END
start_tap --upstream "$NGINX"
get() {
    path=$1
    shift
    curl -s --http1.1 -o "$DIR/body" "http://$TAP_LISTEN/$path" "$@" -w "$seen"
}
seen='%{http_code} %{size_request} %{size_upload} %{size_header}'
seen="$seen %{size_download}\n"
{
    get page.txt
    get page.txt -I
    get page.txt -r 100-199
    get page.txt -r 0-9,50-59
    get page.txt -r 999999-
    get page.txt -z "$DIR/www/page.txt"
    get 204
    get none
    get moved
    get put -T "$DIR/www/page.txt"
} >"$DIR/curl"
end_healthy
same curl "$(calls .http_status req.header_block_bytes req.body_bytes \
    res.header_block_bytes res.body_bytes)" "$(cat "$DIR/curl")"
same statuses "$(calls .http_status | xargs)" \
    "200 200 206 206 416 304 204 404 302 201"
# nginx takes the 25 bytes of its 100 Continue for a body.
same nginx "$(calls 1 .http_status req.wire_bytes res.wire_bytes \
    'res.body_bytes + (if .method == "PUT" then 25 else 0 end)')" \
    "$(cat "$NGINX_LOG")"
