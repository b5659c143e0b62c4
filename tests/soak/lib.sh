# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the long runs start with, on top of tests/e2e/lib.sh:
#   . "$(dirname "$0")/lib.sh"
#
#   OUT                   the directory of the build to test
#   memory_of NAME        VmRSS (now) or VmHWM (its peak) of the tap, in KiB
#   start_listening NAME COMMAND...  start a server that prints
#                         `listening PORT`: sets SERVER_PORT
#   check_events FILE     schema and ledger (tests/check_schema)
#   check_growth BEFORE AFTER LIMIT  prints how memory grew (all in KiB), and
#                         fails when that is more than LIMIT
#   has_sanitizer         the tap was built with AddressSanitizer
program=build/${VARIANT:-release}/grpctap
GRPCTAP=${GRPCTAP:-$(cd "$(dirname "$0")/../.." && pwd)/$program}
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
HERE=$ROOT/tests/e2e # where its helpers are
OUT=$(dirname "$GRPCTAP")

memory_of() {
    awk -v name="$1:" '$1 == name { print $2 }' "/proc/$TAP_PID/status"
}

start_listening() {
    local name=$1
    shift
    start "$name" "$@"
    wait_for grep -q '^listening ' "$DIR/$name.log"
    # shellcheck disable=SC2034 # for the test
    SERVER_PORT=$(awk '/^listening / { print $2 }' "$DIR/$name.log")
}

check_events() {
    local status=0
    "$ROOT/tests/check_schema" "$1" >"$DIR/schema.log" || status=$?
    [ $status -ne 77 ] || skip "$(cat "$DIR/schema.log")"
    [ $status -eq 0 ] || fail "schema or ledger: $(cat "$DIR/schema.log")"
}

# The shadow and the quarantine of AddressSanitizer grow with what passes
# through malloc, and would be measured instead of the program.
has_sanitizer() {
    ldd "$GRPCTAP" 2>/dev/null | grep -q libasan
}

check_growth() {
    local grown=$(($2 - $1))
    printf '    memory: %d KiB before, %d KiB after: %+d KiB' "$1" "$2" $grown
    if has_sanitizer; then
        echo ' (AddressSanitizer: no limit)'
        return
    fi
    echo ", at most $3"
    [ $grown -le "$3" ]
}
