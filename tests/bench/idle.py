# SPDX-License-Identifier: MIT
"""Opens HTTP/2 connections and leaves them idle.

Usage: idle.py PORT N
Prints `open` once the server's SETTINGS have come on all N and are
acknowledged.  After a line of input makes a gRPC call on each and prints
`called`; after another one it ends.
"""
import resource
import socket
import sys

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4
ACK = END_STREAM = 1
END_HEADERS = 4


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + \
        stream.to_bytes(4, "big") + payload


def indexed(name, value):
    """A field that enters the dynamic table; a number is a static name."""
    head = bytes((0x40 | name,)) if isinstance(name, int) else \
        b"\x40" + bytes((len(name),)) + name
    return head + bytes((len(value),)) + value


# What grpc-go sends: POST and http are static, the rest is kept by both sides.
REQUEST = b"\x83\x86" + b"".join((
    indexed(4, b"/grpctap.bench.v1.Bench/Unary.grpc"),
    indexed(1, b"127.0.0.1:50051"), indexed(31, b"application/grpc"),
    indexed(58, b"grpc-go/1.84.0"), indexed(b"te", b"trailers")))
MESSAGE = b"\0\0\0\0\x64" + b"m" * 100


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0))
        self.input = b""

    def wait_frame(self, is_wanted):
        while True:
            while len(self.input) < 9 or \
                    len(self.input) < 9 + self.payload_len():
                more = self.socket.recv(65536)
                if not more:
                    sys.exit("the server has closed a connection")
                self.input += more
            kind, flags = self.input[3], self.input[4]
            self.input = self.input[9 + self.payload_len():]
            if is_wanted(kind, flags):
                return

    def payload_len(self):
        return int.from_bytes(self.input[:3], "big")

    def settle(self):
        self.wait_frame(lambda kind, flags:
                        kind == SETTINGS and not flags & ACK)
        self.socket.sendall(frame(SETTINGS, ACK, 0))

    def call(self):
        self.socket.sendall(frame(HEADERS, END_HEADERS, 1, REQUEST) +
                            frame(DATA, END_STREAM, 1, MESSAGE))
        self.wait_frame(lambda kind, flags:
                        kind in (DATA, HEADERS) and flags & END_STREAM)


def main():
    port, n = map(int, sys.argv[1:])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    connections = [Connection(port) for _ in range(n)]
    for connection in connections:
        connection.settle()
    print("open", flush=True)
    sys.stdin.readline()
    for connection in connections:
        connection.call()
    print("called", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
