#!/bin/sh
# SPDX-License-Identifier: MIT
# curl --http2 in cleartext upgrades from HTTP/1.1: stream 1 is the upgraded
# request, whose head and that of the 101 are header block bytes; so for
# nghttp -u.
. "$(dirname "$0")/peers.inc"
. "$(dirname "$0")/nghttpx.inc"
need curl nghttp

# curl takes no more than 32 KiB along with a 101.
make_file page.txt 10000
start_nghttpd
start_nghttpx "${NGHTTPD%:*},${NGHTTPD#*:}"';;proto=h2'
start_tap --upstream "$NGHTTPX" --events default,headers
curl -s --http2 "http://$TAP_LISTEN/page.txt" -o "$DIR/body" \
    -w '%{http_version} %{size_download} %{size_request}\n' >"$DIR/curl"
same curl "$(cut -d ' ' -f 1,2 "$DIR/curl")" "2 10000"
nghttp -nu "http://$TAP_LISTEN/page.txt"
end_healthy
same notices "$(jq -r 'select(.event == "notice") | "\(.conn) \(.code) \(
    .severity) \(.stream)"' "$TAP_EVENTS" | xargs)" \
    "1 h2c_upgrade info 1 2 h2c_upgrade info 1"
same calls "$(calls .conn .stream .protocol .method .path .http_status .end \
    res.body_bytes | xargs)" \
    "1 1 h2 GET /page.txt 200 complete 10000 2 1 h2 GET /page.txt 200 \
complete 10000"
# curl's upgraded request is nothing but its head; stream 1 had no frame.
same request "$(calls req.header_block_bytes req.framing_bytes |
    head -n 1)" "$(cut -d ' ' -f 3 "$DIR/curl") 0"
# The 101 and the head in HPACK.
same response "$(jq -r 'select(.event == "call" and .conn == 1)
    .response.header_block_bytes' "$TAP_EVENTS")" "$(jq -s '[.[] |
    select(.event == "headers" and .conn == 1 and .from == "server")
    .header_block_bytes] | add' "$TAP_EVENTS")"
same undecoded "$(jq -c 'select(.event == "connection_close") | [.protocol,
    (.from_client, .from_server | .undecoded_bytes)]' "$TAP_EVENTS" | xargs)" \
    "[h2,0,0] [h2,0,0]"
