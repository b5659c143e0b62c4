#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An HTTP/2 client that only says what a test needs.

    frames.py frames ADDR N [PAUSE]   the preface, SETTINGS and N PRIORITY
                                      frames (14 bytes each), PAUSE seconds
                                      after every 1000; then a FIN, and wait
                                      for the end
    frames.py call ADDR FILE          the preface, SETTINGS and the head of a
                                      gRPC request, make FILE, and wait for
                                      the end or a reset

ADDR is HOST:PORT or unix:PATH. With frames there are N + 1 frames and
24 + 9 + 14 * N bytes from the client, and none from the server.
"""
import os
import socket
import sys
import time

PATIENCE = float(os.environ.get("PATIENCE", "20"))
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload):
    """Return a frame."""
    return (len(payload).to_bytes(3, "big") + bytes([kind, flags])
            + stream.to_bytes(4, "big") + payload)


SETTINGS = frame(4, 0, 0, b"")
PRIORITY = frame(2, 0, 3, bytes(4) + b"\x0f")


def field(name, value):
    """Return a header field that enters no table."""
    return (b"\x00" + bytes([len(name)]) + name.encode()
            + bytes([len(value)]) + value.encode())


def request():
    """Return the HEADERS of a gRPC request with secrets in it."""
    block = b"\x83\x86" + b"".join(field(*pair) for pair in (
        (":path", "/e2e.Test/Pending"),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("authorization", "Bearer s3cret-token"),
        ("cookie", "session=s3cret-cookie"),
        ("x-api-key", "s3cret-key"),
        ("x-plain", "for-all-to-see"),
    ))
    return frame(1, 4, 1, block)


def connect(addr):
    """Return a connection."""
    if addr.startswith("unix:"):
        conn = socket.socket(socket.AF_UNIX)
        where = addr[5:]
    else:
        conn = socket.socket()
        host, port = addr.rsplit(":", 1)
        where = (host, int(port))
    conn.settimeout(PATIENCE * 3)
    conn.connect(where)
    return conn


def wait_end(conn):
    """Receive until the end; return how much came."""
    total = 0
    while data := conn.recv(65536):
        total += len(data)
    return total


def send_frames(conn, count, pause):
    """Send |count| frames and a FIN, and wait for the server's."""
    conn.sendall(PREFACE + SETTINGS)
    for done in range(0, count, 1000):
        conn.sendall(PRIORITY * min(1000, count - done))
        if pause:
            time.sleep(pause)
    conn.shutdown(socket.SHUT_WR)
    if wait_end(conn):
        sys.exit("the server sent something")


def hold_call(conn, path):
    """Begin a call and stay until somebody ends it."""
    conn.sendall(PREFACE + SETTINGS + request())
    open(path, "w").close()
    try:
        wait_end(conn)
    except ConnectionResetError:
        pass


def main(argv):
    """Run what the command line says."""
    if len(argv) in (3, 4) and argv[0] == "frames":
        pause = float(argv[3]) if len(argv) == 4 else 0
        send_frames(connect(argv[1]), int(argv[2]), pause)
    elif len(argv) == 3 and argv[0] == "call":
        hold_call(connect(argv[1]), argv[2])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
