#!/bin/sh
# SPDX-License-Identifier: MIT
# A relay that would be its own upstream is refused, whether or not somebody
# listens there already; one that only looks like it is not.
. "$(dirname "$0")/lib.sh"

# refused LISTEN UPSTREAM
refused() {
    status=0
    timeout 10 "$GRPCTAP" proxy -l "$1" -u "$2" >"$DIR/out.log" 2>&1 ||
        status=$?
    [ "$status" -eq 2 ] || fail "$1 to $2: exit status $status"
    grep -q "upstream .* is what --listen would listen on" "$DIR/out.log" ||
        fail "$1 to $2: no reason given"
    [ "$(wc -l <"$DIR/out.log")" -eq 1 ] || fail "more than one line"
}

serve server 127.0.0.2:0 echo
port=$SERVER_PORT # free on 127.0.0.1
for listen in "$port" "0.0.0.0:$port"; do
    refused "$listen" "$port"
    refused "$listen" "localhost:$port"
    refused "$listen" "0.0.0.0:$port"
done
refused "0.0.0.0:$port" "127.0.0.2:$port"
refused "unix:$DIR/sock" "unix:$DIR/../${DIR##*/}/sock"
if python3 -c 'import socket; socket.socket(socket.AF_INET6).bind(("::1", 0))'
then
    refused "[::]:$port" "[::1]:$port"
    refused "[::]:$port" "127.0.0.1:$port"
    refused "[::1]:$port" "localhost:$port"
fi

start_tap -l "127.0.0.1:$port" -u "127.0.0.2:$port"
peer connect "127.0.0.1:$port" send=x recv=x shut eof
stop_tap
