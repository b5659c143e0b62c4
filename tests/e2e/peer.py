#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A TCP or Unix peer that does as it is told, step by step.

    peer.py listen PORTFILE ADDR [--once] STEP...   each connection does them
    peer.py connect ADDR STEP...
    peer.py full PORTFILE ADDR       answers no further connection

ADDR is HOST:PORT, [v6]:PORT or unix:PATH. PORTFILE gets the port (or the
path) once connections are accepted. Exit status 0: every step went well.

Steps:
    send=TEXT     random=N      send TEXT; N bytes that follow from N
    recv=TEXT     recv-random=N receive exactly these, nothing else
    flood         send zeros until the peer takes none for half a second
    count=N       receive N bytes
    eof           receive until the end; a reset is a failure
    reset-seen    receive until a reset; an end is a failure
    gone          receive until either
    error-seen    wait for a reset without receiving, as after an end
    unread=N      wait until N bytes are there, and leave them unread
    echo          send back what comes until the end
    shut          send a FIN
    reset, close  end the connection with a reset, or without
    touch=FILE    wait=FILE     make FILE; wait until somebody made it
"""
import errno
import fcntl
import os
import random
import select
import socket
import struct
import sys
import termios
import threading
import time

PATIENCE = float(os.environ.get("PATIENCE", "20"))


class Failure(Exception):
    """A step did not go as it should."""


def parse(text):
    """Return the family and the address of ADDR."""
    if text.startswith("unix:"):
        return socket.AF_UNIX, text[5:]
    host, port = text.rsplit(":", 1)
    if host.startswith("["):
        return socket.AF_INET6, (host[1:-1], int(port))
    return socket.AF_INET, (host, int(port))


def pattern(count):
    """Return |count| bytes that look random but are the same every time."""
    return random.Random(count).randbytes(count)


def flood(conn):
    """Send until nothing is taken any more; return how much was."""
    total = 0
    chunk = bytes(65536)
    conn.settimeout(0.5)
    try:
        while True:
            total += conn.send(chunk)
    except TimeoutError:
        pass
    conn.settimeout(PATIENCE)
    return total


def receive(conn, count):
    """Return |count| bytes."""
    got = bytearray()
    while len(got) < count:
        data = conn.recv(min(count - len(got), 1 << 18))
        if not data:
            raise Failure(f"end after {len(got)} of {count} bytes")
        got += data
    return bytes(got)


def drain(conn):
    """Receive until the end. Return how it ended and how much came."""
    total = 0
    try:
        while True:
            data = conn.recv(1 << 18)
            if not data:
                return "eof", total
            total += len(data)
    except OSError as error:
        if error.errno not in (errno.ECONNRESET, errno.EPIPE):
            raise
        return "reset", total


def echo(conn):
    """Send everything back until the end."""
    while True:
        data = conn.recv(1 << 18)
        if not data:
            return
        conn.sendall(data)


def wait_file(path):
    """Wait until |path| exists."""
    end = time.monotonic() + PATIENCE
    while not os.path.exists(path):
        if time.monotonic() > end:
            raise Failure(f"{path} did not appear")
        time.sleep(0.01)


def expect(conn, data):
    """Receive |data| exactly."""
    got = receive(conn, len(data))
    if got != data:
        raise Failure(f"received {got[:80]!r}, not {data[:80]!r}")


def end(conn, wanted):
    """Receive until the end, which has to be a |wanted| one."""
    how, total = drain(conn)
    if how not in wanted:
        raise Failure(f"{how} after {total} bytes")
    return f"{how} {total}"


def error_seen(conn):
    """Wait until the socket has an error."""
    poll = select.poll()
    poll.register(conn, 0)  # errors are always reported
    if not poll.poll(PATIENCE * 1000):
        raise Failure("no error")
    error = conn.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error not in (errno.ECONNRESET, errno.EPIPE):
        raise Failure(os.strerror(error))


def unread(conn, count):
    """Wait until |count| bytes can be received."""
    finish = time.monotonic() + PATIENCE
    there = 0
    while there < count:
        if time.monotonic() > finish:
            raise Failure(f"only {there} bytes came")
        time.sleep(0.005)
        packed = fcntl.ioctl(conn, termios.FIONREAD, bytes(4))
        there = struct.unpack("i", packed)[0]


def reset(conn):
    """Close with a reset."""
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    conn.close()


STEPS = {
    "send": lambda conn, arg: conn.sendall(arg.encode()),
    "random": lambda conn, arg: conn.sendall(pattern(int(arg))),
    "recv": lambda conn, arg: expect(conn, arg.encode()),
    "recv-random": lambda conn, arg: expect(conn, pattern(int(arg))),
    "flood": lambda conn, arg: flood(conn),
    "count": lambda conn, arg: len(receive(conn, int(arg))),
    "eof": lambda conn, arg: end(conn, ("eof",)),
    "reset-seen": lambda conn, arg: end(conn, ("reset",)),
    "gone": lambda conn, arg: end(conn, ("eof", "reset")),
    "error-seen": lambda conn, arg: error_seen(conn),
    "unread": lambda conn, arg: unread(conn, int(arg)),
    "echo": lambda conn, arg: echo(conn),
    "shut": lambda conn, arg: conn.shutdown(socket.SHUT_WR),
    "reset": lambda conn, arg: reset(conn),
    "close": lambda conn, arg: conn.close(),
    "touch": lambda conn, arg: open(arg, "w").close(),
    "wait": lambda conn, arg: wait_file(arg),
}


def run(conn, steps):
    """Do the steps; return 1 when all went well."""
    conn.settimeout(PATIENCE)
    for step in steps:
        name, _, arg = step.partition("=")
        try:
            result = STEPS[name](conn, arg)
        except (OSError, Failure) as error:
            print(f"{step}: FAILED: {error}", flush=True)
            return False
        print(step if result is None else f"{step}: {result}", flush=True)
    conn.close()
    return True


def publish(portfile, server):
    """Write where |server| listens."""
    name = server.getsockname()
    with open(portfile + ".new", "w") as file:
        file.write(str(name[1] if isinstance(name, tuple) else name))
    os.rename(portfile + ".new", portfile)


def listen(portfile, once, addr, steps):
    """Serve connections."""
    family, where = parse(addr)
    server = socket.socket(family, socket.SOCK_STREAM)
    if family != socket.AF_UNIX:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(where)
    server.listen(1024)
    publish(portfile, server)
    while True:
        conn, _ = server.accept()
        if once:
            return run(conn, steps)
        threading.Thread(target=run, args=(conn, steps),
                         daemon=True).start()


def full(portfile, addr):
    """Listen with a queue that is full, and accept nothing."""
    family, where = parse(addr)
    server = socket.socket(family, socket.SOCK_STREAM)
    server.bind(where)
    server.listen(0)
    waiting = []
    while not waiting or select.select([], [waiting[-1]], [], 0.3)[1]:
        waiting.append(socket.socket(family, socket.SOCK_STREAM))
        waiting[-1].setblocking(False)
        if waiting[-1].connect_ex(server.getsockname()) == errno.EAGAIN:
            break  # a Unix socket says so at once
    publish(portfile, server)
    threading.Event().wait()


def connect(addr, steps):
    """Be a client."""
    family, where = parse(addr)
    conn = socket.socket(family, socket.SOCK_STREAM)
    conn.settimeout(PATIENCE)
    try:
        conn.connect(where)
    except ConnectionResetError:
        # Reset as soon as it was accepted: as good as a moment later.
        if not {"reset-seen", "gone"} & set(steps):
            raise
        return True
    return run(conn, steps)


def main(argv):
    """Run what the command line says."""
    if len(argv) > 2 and argv[0] == "listen":
        once = "--once" in argv[3:4]
        done = listen(argv[1], once, argv[2], argv[3 + once:])
    elif len(argv) > 1 and argv[0] == "connect":
        done = connect(argv[1], argv[2:])
    elif len(argv) == 3 and argv[0] == "full":
        done = full(argv[1], argv[2])
    else:
        sys.exit(__doc__)
    sys.exit(0 if done else 1)


main(sys.argv[1:])
