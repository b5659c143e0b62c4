#!/bin/sh
# SPDX-License-Identifier: MIT
# What --what-if predicts with zlib is within 2 % of what grpc-go's gzip, an
# implementation of its own, sends for the same messages.
. "$(dirname "$0")/peers.inc"
. "$HERE/what_if.inc"
need go

OUT=${INTEROP_OUT:-$ROOT/build/interop/build}
export OUT
status=0
"$ROOT/tests/interop/go/build" >"$DIR/build.log" 2>&1 || status=$?
[ $status -eq 0 ] || skip "go: $(tail -n 1 "$DIR/build.log")"

# 60 lists of products, a line each: 300 bytes to 60 KiB of JSON.
python3 - >"$DIR/products" <<'END'
import json, random
random.seed(1)
WORDS = """lamp chair table shelf oak steel linen cotton red blue green small
large round folding outdoor garden kitchen office classic modern light heavy
wall floor desk reading night travel spare wide narrow tall low""".split()

def product(n):
    words = random.sample(WORDS, 14)
    return {"id": random.getrandbits(40), "sku": f"{n:06d}-{random.randrange(999)}",
            "name": " ".join(words[:3]).title(), "description": " ".join(words),
            "price": round(random.lognormvariate(3, 1), 2), "currency": "EUR",
            "stock": random.randrange(500), "tags": random.sample(WORDS, 3),
            "rating": round(random.uniform(1, 5), 1),
            "url": f"https://shop.example/p/{'-'.join(words[:3])}-{n}"}

for n in range(60):
    print(json.dumps([product(n * 1000 + i) for i in range(1 + n * n // 20)],
                     separators=(",", ":")))
END
start server "$ROOT/tests/interop/go/server"
wait_for grep -q '^listening ' "$DIR/server.log"
port=$(awk '/^listening / { print $2 }' "$DIR/server.log")

calls_of_go() {
    start_tap --upstream "127.0.0.1:$port" --what-if gzip:6 --what-if-cpu 100
    "$ROOT/tests/interop/go/client" "$TAP_LISTEN" unary --encoding gzip \
        --lines "$DIR/products" --count 60 >"$DIR/client.json"
    stop_tap
}

until_all_tried calls_of_go
same messages "$(finals true | jq -c '[.from, .messages_sampled, .used.encoding,
    .used.compressed_messages]' | sort | xargs)" \
    '[client,60,gzip,60] [server,60,gzip,60]'
off=$(finals true | jq -c '(.compressed_bytes / .used.bytes - 1) as $off
    | select($off > 0.02 or $off < -0.02 or .ratio > 0.4)')
[ -z "$off" ] || fail "more than 2 % off: $off"
finals true | jq -r '"\(.from): \(.compressed_bytes) predicted, \(.used.bytes) sent"'
