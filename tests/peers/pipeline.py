#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sends pipelined HTTP/1.1 requests in segments of random size and reads the
responses, all of them, until the server closes.

Usage: pipeline.py HOST:PORT COUNT SEED
Prints the number of bytes sent and of those received.
"""
import random
import select
import socket
import sys


def requests(count):
    """The same requests for every seed."""
    which = random.Random(1)
    kinds = [
        b"GET /page.txt HTTP/1.1\r\nHost: a\r\n%s\r\n",
        b"GET /page.txt HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n"
        b"%s\r\n",
        b"HEAD /page.txt HTTP/1.1\r\nHost: a\r\n%s\r\n",
        b"GET /204 HTTP/1.1\r\nHost: a\r\n%s\r\n",
        b"POST /204 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n%s\r\nhello",
        b"POST /204 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n%s\r\n"
        b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
    ]
    for i in range(count):
        last = b"Connection: close\r\n" if i == count - 1 else b""
        yield which.choice(kinds) % last


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    out = b"".join(requests(int(sys.argv[2])))
    cuts = random.Random(int(sys.argv[3]))
    sock = socket.create_connection((host, int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setblocking(False)
    at = received = 0
    while True:
        writers = [sock] if at < len(out) else []
        readable, writable, _ = select.select([sock], writers, [], 30)
        if not readable and not writable:
            sys.exit("stalled")
        if readable:
            data = sock.recv(cuts.randrange(1, 65536))
            if not data:
                break
            received += len(data)
        if writable:
            # Mostly a few bytes, now and then many requests at once.
            size = cuts.randrange(1, 4096 if cuts.random() < .1 else 200)
            at += sock.send(out[at:at + size])
    print(at, received)


if __name__ == "__main__":
    main()
