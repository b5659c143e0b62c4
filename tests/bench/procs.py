# SPDX-License-Identifier: MIT
"""Processes: started on given cores, and what they cost by /proc.

Knows nothing of proxies or loads.
"""
import os
import pathlib
import resource
import signal
import socket
import subprocess
import time

PATIENCE = 20
TICK = os.sysconf("SC_CLK_TCK")
# Where Debian puts servers, which is not in every user's path.
os.environ["PATH"] += ":/usr/sbin:/sbin"


class Failed(Exception):
    """The bench cannot go on; the text says why."""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def descriptors():
    """Raises the limit of open files as far as it goes and returns it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def on_cores(cores, command):
    """`command` bound to `cores`; None: wherever the kernel likes."""
    if cores is None:
        return list(map(str, command))
    return ["taskset", "-c", ",".join(map(str, cores)), *map(str, command)]


class Process:
    """A process in the background, its output in a file."""

    def __init__(self, name, folder, cores, command):
        self.name = name
        self.log = pathlib.Path(folder) / f"{name}.log"
        with open(self.log, "wb") as log:
            # A session of its own, so that it ends with all its children.
            self.child = subprocess.Popen(
                on_cores(cores, command), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True)
        self.pid = self.child.pid

    def wait_for(self, what, is_true):
        end = time.monotonic() + PATIENCE
        while not is_true():
            if self.child.poll() is not None or time.monotonic() > end:
                raise Failed(f"{self.name}: {what}: {self.said()}")
            time.sleep(0.005)

    def wait_port(self, port):
        self.wait_for("does not listen", lambda: is_listening(port))

    def said(self):
        return self.log.read_text(errors="replace")[-2000:].strip()

    def stop(self):
        try:
            os.killpg(self.pid, signal.SIGTERM)
            self.child.wait(timeout=5)
        except ProcessLookupError:
            self.child.wait()
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()

    def cpu_us(self):
        """CPU time of the process, its threads, its children and those that
        it has waited for.  Read again where a child was just waited for, which
        would count it twice or not at all."""
        while True:
            pids, waited = family(self.pid), waited_us(self.pid)
            us = waited + sum(map(scheduled_us, pids))
            if (pids, waited) == (family(self.pid), waited_us(self.pid)):
                return us

    def memory_kib(self):
        """What it holds in memory; of several processes what they share
        counts once."""
        pids = family(self.pid)
        return sum(rollup(pid, "Pss:" if len(pids) > 1 else "Rss:")
                   for pid in pids)


def waited_us(pid):
    """What the children had that `pid` has waited for."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    # Behind the name stands field 3; cutime and cstime are 16 and 17.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) * 1e6 / TICK


def scheduled_us(pid):
    """What all threads of `pid` had: user and system time as the scheduler
    counts it, which is finer than the ticks in stat."""
    return sum(int(text.split()[0]) / 1000
               for text in of_tasks(pid, "schedstat"))


def of_tasks(pid, name):
    """What the file `name` of each thread holds; of those that have just
    ended nothing."""
    folder, texts = f"/proc/{pid}/task", []
    try:
        tasks = os.listdir(folder)
    except OSError:
        return texts
    for task in tasks:
        try:
            with open(f"{folder}/{task}/{name}") as file:
                texts.append(file.read())
        except OSError:
            pass
    return texts


def rollup(pid, key):
    try:
        for line in open(f"/proc/{pid}/smaps_rollup"):
            if line.startswith(key):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def family(pid):
    """`pid` and all that descends from it."""
    pids, i = [pid], 0
    while i < len(pids):
        for text in of_tasks(pids[i], "children"):
            pids += map(int, text.split())
        i += 1
    return pids


def is_listening(port):
    """Without connecting, which those who count connections would see."""
    suffix = f":{port:04X}"
    for line in open("/proc/net/tcp"):
        fields = line.split()
        if fields[1].endswith(suffix) and fields[3] == "0A":
            return True
    return False


def run(cores, command, timeout=120):
    """Runs `command` to its end and returns what it printed."""
    try:
        done = subprocess.run(on_cores(cores, command), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]}: not done after {timeout} s") from None
    if done.returncode:
        raise Failed(f"{command[0]} exited with {done.returncode}: "
                     f"{done.stdout[-500:]} {done.stderr[-1500:]}")
    return done.stdout
