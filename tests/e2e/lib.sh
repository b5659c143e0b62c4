# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What every end-to-end test starts with: `. "$(dirname "$0")/lib.sh"`.
# A test gets a directory of its own ($DIR), and whatever it started is ended
# and removed when it exits; on failure all logs are printed before that.
#
#   start_tap OPTIONS...  start grpctap proxy (on a free port of 127.0.0.1 when
#                         no -l is given) and wait for it: sets TAP_PID,
#                         TAP_LISTEN, TAP_PORT, TAP_EVENTS and TAP_LOG
#   stop_tap              SIGTERM; it has to exit with 0 and a balanced ledger
#   check_ledger FILE     every byte of every connection in FILE has one owner
#   start NAME COMMAND... run in the background, output in $DIR/NAME.log; the
#                         process is $LAST_PID
#   serve NAME ADDR [--once] STEPS  start a peer.py server: sets SERVER_PORT
#                         and SERVER_PID
#   peer ARGUMENTS        run peer.py in the foreground
#   finish PID            wait for a started process, which has to succeed
#   wait_for COMMAND...   until it succeeds, or fail after $PATIENCE seconds
#   events FILTER         the events that a jq filter selects, one a line
#   has_event FILTER      succeeds when there is one
#   quiet CODE...         no warning and no error besides these
#   at_exit               redefine it rather than setting a trap on EXIT
#   fail TEXT, skip TEXT
set -eu

HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
GRPCTAP=${GRPCTAP:-$ROOT/build/debug/grpctap}
PATIENCE=${PATIENCE:-20}
DIR=$(mktemp -d)
PIDS=

case $GRPCTAP in /*) ;; *) GRPCTAP=$PWD/$GRPCTAP ;; esac

# at_exit is for a test to redefine: what to undo once its processes are gone.
at_exit() { :; }

on_exit() {
    status=$?
    trap - EXIT
    for pid in $PIDS; do kill -TERM "$pid" 2>/dev/null || :; done
    # A test may have stopped one of them; and one may hang.
    for pid in $PIDS; do kill -CONT "$pid" 2>/dev/null || :; done
    for pid in $PIDS; do end_process "$pid"; done
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then print_logs; fi
    at_exit
    rm -rf "$DIR"
    exit "$status"
}
trap on_exit EXIT
trap 'exit 1' INT TERM HUP

end_process() {
    tries=0
    while kill -0 "$1" 2>/dev/null && [ "$tries" -lt 50 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
    kill -KILL "$1" 2>/dev/null || :
    wait "$1" 2>/dev/null || :
}

print_logs() {
    for file in "$DIR"/*.log "$DIR"/*.jsonl; do
        [ -s "$file" ] || continue
        echo "--- ${file##*/}"
        tail -n 40 "$file"
    done
}

fail() {
    echo "FAIL: $*"
    exit 1
}

skip() {
    echo "SKIP: $*"
    exit 77
}

wait_for() {
    polls=$((PATIENCE * 50))
    until "$@" >/dev/null 2>&1; do
        polls=$((polls - 1))
        [ "$polls" -gt 0 ] || fail "timed out waiting for: $*"
        sleep 0.02
    done
}

start() {
    log=$DIR/$1.log
    shift
    "$@" >"$log" 2>&1 &
    LAST_PID=$!
    PIDS="$PIDS $LAST_PID"
}

finish() {
    wait "$1" || fail "process $1 exited with $?"
}

peer() {
    python3 "$HERE/peer.py" "$@"
}

serve() {
    name=$1
    shift
    start "$name" python3 "$HERE/peer.py" listen "$DIR/$name.port" "$@"
    # shellcheck disable=SC2034 # for the test
    SERVER_PID=$LAST_PID
    wait_for test -s "$DIR/$name.port"
    # shellcheck disable=SC2034
    SERVER_PORT=$(cat "$DIR/$name.port")
}

# started: `start` is written, or grpctap is gone.
started() {
    [ -s "$TAP_EVENTS" ] || ! kill -0 "$TAP_PID"
}

start_tap() {
    TAP_EVENTS=$DIR/events.jsonl
    # shellcheck disable=SC2034
    TAP_LOG=$DIR/tap.log
    rm -f "$TAP_EVENTS"
    case " $* " in
    *" -l "* | *" --listen "* | *" --listen="*) ;;
    *) set -- --listen 127.0.0.1:0 "$@" ;;
    esac
    start tap "$GRPCTAP" proxy -o "$TAP_EVENTS" "$@"
    TAP_PID=$LAST_PID
    wait_for started
    [ -s "$TAP_EVENTS" ] || fail "grpctap did not start"
    TAP_LISTEN=$(jq -r 'select(.event == "start").listen' "$TAP_EVENTS")
    # shellcheck disable=SC2034
    TAP_PORT=${TAP_LISTEN##*:}
}

stop_tap() {
    kill -TERM "$TAP_PID"
    wait "$TAP_PID" || fail "grpctap exited with $?"
    has_event '.event == "stop"' || fail "no stop event"
    check_ledger "$TAP_EVENTS"
}

check_ledger() {
    unbalanced=$(jq -s -c -f "$HERE/ledger.jq" "$1")
    [ "$unbalanced" = "[]" ] || fail "ledger: $unbalanced"
}

events() {
    jq -c "select($1)" "$TAP_EVENTS"
}

has_event() {
    [ -n "$(events "$1")" ]
}

quiet() {
    known='"-"'
    for code in "$@"; do known="$known, \"$code\""; done
    complaints=$(events ".event == \"notice\" and .severity != \"info\" and
        (.code | IN($known) | not)")
    [ -z "$complaints" ] || fail "notices: $complaints"
}
