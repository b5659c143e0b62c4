#!/bin/sh
# SPDX-License-Identifier: MIT
# A CGI without a length: the body of Python's http.server ends with the
# connection, which is no fault.
. "$(dirname "$0")/peers.inc"
need curl

mkdir "$DIR/www/cgi-bin"
cat >"$DIR/www/cgi-bin/words" <<'END'
#!/bin/sh
printf 'Content-Type: text/plain\n\n'
for i in 1 2 3; do echo "word $i"; sleep 0.05; done
END
chmod -R a+rX "$DIR"
chmod a+x "$DIR/www/cgi-bin/words"
start python python3 -u -m http.server --cgi -b 127.0.0.1 -d "$DIR/www" 0
wait_for grep -q 'port [0-9]' "$DIR/python.log"
start_tap --upstream \
    "127.0.0.1:$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$DIR/python.log")"
curl -s "http://$TAP_LISTEN/cgi-bin/words" -o "$DIR/body"
wait_for has_event '.event == "connection_close"'
end_healthy
same call "$(calls .end .http_status res.body_bytes)" "complete 200 21"
