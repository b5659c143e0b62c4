# SPDX-License-Identifier: MIT
"""Runs a tap whose standard error is a pipe, a terminal or a socket that has no
room for a line, or less than one, and looks that its traffic goes on, that the
lines which are read in the end are whole and that those missing are counted.
Usage: unread_log.py pipe|terminal|socket DIR GRPCTAP"""
import fcntl
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time

LINE = re.compile(r"grpctap: (\d+ lines are missing here: .*|.*of the queue\))")
REPORTS = 30


def make(kind):
    """Returns the end to read and the end for grpctap."""
    if kind == "pipe":
        read, write = os.pipe()
    elif kind == "terminal":
        read, write = pty.openpty()
    else:
        read, write = (s.detach() for s in socket.socketpair())
    return read, write


def stuff(write):
    """Writes until nothing more is taken; returns how much was."""
    total = 0
    for size in (65536, 100, 1):
        try:
            while True:
                total += os.write(write, b"f" * size)
        except BlockingIOError:
            pass
    return total


def make_room(read, write):
    while not select.select([], [write], [], 0.01)[1]:
        os.read(read, 64)


def fill(read, write):
    """Leaves no room or, in a terminal, which can be written to as long as it
    takes a byte, room for half a line."""
    fcntl.fcntl(write, fcntl.F_SETFL, os.O_NONBLOCK)
    stuff(write)
    if os.isatty(write):
        make_room(read, write)
        room = stuff(write)
        make_room(read, write)
        os.write(write, b"f" * (room - 100))
    fcntl.fcntl(write, fcntl.F_SETFL, 0)


def serve(listener):
    while True:
        conn, _ = listener.accept()
        conn.sendall(conn.recv(100))
        conn.close()


def exchange(path):
    with socket.socket(socket.AF_UNIX) as conn:
        conn.settimeout(10)
        conn.connect(path)
        conn.sendall(b"hello")
        if conn.recv(100) != b"hello":
            sys.exit("wrong bytes")


def drain(read, got):
    try:
        while True:
            data = os.read(read, 65536)
            if not data:
                return
            got.append(data)
    except OSError:
        pass


def wait(condition, what):
    end = time.monotonic() + 20
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"timed out waiting for {what}")
        time.sleep(0.02)


kind, folder, grpctap = sys.argv[1:]
path = folder + "/" + kind
read, write = make(kind)
fill(read, write)
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(server,), daemon=True).start()
port = server.getsockname()[1]
tap = subprocess.Popen(
    [grpctap, "proxy", "-l", "unix:" + path, "-u", f"127.0.0.1:{port}",
     "-o", path + ".jsonl"], stderr=write)
try:
    wait(lambda: os.path.exists(path), "the tap")
    for _ in range(REPORTS):
        tap.send_signal(signal.SIGUSR1)
        time.sleep(0.02)
        exchange(path)
    if fcntl.fcntl(write, fcntl.F_GETFL) & os.O_NONBLOCK:
        sys.exit("the mode of standard error has changed")
    got = []
    threading.Thread(target=drain, args=(read, got), daemon=True).start()
    time.sleep(0.2)
    tap.send_signal(signal.SIGUSR1)
    wait(lambda: b"missing here" in b"".join(got), "the count")
    wait(lambda: b"".join(got).endswith(b"\n"), "a whole line")
finally:
    tap.terminate()
    status = tap.wait(20)
time.sleep(0.1)
lines = b"".join(got).decode().lstrip("f").splitlines()
for line in lines:
    if not LINE.fullmatch(line.strip()):
        sys.exit(f"not a whole line: {line!r}")
lost = sum(int(line.split()[1]) for line in lines if "missing" in line)
reports = sum("of the queue" in line for line in lines)
print(f"{kind}: {reports} lines, {lost} missing")
if reports + lost != REPORTS + 1:
    sys.exit("lines are not accounted for")
sys.exit(status)
