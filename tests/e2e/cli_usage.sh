#!/bin/sh
# SPDX-License-Identifier: MIT
# A wrong command line exits with 2 and says on standard error what is wrong
# and where help is; standard output stays empty.
. "$(dirname "$0")/lib.sh"

refused() {
    sentence=$1
    shift
    status=0
    "$GRPCTAP" "$@" >"$DIR/out" 2>"$DIR/err" || status=$?
    [ "$status" -eq 2 ] || fail "$*: exit status $status"
    [ ! -s "$DIR/out" ] || fail "$*: wrote to standard output"
    [ "$(head -n 1 "$DIR/err")" = "grpctap: $sentence" ] ||
        fail "$*: $(cat "$DIR/err")"
    grep -q -e '--help' "$DIR/err" || fail "$*: no pointer to --help"
}

refused "unknown command prxy" prxy
grep -q "^Try .grpctap --help'" "$DIR/err" ||
    fail "an unknown command: $(cat "$DIR/err")"
refused "unknown option --bogus" --bogus
refused "unknown command serve" help serve
refused "--listen ADDR is missing" proxy
refused "--upstream ADDR is missing" proxy -l 0
refused "unknown or ambiguous option --bogus" proxy -l 0 -u 1 --bogus
refused "unknown option -z" proxy -z
refused "option --output needs an argument (FILE)" proxy -l 0 -u 1 -o
refused "unexpected argument more" proxy -l 0 -u 1 more
refused "--connect-timeout 10x: expected a time such as 500ms, 10s, 5m or 1h" \
    proxy -l 0 -u 1 --connect-timeout 10x
refused "--max-decoded-bytes 99999999999G: expected a size such as 4096, 64K, 16M or 1G" \
    proxy -l 0 -u 1 --max-decoded-bytes 99999999999G
refused "--threads 0: expected a number from 1 to 256" proxy -l 0 -u 1 -t 0
