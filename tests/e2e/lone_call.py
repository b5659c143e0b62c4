# SPDX-License-Identifier: MIT
"""Makes one HTTP/1.1 call at a time through a tap, each on a connection of its
own after a pause, and looks how long after the response its event is there.
Usage: lone_call.py FIFO PORT_FILE SOCKET"""
import os
import socket
import sys
import threading
import time

CALLS = 40
PAUSE = 0.03
# Events that wait do so for a millisecond or more; that a quarter of the calls
# did not tells it from a machine that is busy.
LATE = 0.0006
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def serve(listener):
    while True:
        conn, _ = listener.accept()
        conn.recv(4096)
        conn.sendall(ANSWER)
        conn.recv(4096)
        conn.close()


def call(path):
    with socket.socket(socket.AF_UNIX) as conn:
        conn.connect(path)
        conn.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        got = b""
        conn.settimeout(20)
        while len(got) < len(ANSWER):
            data = conn.recv(4096)
            if not data:
                sys.exit("no answer")
            got += data
        at = time.monotonic()
        while not is_told.acquire(timeout=20):
            sys.exit("no event")
        return told_at[0] - at


def read(fifo):
    with open(fifo, "rb", buffering=0) as file:
        while True:
            lines = file.read(65536)
            if not lines:
                return
            if b'"event":"call"' in lines:
                told_at[0] = time.monotonic()
                is_told.release()


fifo, port_file, path = sys.argv[1:]
told_at = [0.0]
is_told = threading.Semaphore(0)
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(server,), daemon=True).start()
threading.Thread(target=read, args=(fifo,), daemon=True).start()
with open(port_file + ".new", "w", encoding="ascii") as file:
    file.write(str(server.getsockname()[1]))
os.rename(port_file + ".new", port_file)
end = time.monotonic() + 20
while not os.path.exists(path):
    if time.monotonic() > end:
        sys.exit("timed out waiting for the tap")
    time.sleep(0.01)
waits = []
for _ in range(CALLS):
    waits.append(call(path))
    time.sleep(PAUSE)
waits.sort()
quarter = waits[CALLS // 4]
print(f"a quarter within {quarter * 1e6:.0f} us")
sys.exit(quarter > LATE)
