#!/bin/sh
# SPDX-License-Identifier: MIT
# A graceful end: nginx sends GOAWAY after the last request it allows on a
# connection; nothing is lost, and nothing complained about.
. "$(dirname "$0")/peers.inc"
need nghttp

make_file page.txt 5000
start_nginx http2 <<'END'
keepalive_requests 3;
END
start_tap --upstream "$NGINX"
nghttp -ns -m 3 "http://$TAP_LISTEN/page.txt" >"$DIR/nghttp.log"
end_healthy
same calls "$(calls .end res.body_bytes | uniq -c | xargs)" \
    "3 complete 5000"
has_event '.event == "goaway" and .from == "server" and .code == "NO_ERROR"' ||
    fail "no GOAWAY of nginx"
