# SPDX-License-Identifier: MIT
"""The servers, and the loads that are put on them through a proxy.

A load returns what it counted: calls, seconds, and how long calls took.
"""
import json
import pathlib
import re
import subprocess

from procs import Failed, Process, free_port, run

SMALL = "grpctap.bench.v1.Bench/Unary.grpc"
LARGE = "grpctap.bench.v1.Bench/Large.grpc"
SMALL_BODY, LARGE_BODY = "small", "large"
MIB = 1 << 20


def message_of(size):
    """A gRPC message, prefix and all, of `size` bytes."""
    return b"\0" + (size - 5).to_bytes(4, "big") + b"m" * (size - 5)


# ---- Servers --------------------------------------------------------------


class Nghttpd:
    """nghttpd answers with files; by name and trailers they are gRPC."""
    needs = ("nghttpd", "h2load")

    def __init__(self, folder, cores, _tools):
        www = pathlib.Path(folder) / "www"
        (www / SMALL).parent.mkdir(parents=True)
        (www / SMALL).write_bytes(message_of(105))
        (www / LARGE).write_bytes(message_of(MIB))
        mime = www / "mime.types"
        mime.write_text("application/grpc grpc\n")
        self.port = free_port()
        self.process = Process("nghttpd", folder, cores, [
            "nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", www, "-w24",
            "-W24", "--no-content-length", f"--mime-types-file={mime}",
            "--trailer=grpc-status: 0", self.port])
        self.process.wait_port(self.port)

    def stop(self):
        self.process.stop()


class GrpcServer:
    """The echo service of grpc-go."""
    needs = ("go",)

    def __init__(self, folder, cores, tools):
        self.process = Process("grpc", folder, cores, [tools.grpc, "serve"])
        self.process.wait_for("does not listen", lambda:
                              "listening " in self.process.said())
        self.port = int(self.process.said().split()[-1])

    def stop(self):
        self.process.stop()


# ---- Loads ----------------------------------------------------------------

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1}


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class H2load:
    """Calls of h2load, as grpc-go would make them, one message each way."""
    server = Nghttpd

    def __init__(self, connections, in_flight, large=False):
        self.connections, self.in_flight = connections, in_flight
        self.path, self.body = (LARGE, LARGE_BODY) if large else \
            (SMALL, SMALL_BODY)
        self.bytes_per_call = 2 * MIB if large else 0

    def command(self, bench, port, *options):
        body = bench.folder / self.body
        if not body.exists():
            body.write_bytes(message_of(MIB if self.bytes_per_call else 105))
        return ["h2load", "-c", self.connections, "-m", self.in_flight,
                *options, "-d", body, "-H", "te: trailers",
                "-H", "content-type: application/grpc",
                f"http://127.0.0.1:{port}/{self.path}"]

    def h2load(self, bench, port, *options):
        return self.parse(run(bench.load_cores,
                              self.command(bench, port, *options)))

    @staticmethod
    def parse(out):
        """Calls and seconds, of what h2load printed."""
        time = re.search(r"finished in ([\d.]+)(us|ms|s),", out)
        done = re.search(r"(\d+) succeeded, 0 failed, 0 errored", out)
        good = re.search(r"status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx", out)
        if not (time and done and good):
            raise Failed(f"h2load: {out[-800:]}")
        return int(done[1]), float(time[1]) * UNITS[time[2]]

    def timed(self, bench, port, seconds, *options):
        """Calls for so long; longer where that was too short for any."""
        for _ in range(4):
            calls, took = self.h2load(bench, port, "-D",
                                      f"{seconds * 1000:.0f}ms", *options)
            if calls:
                return calls, took
            seconds *= 3
        raise Failed("h2load: no call was answered")

    def run(self, bench, port, seconds):
        calls, took = self.timed(bench, port, seconds)
        return {"calls": calls, "seconds": took}

    def latency(self, bench, port, seconds):
        """Apart from `run`, because h2load writes a line for each call then,
        and that takes from its core what the calls would have."""
        log = bench.folder / "h2load.log"
        log.unlink(missing_ok=True)
        self.timed(bench, port, seconds, f"--log-file={log}")
        times = sorted(int(line.rpartition("\t")[2])
                       for line in log.read_text().splitlines())
        return {"p50_us": percentile(times, 0.5),
                "p99_us": percentile(times, 0.99)}


class Connect(H2load):
    """New connections, one call each."""

    def __init__(self, at_once):
        super().__init__(at_once, 1)

    def run(self, bench, port, seconds):
        calls = took = 0
        while took < seconds:
            n, s = self.h2load(bench, port, "-n", self.connections)
            calls, took = calls + n, took + s
        return {"calls": calls, "seconds": took}

    def latency(self, bench, port, seconds):
        return {}


class Grpc:
    """Calls of grpc-go; one of a stream is a message and its answer."""
    server = GrpcServer
    bytes_per_call = 0

    def __init__(self, in_flight, size, stream=False, gzip=False):
        self.in_flight, self.size = in_flight, size
        self.options = ["-in-flight", in_flight, "-size", size] + \
            ["-stream"] * stream + ["-gzip"] * gzip

    def run(self, bench, port, seconds):
        out = json.loads(run(bench.load_cores, [
            bench.tools.grpc, "load", "-target", f"127.0.0.1:{port}",
            "-duration", f"{seconds}s", *self.options]))
        return {"calls": out["exchanges"], "seconds": out["seconds"],
                "p50_us": out["p50_us"], "p99_us": out["p99_us"]}

    def latency(self, bench, port, seconds):
        return {}

    def message(self, bench):
        """A file with one message as this load sends it."""
        path = bench.folder / "message"
        with open(path, "wb") as file:
            subprocess.run([bench.tools.grpc, "dump", *map(str, self.options)],
                           stdout=file, check=True)
        return path
