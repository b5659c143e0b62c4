#!/bin/sh
# SPDX-License-Identifier: MIT
# A port in use is a failure at run time that says so.
. "$(dirname "$0")/lib.sh"

serve other 127.0.0.1:0 echo
status=0
timeout 10 "$GRPCTAP" proxy -l "127.0.0.1:$SERVER_PORT" -u 1 >"$DIR/out.log" 2>&1 ||
    status=$?
[ "$status" -eq 1 ] || fail "exit status $status"
grep -q "cannot listen on 127.0.0.1:$SERVER_PORT: Address already in use" \
    "$DIR/out.log" || fail "no reason given"
[ "$(wc -l <"$DIR/out.log")" -eq 1 ] || fail "more than one line"
