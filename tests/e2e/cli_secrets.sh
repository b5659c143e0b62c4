#!/bin/sh
# SPDX-License-Identifier: MIT
# Secrets are hidden by default, further ones with --redact, none with
# --show-secrets.
. "$(dirname "$0")/lib.sh"

serve server 127.0.0.1:0 gone
run=0

# written OPTIONS...: the events of a call with secrets in its headers.
written() {
    run=$((run + 1))
    start_tap -e all "$@" -u "127.0.0.1:$SERVER_PORT"
    start "call$run" python3 "$HERE/frames.py" call "$TAP_LISTEN" "$DIR/up$run"
    wait_for has_event '.event == "headers"'
    stop_tap
    mv "$TAP_EVENTS" "$DIR/written"
    grep -q for-all-to-see "$DIR/written" || fail "headers are missing"
}

shown() {
    grep -q "$1" "$DIR/written"
}

written
! shown s3cret-token || fail "authorization is shown"
! shown s3cret-cookie || fail "cookie is shown"
shown s3cret-key || fail "x-api-key is hidden"

written --redact x-other,X-API-Key
! shown s3cret-token || fail "--redact: authorization is shown"
! shown s3cret-key || fail "--redact: x-api-key is shown"

written --redact :path,:Authority --summary
! grep -q Pending "$DIR/written" "$TAP_LOG" || fail "--redact: :path is shown"
! shown localhost || fail "--redact: :authority is shown"
grep -q '\[redacted\]$' "$TAP_LOG" || fail "--redact: no row in the summary"

written --redact x-api-key --show-secrets
shown s3cret-token || fail "--show-secrets: authorization is hidden"
shown s3cret-cookie || fail "--show-secrets: cookie is hidden"
shown s3cret-key || fail "--show-secrets: x-api-key is hidden"
