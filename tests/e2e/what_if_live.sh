#!/bin/sh
# SPDX-License-Identifier: MIT
# Events of --what-if come while the run goes on, without any traffic to carry
# them: within 10 s, as documented, and whole; the end repeats them as final.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"
. "$(dirname "$0")/what_if.inc"

start_echo 127.0.0.1:0
start_tap -u "127.0.0.1:$SERVER_PORT" --what-if --what-if-cpu 100
echo_call --size 3000 --calls 3
wait_for has_event '.event == "what_if"'
[ "$(events '.event == "what_if" and (.final | not) and .messages_seen == 3' |
    wc -l)" -eq 10 ] || fail "not five codecs for each side"
stop_tap
[ "$(finals true | wc -l)" -eq 10 ] || fail "not five codecs for each side at the end"
tail -n 1 "$TAP_EVENTS" | grep -q '"stop"' || fail "stop is not the last"
