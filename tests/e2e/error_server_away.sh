#!/bin/sh
# SPDX-License-Identifier: MIT
# A server that is not there: the call fails at once, the reason is given, and
# when the server comes the same tap serves the next call.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"

start_echo 127.0.0.1:0
server=127.0.0.1:$SERVER_PORT
kill "$SERVER_PID"
wait "$SERVER_PID" || :
start_tap --upstream "$server"
! echo_call 2>"$DIR/client.log" || fail "a call without a server"
wait_for has_event '.event == "connection_close" and .conn == 1'
has_event ".conn == 1 and .reason == \"connect_failed\" and .calls == 0
    and .error == \"connect to $server: Connection refused\"" ||
    fail "wrong close: $(events '.event == "connection_close"')"
start_echo "$server"
echo_call --encoding gzip
# It goes away in the middle of a stream, and comes back once more.
start_call cut --kind bidi --count 100000 --interval-ms 50
wait_for has_event '.event == "message" and .conn == 3 and .from == "server"'
kill -KILL "$SERVER_PID"
wait "$SERVER_PID" || :
! wait "$CLIENT_PID" || fail "the client did not notice"
wait_for has_event '.event == "call" and .conn == 3
    and .end == "connection_closed" and .grpc_status == null'
start_echo "$server"
echo_call --encoding gzip
stop_tap
[ "$(events '.event == "call" and .grpc_status == 0' | jq .conn | xargs)" = \
    "2 4" ] || fail "the calls between were not served"
