#!/bin/sh
# SPDX-License-Identifier: MIT
# Help and version go to standard output and exit with 0; if that does not
# take them, with 1.
. "$(dirname "$0")/lib.sh"

printed() {
    pattern=$1
    shift
    "$GRPCTAP" "$@" >"$DIR/out" 2>"$DIR/err" || fail "$*: exit status $?"
    [ ! -s "$DIR/err" ] || fail "$*: $(cat "$DIR/err")"
    grep -q -e "$pattern" "$DIR/out" || fail "$*: $(cat "$DIR/out")"
}

printed '^  proxy '
printed '^  proxy ' --help
printed '^  proxy ' -h
printed '^  proxy ' help
printed '--max-decoded-bytes SIZE' help proxy
printed '--max-decoded-bytes SIZE' proxy --help
printed '--max-decoded-bytes SIZE' proxy -h
printed '^grpctap [0-9]*\.[0-9]*\.[0-9]*' --version
printed '^grpctap [0-9]*\.[0-9]*\.[0-9]*' -V
printed '^grpctap [0-9]*\.[0-9]*\.[0-9]*' proxy --version

status=0
"$GRPCTAP" proxy --help >/dev/full 2>"$DIR/err" || status=$?
[ "$status" -eq 1 ] || fail "lost help: exit status $status"
grep -q 'cannot write to standard output: No space left' "$DIR/err" ||
    fail "lost help: $(cat "$DIR/err")"
