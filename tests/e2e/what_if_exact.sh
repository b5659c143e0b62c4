#!/bin/sh
# SPDX-License-Identifier: MIT
# What --what-if predicts for messages is, byte for byte, what they come to
# when the codec is switched on: same library, same level.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/echo.inc"
. "$(dirname "$0")/what_if.inc"

# The levels are those of the echo programs.
LIST=gzip:6,deflate:6,br:5,zstd:3,snappy
CODECS="gzip deflate br zstd snappy"

# with_codec CODEC: messages of all sizes, compressed on the wire, and tried.
with_codec() {
    start_tap -u "127.0.0.1:$SERVER_PORT" --what-if "$LIST" --what-if-cpu 100
    for size in 1 87 500 20K 70000; do
        echo_call --encoding "$1" --response-encoding "$1" --size $size \
            --calls 2
        echo_call --encoding "$1" --response-encoding "$1" --size $size \
            --text random --kind bidi --count 2
    done
    stop_tap
}

# requests CODEC OPTIONS...: the same requests, whatever the codec.
requests() {
    codec=$1
    shift
    start_tap -u "127.0.0.1:$SERVER_PORT" "$@"
    for size in 99 30K; do
        echo_call --encoding "$codec" --response-encoding identity \
            --size $size --calls 5
    done
    stop_tap
}

start_echo 127.0.0.1:0
for codec in $CODECS; do
    until_all_tried with_codec "$codec"
    [ "$(finals ".codec == \"$codec\"" | wc -l)" -eq 4 ] || fail "$codec: entries"
    wrong=$(finals ".codec == \"$codec\" and (.messages_seen != 10
        or .used.encoding != .codec or .used.compressed_messages != 10
        or .bytes_sampled != .bytes_seen
        or .used.bytes != .compressed_bytes)")
    [ -z "$wrong" ] || fail "$codec: $wrong"
done

# Predicted from plain requests, and switched on afterwards.
until_all_tried requests identity --what-if "$LIST" --what-if-cpu 100
predicted=$(finals '.from == "client"' |
    jq -s -c 'map({key: .codec, value: .compressed_bytes}) | from_entries')
for codec in $CODECS; do
    requests "$codec"
    sent=$(events '.event == "message" and .from == "client"' |
        jq -s 'map(.length) | add')
    [ "$(echo "$predicted" | jq ".$codec")" -eq "$sent" ] ||
        fail "$codec: $predicted were predicted, $sent sent"
done
