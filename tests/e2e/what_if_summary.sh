#!/bin/sh
# SPDX-License-Identifier: MIT
# --what-if in words: bare it takes its list, a list may stand behind it or
# behind a `=', --summary has the table and the advice, -e leaves events out;
# and a wrong list is a usage error.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"
. "$(dirname "$0")/what_if.inc"

run() {
    start_tap -u "127.0.0.1:$SERVER_PORT" --summary --what-if-cpu 100% "$@"
    echo_call --size 40 --calls 3
    echo_call --size 20K --calls 3 --encoding gzip
    stop_tap
}

codecs() {
    finals '.from == "client"' |
        jq -s -r 'map("\(.codec):\(.level)") | join(" ")'
}

start_echo 127.0.0.1:0
until_all_tried run --what-if
[ "$(codecs)" = "gzip:1 gzip:6 br:4 zstd:3 snappy:null" ] || fail "$(codecs)"
until_all_tried run --what-if=zstd:19
[ "$(codecs)" = "zstd:19" ] || fail "$(codecs)"
until_all_tried run --what-if gzip:1,br:11
[ "$(codecs)" = "gzip:1 br:11" ] || fail "$(codecs)"

grep -q 'comp_us/KiB .* pays_below  method$' "$TAP_LOG" || fail "no table"
grep -qE '^ +client +gzip:1 +6 +6 +[0-9]+ +[0-9]+ +9[0-9]\.[0-9]% .* [0-9.]+[kMG]bit/s  /grpctap' \
    "$TAP_LOG" || fail "no row"
grep -qE '^ +client +now:gzip:\? +- +6 ' "$TAP_LOG" || fail "what is in use?"
grep -qE '^    (gzip:1|br:11) saves 9[0-9]\.[0-9] % and pays below [0-9.]+ [kMG]bit/s; messages up to 4[0-9] bytes grow; now gzip saves 9[0-9]\.[0-9] %$' \
    "$TAP_LOG" || fail "no advice"

run --what-if -e call
! has_event '.event == "what_if"' || fail "what_if was not selected"
grep -q 'pays_below' "$TAP_LOG" || fail "the table is not for --events"
run
! grep -q 'pays_below' "$TAP_LOG" || fail "a table, and nobody asked"

for list in gzip:0 lzma gzip,gzip zstd:23 snappy:1 ,; do
    status=0
    "$GRPCTAP" proxy -l 0 -u 1 --what-if "$list" >"$DIR/usage.log" 2>&1 ||
        status=$?
    [ $status -eq 2 ] || fail "--what-if $list: exit $status"
    grep -q -- "--what-if $list: " "$DIR/usage.log" || fail "$list: no reason"
done
status=0
"$GRPCTAP" proxy -l 0 -u 1 --what-if -e call 2>"$DIR/usage.log" || status=$?
[ $status -eq 2 ] || fail "--what-if for nothing: exit $status"
grep -q 'nothing would come of --what-if' "$DIR/usage.log" || fail "no reason"
for share in 0 101 10x -1; do
    status=0
    "$GRPCTAP" proxy -l 0 -u 1 --what-if-cpu "$share" 2>/dev/null || status=$?
    [ $status -eq 2 ] || fail "--what-if-cpu $share: exit $status"
done
