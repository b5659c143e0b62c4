#!/bin/sh
# SPDX-License-Identifier: MIT
# HTTP/2 byte counts are what nginx and curl counted.
. "$(dirname "$0")/peers.inc"
need curl

make_file page.txt 100000
start_nginx http2 <<'END'
location = /204 { return 204; }
location = /moved { return 302 /page.txt; }
location = /put { dav_methods PUT; }
END
start_tap --upstream "$NGINX"
# A connection each: curl 7.88 fails to use one again with prior knowledge.
get() {
    path=$1
    shift
    curl -s --http2-prior-knowledge -o "$DIR/body" "$@" \
        "http://$TAP_LISTEN/$path" -w "$seen"
}
seen='%{http_code} %{size_upload} %{size_download}\n'
{
    get page.txt
    get page.txt -I
    get page.txt -r 100-199
    get page.txt -z "$DIR/www/page.txt"
    get 204
    get none
    get moved
    get put -T "$DIR/www/page.txt"
} >"$DIR/curl"
end_healthy
same curl "$(calls .http_status req.body_bytes res.body_bytes)" \
    "$(cat "$DIR/curl")"
same statuses "$(calls .http_status | xargs)" \
    "200 200 206 304 204 404 302 201"
# nginx counts neither the client's frame headers nor its own WINDOW_UPDATE.
same nginx "$(calls .stream .http_status 'req.wire_bytes - req.framing_bytes' \
    'res.wire_bytes - res.control_bytes / 4 * 13' res.body_bytes)" \
    "$(cat "$NGINX_LOG")"
