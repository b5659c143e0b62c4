#!/bin/sh
# SPDX-License-Identifier: MIT
# HTTP/2 byte counts are what nginx and curl counted, and many calls share a
# connection.
. "$(dirname "$0")/peers.inc"
need curl

make_file page.txt 100000
start_nginx http2 <<'END'
location = /204 { return 204; }
location = /moved { return 302 /page.txt; }
location = /put { dav_methods PUT; }
END
start_tap --upstream "$NGINX"
at=http://$TAP_LISTEN
seen='%{http_code} %{size_upload} %{size_download}\n'
set -- -s --http2-prior-knowledge -w "$seen" -o "$DIR/body"
curl "$@" "$at/page.txt" --next "$@" -I "$at/page.txt" --next "$@" \
    -r 100-199 "$at/page.txt" --next "$@" -z "$DIR/www/page.txt" \
    "$at/page.txt" --next "$@" "$at/204" --next "$@" "$at/none" --next "$@" \
    "$at/moved" --next "$@" -T "$DIR/www/page.txt" "$at/put" \
    >"$DIR/curl"
end_healthy
same connections "$(events '.event == "connection_close"' | wc -l)" 1
same curl "$(calls .http_status '$req.body_bytes' '$res.body_bytes')" \
    "$(cat "$DIR/curl")"
same statuses "$(calls .http_status | xargs)" \
    "200 200 206 304 204 404 302 201"
calls .stream .http_status '$req.wire_bytes' '$res.wire_bytes' '$res.body_bytes' '$req.framing_bytes' '$req.control_bytes' '$res.framing_bytes' '$req.header_block_bytes'
cat $NGINX_LOG
