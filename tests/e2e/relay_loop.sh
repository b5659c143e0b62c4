#!/bin/sh
# SPDX-License-Identifier: MIT
# A relay that would be its own upstream is refused, whether or not somebody
# listens there already; one that only looks like it is not.
. "$(dirname "$0")/lib.sh"

# refused LISTEN UPSTREAM OPTIONS...
refused() {
    status=0
    listen=$1
    upstream=$2
    shift 2
    timeout 10 "$GRPCTAP" proxy -l "$listen" -u "$upstream" "$@" \
        >"$DIR/out.log" 2>&1 ||
        status=$?
    [ "$status" -eq 2 ] || fail "$listen to $upstream: exit status $status"
    grep -q "upstream .* is what --listen would listen on" "$DIR/out.log" ||
        fail "$listen to $upstream: no reason given"
    [ "$(wc -l <"$DIR/out.log")" -eq 1 ] || fail "more than one line"
}

serve server 127.0.0.2:0 echo
port=$SERVER_PORT # free on 127.0.0.1
for own in "$port" "0.0.0.0:$port"; do
    refused "$own" "$port"
    refused "$own" "localhost:$port"
    refused "$own" "0.0.0.0:$port"
done
refused "0.0.0.0:$port" "127.0.0.2:$port"
refused "unix:$DIR/sock" "unix:$DIR/../${DIR##*/}/sock"
if python3 -c 'import socket; socket.socket(socket.AF_INET6).bind(("::1", 0))'
then
    refused "[::]:$port" "[::1]:$port"
    refused "[::]:$port" "127.0.0.1:$port"
    refused "[::1]:$port" "localhost:$port"
fi

# A mistake in the options is told where those are.
refused "$port" "$port" "--log-file=$DIR/file.log"

# Of the addresses of a name one is bound; to the others there is a way.
start_tap -l "localhost:$port" -u "127.0.0.2:$port"
bound=$TAP_LISTEN
stop_tap
case $bound in
127.*) other="[::1]:$port" ;;
*) other="127.0.0.1:$port" ;;
esac
refused "localhost:$port" "$bound"
refused "localhost:$port" "localhost:$port"
start_tap -l "localhost:$port" -u "$other"
stop_tap

# An address that is not ours stays so where the system lets us bind it.
away='ip link set lo up && echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind || exit'
if unshare -n sh -c "$away" 2>"$DIR/unshare.log"; then
    # shellcheck disable=SC2016 # for the inner shell
    start away unshare -n sh -c "$away"'
        "$1" proxy -l 0.0.0.0:80 -u 127.9.9.9:80 2>"$2.log" && exit 1
        exec "$1" proxy -l 0.0.0.0:80 -u 10.9.8.7:80 -o "$2"' \
        sh "$GRPCTAP" "$DIR/away.jsonl"
    wait_for test -s "$DIR/away.jsonl"
fi

start_tap -l "127.0.0.1:$port" -u "127.0.0.2:$port"
peer connect "127.0.0.1:$port" send=x recv=x shut eof
stop_tap
