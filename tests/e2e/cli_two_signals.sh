#!/bin/sh
# SPDX-License-Identifier: MIT
# Two signals at once, as timeout(1) sends them, cost a file none of its lines;
# and a second one ends the wait for a reader of --summary.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"

start_echo 127.0.0.1:0
for _ in 1 2 3 4 5 6; do
    start_tap -u "127.0.0.1:$SERVER_PORT"
    echo_call --calls 20 --connections 5
    kill -TERM "$TAP_PID"
    kill -TERM "$TAP_PID" 2>/dev/null || :
    wait "$TAP_PID" || fail "exit status $?"
    has_event '.event == "stop"' || fail "no stop"
    [ "$(grep -c '"connection_close"' "$TAP_EVENTS")" -eq 5 ] ||
        fail "connection_close is missing"
    rm -f "$TAP_EVENTS"
done

python3 - "$GRPCTAP" "$SERVER_PORT" <<'END' || fail "the summary holds the end"
import os, signal, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
try:
    while True:
        os.write(w, b"x" * 4096)
except BlockingIOError:
    pass
os.set_blocking(w, True)
tap = subprocess.Popen([sys.argv[1], "proxy", "-l", "0", "-u", sys.argv[2],
                        "-o", "/dev/null", "--summary"], stderr=w)
time.sleep(0.5)
tap.send_signal(signal.SIGTERM)
time.sleep(0.5)
waited = tap.poll() is None
tap.send_signal(signal.SIGTERM)
tap.wait(3)
sys.exit(not waited)
END
