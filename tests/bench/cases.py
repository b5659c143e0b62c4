# SPDX-License-Identifier: MIT
"""The cases: which load goes through which contenders, and the targets.

A target compares a figure of two contenders in the same round; its value is
the median over the rounds.
"""
import pathlib
import subprocess
import sys
import time

import micro
from loads import MIB, Connect, Grpc, H2load, Nghttpd
from procs import Failed, on_cores

# Whom a target compares come one after the other, so that the machine has had
# little time to change between them.
EVERY = ["haproxy", "grpctap", "grpctap_call", "grpctap_none", "nghttpx",
         "nginx", "socat", "direct"]
BODIES = ["direct", "grpctap", "haproxy", "grpctap_call", "grpctap_none",
          "nghttpx", "nginx", "socat"]
THREADS = ["direct", "haproxy", "grpctap", "grpctap_2"]


def order(names, i):
    """The contenders of round `i`: forwards, then backwards, so that neither
    of two is always measured behind the other."""
    return names if i % 2 == 0 else names[::-1]


class Target:
    """`figure` of `of` against that of `to`: a ratio, or a difference."""

    def __init__(self, text, figure, of, to, least=None, most=None,
                 difference=False):
        self.text, self.figure, self.of, self.to = text, figure, of, to
        self.least, self.most, self.difference = least, most, difference

    def value(self, rounds):
        """The value in each round, as far as both have the figure."""
        pairs = [(one[self.of].get(self.figure), one[self.to].get(self.figure))
                 for one in rounds if self.of in one and self.to in one]
        return [a - b if self.difference else a / b for a, b in pairs
                if a is not None and b]


class Absolute(Target):
    """`figure` of `of` alone."""

    def __init__(self, text, figure, of, least=None, most=None):
        super().__init__(text, figure, of, None, least, most)

    def value(self, rounds):
        return [one[self.of][self.figure] for one in rounds if self.of in one]


class Above(Target):
    """What `of` takes more than `base`, by what `to` takes."""

    def __init__(self, text, figure, of, base, to, most):
        super().__init__(text, figure, of, to, most=most)
        self.base = base

    def value(self, rounds):
        needs = (self.of, self.base, self.to)
        figures = [[one[name][self.figure] for name in needs]
                   for one in rounds if all(name in one for name in needs)]
        return [(of - base) / to for of, base, to in figures]


class Case:
    """A load, as it is put on each contender in each round."""
    is_warmed = True

    def __init__(self, name, what, load, contenders, targets=(),
                 is_pinned=True):
        self.name, self.what, self.load = name, what, load
        self.contenders, self.targets = contenders, targets
        self.is_pinned = is_pinned
        self.server = load.server if load else Nghttpd

    def measure(self, bench, process, port):
        before = process.cpu_us() if process else 0
        out = self.load.run(bench, port, bench.seconds)
        figures = {"calls_per_s": out["calls"] / out["seconds"]}
        mib = out["calls"] * self.load.bytes_per_call / MIB
        if mib:
            figures["mib_per_s"] = mib / out["seconds"]
        if process:
            cpu = process.cpu_us() - before
            figures["cpu_us_per_call"] = cpu / out["calls"]
            if mib:
                figures["cpu_us_per_mib"] = cpu / mib
            figures["rss_kib"] = process.memory_kib()
        times = out if "p50_us" in out else \
            self.load.latency(bench, port, max(0.05, bench.seconds / 3))
        figures.update({key: times[key] for key in ("p50_us", "p99_us")
                        if key in times})
        return figures

    def warm(self, bench, process, port):
        self.load.run(bench, port, min(0.3, bench.seconds))


class Gzip(Case):
    """Compressed messages; one contender only inflates them."""

    def measure(self, bench, process, port):
        if process != "inflate":
            return super().measure(bench, process, port)
        ns = micro.run(bench, "micro_grpcframe", 1, bench.seconds,
                       "--only", "file_zlib",
                       self.load.message(bench))["file_zlib"]["ns"][0]
        # A call has the message twice: there and back.
        return {"cpu_us_per_call": 2 * ns / 1000}


class Idle(Case):
    """Connections that stand idle; each round starts the proxy anew."""
    is_warmed = False

    def measure(self, bench, process, port):
        n = bench.idle
        if process.name == "socat":
            n = min(n, 200)  # a process each
        before = process.memory_kib()
        command = [sys.executable, pathlib.Path(__file__).with_name("idle.py"),
                   port, n]
        client = subprocess.Popen(on_cores(bench.load_cores, command),
                                  text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        try:
            figures = {"connections": n}
            for key, said in (("kib_per_connection", "open"),
                              ("kib_per_connection_after_call", "called")):
                line = client.stdout.readline().strip()
                if line != said:
                    raise Failed(f"idle: {n} connections through "
                                 f"{process.name}: {line!r}")
                time.sleep(0.3)  # for what follows a call
                figures[key] = (process.memory_kib() - before) / n
                client.stdin.write("\n")
                client.stdin.flush()
            figures["rss_kib"] = process.memory_kib()
            return figures
        finally:
            client.stdin.close()
            client.stdout.close()
            client.wait()


SMALL_64 = [
    Target("calls/s of HAProxy, --events call", "calls_per_s",
           "grpctap_call", "haproxy", least=0.85),
    Target("CPU per call of nghttpx, --events call", "cpu_us_per_call",
           "grpctap_call", "nghttpx", most=0.5),
    Target("calls/s of HAProxy, --events none", "calls_per_s",
           "grpctap_none", "haproxy", least=1),
    Target("CPU us per call above HAProxy, --events none", "cpu_us_per_call",
           "grpctap_none", "haproxy", most=1, difference=True),
    Target("CPU per call of nghttpx, default events", "cpu_us_per_call",
           "grpctap", "nghttpx", most=0.9),
]
LARGE = [
    Target("throughput of HAProxy", "mib_per_s", "grpctap", "haproxy",
           least=1.5),
    Target("throughput of direct", "mib_per_s", "grpctap", "direct",
           least=0.8),
    Target("CPU per MiB of HAProxy", "cpu_us_per_mib", "grpctap", "haproxy",
           most=0.7),
]


def gzip(name, size):
    return Gzip(
        name, f"grpc-go: unary calls of {size >> 10} KiB, gzip both ways, 8 in "
        "flight on one connection", Grpc(8, size, gzip=True),
        ["inflate", "grpctap", "haproxy", "nghttpx", "direct"], [
            Target("CPU of zlib alone on the same messages",
                   "cpu_us_per_call", "grpctap", "inflate", most=1.3),
            Above("CPU above HAProxy's, by zlib alone on the same messages",
                  "cpu_us_per_call", "grpctap", "haproxy", "inflate",
                  most=1.3)])


def cases():
    return [
        Case("small_1", "small gRPC calls, 1 in flight on one connection",
             H2load(1, 1), EVERY,
             [Target("p50 of HAProxy", "p50_us", "grpctap", "haproxy",
                     most=1.05)]),
        Case("small_64", "small gRPC calls, 64 in flight on one connection",
             H2load(1, 64), EVERY, SMALL_64),
        Case("connections_64", "small gRPC calls, 1 in flight on each of 64 "
             "connections", H2load(64, 1), EVERY),
        Case("bodies", "1 MiB bodies both ways, 2 in flight on each of 4 "
             "connections", H2load(4, 2, large=True), BODIES, LARGE),
        Case("grpc_unary", "grpc-go: unary calls of 100 bytes, 64 in flight "
             "on one connection", Grpc(64, 100), EVERY),
        Case("grpc_stream", "grpc-go: messages of 100 bytes there and back, "
             "on 64 streams of one connection", Grpc(64, 100, stream=True),
             EVERY),
        gzip("grpc_gzip", 65536),
        gzip("grpc_gzip_512k", 512 << 10),
        Idle("idle", "idle HTTP/2 connections, before and after a call each",
             None, ["haproxy", "grpctap", "nghttpx", "nginx", "socat"],
             [Absolute("KiB resident a connection", "kib_per_connection",
                       "grpctap", most=12),
              Absolute("KiB resident a connection after a call",
                       "kib_per_connection_after_call", "grpctap", most=12)]),
        Case("connect", "new connections, 100 at a time, one small call each",
             Connect(100), EVERY),
        Case("threads", "small gRPC calls, 8 in flight on each of 8 "
             "connections, nothing pinned", H2load(8, 8),
             THREADS,
             [Target("calls/s of one thread", "calls_per_s", "grpctap_2",
                     "grpctap", least=1)], is_pinned=False),
        Case("threads_bodies", "1 MiB bodies both ways, 2 in flight on each "
             "of 4 connections, nothing pinned", H2load(4, 2, large=True),
             THREADS,
             [Target("throughput of one thread", "mib_per_s", "grpctap_2",
                     "grpctap", least=1)], is_pinned=False),
    ]
