#!/bin/sh
# SPDX-License-Identifier: MIT
# Random bytes in both directions at once, with stalls, half-closes and resets,
# arrive with equal SHA-256; over TCP of both versions and Unix sockets.
# SOAK_MIB sets the volume, 128 MiB by default.
. "$(dirname "$0")/lib.sh"
SOAK=${SOAK:-$(dirname "$GRPCTAP")/tests/soak_bytes}
mib=${SOAK_MIB:-128}
seed=${SOAK_SEED:-1}

# soak LISTEN TAP-LISTEN MIB TAP-OPTIONS...
soak() {
    rm -f "$DIR/server" "$DIR/tap"
    start soak "$SOAK" --mib "$3" --seed "$seed" "$1" "$DIR/server" "@$DIR/tap"
    soak=$LAST_PID
    wait_for test -s "$DIR/server"
    listen=$2
    shift 3
    start_tap --listen "$listen" --upstream "$(cat "$DIR/server")" "$@"
    echo "$TAP_LISTEN" >"$DIR/tap"
    wait "$soak" || fail "soak"
    cat "$DIR/soak.log"
    stop_tap
}

soak 127.0.0.1:0 127.0.0.1:0 $((mib / 2)) -t 2
soak '[::1]:0' '[::1]:0' $((mib / 4)) -t 1
soak "unix:$DIR/upstream.sock" "unix:$DIR/tap.sock" $((mib / 4)) -t 2
