# SPDX-License-Identifier: MIT
"""The microbenches: programs that do one thing again and again, and the
figures that are made of their nanoseconds."""
import json
import statistics

from procs import run as run_program

PROGRAMS = ("micro_h2dec", "micro_grpcframe", "micro_h1dec", "micro_event")

# Name, program, piece of work, figure, and what it is compared with: the other
# way to do the same, and how much longer ours may take.
ROWS = (
    ("h2dec: DATA frames of 16 KiB", "micro_h2dec", "data_16k", "gb_per_s",
     None, ("GB/s", 5, None)),
    ("h2dec: DATA frames of 16 bytes", "micro_h2dec", "data_16",
     "units_per_s", None, None),
    ("h2dec: header blocks on an open stream", "micro_h2dec", "blocks",
     "units_per_s", "blocks_nghttp2",
     ("time of nghttp2's inflater on the same blocks", None, 1.3)),
    ("h2dec: header blocks of calls, with the streams' lives", "micro_h2dec",
     "calls", "units_per_s", "calls_nghttp2", None),
    ("grpcframe: messages of 100 bytes", "micro_grpcframe", "plain_100",
     "units_per_s", None, None),
    ("grpcframe: messages of 64 KiB", "micro_grpcframe", "plain_64k",
     "gb_per_s", None, None),
    ("grpcframe: gzip messages of 1 KiB", "micro_grpcframe", "gzip_1k",
     "gb_per_s", "gzip_1k_zlib",
     ("time of zlib alone on the same messages", None, 1.3)),
    ("grpcframe: gzip messages of 64 KiB", "micro_grpcframe", "gzip_64k",
     "gb_per_s", "gzip_64k_zlib",
     ("time of zlib alone on the same messages", None, 1.3)),
    ("h1dec: exchanges", "micro_h1dec", "exchanges", "units_per_s", None,
     None),
    ("h1dec: chunks of 16 KiB", "micro_h1dec", "chunks_16k", "gb_per_s",
     None, None),
    ("event writer: call events", "micro_event", "event_call", "units_per_s",
     None, None),
    ("event writer: message events", "micro_event", "event_message",
     "units_per_s", None, None),
    ("tap: unary gRPC calls, --events none", "micro_event", "tap_none",
     "units_per_s", None, None),
    ("tap: the same, --events call", "micro_event", "tap_call",
     "units_per_s", None, None),
    ("tap: the same, default events", "micro_event", "tap_default",
     "units_per_s", None, None),
)


def run(bench, program, rounds, seconds, *options):
    """What `program` prints, as an object."""
    return json.loads(run_program(bench.proxy_cores, [
        bench.tools.micros / program, "--rounds", rounds,
        "--ms", max(1, round(seconds * 1000)), *options], timeout=600))


def measure(bench, rounds, seconds):
    """All of them: a list of objects, in the order of ROWS."""
    found = {program: run(bench, program, rounds, seconds)
             for program in PROGRAMS}
    return [row(found[program][work], found[program].get(other), what, work,
                figure, target)
            for what, program, work, figure, other, target in ROWS]


def row(ours, other, what, work, figure, target):
    out = {"name": work, "what": what, "unit": ours["unit"],
           "ns_per_unit": statistics.median(ours["ns"]), "ns": ours["ns"]}
    out["units_per_s"] = 1e9 / out["ns_per_unit"]
    if ours["bytes"]:
        out["gb_per_s"] = ours["bytes"] / out["ns_per_unit"]
    out["figure"] = figure
    if other:
        out["ratio"] = statistics.median(
            a / b for a, b in zip(ours["ns"], other["ns"]))
        out["other_ns_per_unit"] = statistics.median(other["ns"])
    if target:
        text, least, most = target
        value = out["ratio"] if other else out[figure]
        out["target"] = {
            "text": text, "value": value, "least": least, "most": most,
            "met": (least is None or value >= least) and
                   (most is None or value <= most)}
    return out
