# SPDX-License-Identifier: MIT
"""What every study needs: the tap in front of a server, its events, a report.

Owns processes, waiting and Markdown; knows no protocol and no study. A study
is a program that calls `run(main)`; `main(report, options)` fills the report.

    import pathlib, sys
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    import study

    def main(report, options):
        with study.Server([study.go_program("a-server")]) as server, \\
                study.Tap(server.target) as tap:
            _, seen = tap.client([study.go_program("a-client")])
            call = seen.one("call")
            report.table(["what", "bytes"],
                         [["request", call["request"]["wire_bytes"]]])
            report.near("request", call["request"]["wire_bytes"], 102562,
                        percent=3)

    study.run(main, "A. What it measures")
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Where the programs and logs of the studies go; nothing is written elsewhere.
OUT = pathlib.Path(os.environ.get("STUDIES_OUT", ROOT / "build/studies"))
SKIP = 77
WAIT_SECONDS = 60
CLIENT_SECONDS = 600
POLL_SECONDS = 0.01


class Failure(Exception):
    """Ends the study, with a sentence: exit status 1."""


class Skip(Exception):
    """The machine lacks something the study needs: exit status 77."""


def wait_for(what, condition, process=None, seconds=WAIT_SECONDS):
    """Returns condition() once it is true; fails when `process` ends first."""
    end = time.monotonic() + seconds
    while True:
        ended = process is not None and process.poll() is not None
        value = condition()
        if value:
            return value
        if ended:
            raise Failure(f"{what}: the process ended with status"
                          f" {process.returncode}")
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {seconds} s")
        time.sleep(POLL_SECONDS)


# ---- Processes ------------------------------------------------------------


class Child:
    """A long-running process; its output goes to files of a folder that is
    removed with it. A context manager: leaving it ends the process."""

    def __init__(self, command, env=None):
        self.folder = tempfile.TemporaryDirectory(prefix="grpctap-study-")
        self.path = pathlib.Path(self.folder.name)
        self.out, self.err = self.path / "out", self.path / "err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, env=dict(os.environ, **(env or {})))

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def stop(self):
        """SIGTERM, then SIGKILL; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def peak_kib(self):
        """The most memory the process ever had resident, KiB (VmHWM)."""
        return peak_kib(self.pid)

    def cpu_us(self):
        """CPU time, user and system, microseconds."""
        return cpu_us(self.pid)


def peak_kib(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    raise Failure(f"/proc/{pid}/status has no VmHWM")


def cpu_us(pid):
    """The scheduler's own count, of all threads: the ticks of
    /proc/PID/stat are too coarse for one call."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            continue  # a thread that has just ended
    return total // 1000


class Server(Child):
    """A server that listens on a port of its own choice on loopback and says
    `listening PORT`; `port` is for one that was told and says nothing."""

    def __init__(self, command, env=None, port=None):
        super().__init__(command, env)
        self.port = port
        try:
            if port is None:
                self.port = wait_for("the server's port", self.listening,
                                     self.process)
        except Failure as failure:
            self.stop()
            raise Failure(f"{failure}: {last_words(self.err)}") from None
        self.target = f"127.0.0.1:{self.port}"

    def listening(self):
        line, end, _ = self.out.read_text().partition("\n")
        words = line.split()
        if not end:
            return None
        if len(words) != 2 or words[0] != "listening":
            raise Failure(f"the server says {line!r}, not 'listening PORT'")
        return int(words[1])


def last_words(path):
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "without a word"


def client(command, env=None, seconds=CLIENT_SECONDS):
    """Runs a client to its end; returns the JSON lines it printed."""
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds,
        env=dict(os.environ, **(env or {})))
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise Failure(f"{' '.join(map(str, command))}: exit status"
                      f" {done.returncode}: {words[-1] if words else ''}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def system_program(name):
    """Where a program of the system is, or None; those that root starts are
    not in everybody's PATH."""
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


# ---- The tap --------------------------------------------------------------


def tap_program():
    path = pathlib.Path(os.environ.get("GRPCTAP",
                                       ROOT / "build/release/grpctap"))
    if not path.exists():
        raise Failure(f"{path} is missing: run make first")
    return path


def tap_is_sanitized():
    """Whether the tap's own memory and time mean anything."""
    return b"__asan_init" in tap_program().read_bytes()


class Seen:
    """The events of the connections of one `watch`, complete afterwards."""

    def __init__(self):
        self.events = []

    def all(self, event, **members):
        return [e for e in self.events if e["event"] == event
                and all(e.get(k) == v for k, v in members.items())]

    def one(self, event, **members):
        found = self.all(event, **members)
        if len(found) != 1:
            raise Failure(f"{len(found)} events {event} {members}, not one")
        return found[0]

    def wire(self, side):
        """All TCP payload bytes of `from_client` or `from_server`."""
        return sum(e[side]["bytes"] for e in self.all("connection_close"))

    def ledger(self, side):
        """Where those bytes went; see ledger_of."""
        total = {}
        for close in self.all("connection_close"):
            calls = self.all("call", conn=close["conn"])
            for name, n in ledger_of(close, calls, side).items():
                total[name] = total.get(name, 0) + n
        return total

    def late_frames(self):
        """The frames of streams whose call event was written before, of a
        connection alone; they are all of its `late_bytes`, or it fails."""
        over, late = set(), []
        for e in self.events:
            if e["event"] == "call":
                over.add(e["stream"])
            elif e["event"] == "frame" and e["stream"] in over:
                late.append(e)
        close = self.one("connection_close")
        for side in ("client", "server"):
            found, counted = size_of(late, side), \
                close[f"from_{side}"]["late_bytes"]
            if found != counted:
                raise Failure(f"conn {close['conn']}: late_bytes of the"
                              f" {side} are {counted}, its late frames"
                              f" {found}")
        return late

    def warm_ledger(self, warm, calls=None):
        """Two ledgers, of the client's and the server's bytes, of what
        `calls` calls (None: all) after the first `warm` cost: the calls
        themselves, and each kind of frame of the connection from the first of
        them on, up to the next call or the client's GOAWAY. Needs one
        connection and `--events all`."""
        frames = self.all("frame")
        heads = [i for i, f in enumerate(frames)
                 if f["from"] == "client" and f["type"] == "HEADERS"]
        ends = heads[warm + calls:] if calls else []
        last = ends[0] if ends else next(
            (i for i, f in enumerate(frames)
             if f["type"] == "GOAWAY" and f["from"] == "client"), len(frames))
        streams = {frames[i]["stream"] for i in heads[warm:] if i < last}
        measured = [c for c in self.all("call") if c["stream"] in streams]
        if len(measured) != len(streams) or not measured:
            raise Failure(f"{len(measured)} calls on {len(streams)} streams")
        late = {(f["from"], f["offset"]) for f in self.late_frames()}
        return [warm_side(frames[heads[warm]:last], late, measured, side)
                for side in ("client", "server")]

    def median_ledger(self, warm):
        """The same of one call after the first `warm`: the median one of each
        direction, since PING and WINDOW_UPDATE come as they will."""
        n = len(self.all("call")) - warm
        ledgers = [self.warm_ledger(warm + i, 1) for i in range(n)]
        return [sorted((one[side] for one in ledgers),
                       key=lambda one: sum(one.values()))[n // 2]
                for side in (0, 1)]


def size_of(frames, side):
    """The bytes of one side's frames, their headers included."""
    return sum(9 + f["length"] for f in frames if f["from"] == side)


def warm_side(frames, late, calls, side):
    """One side's ledger of the window `frames`, added up frame by frame;
    `late` has side and offset of the frames of calls that were over."""
    frames = [f for f in frames if f["from"] == side]
    part = {"client": "request", "server": "response"}[side]
    owners = {name: sum(c[part].get(name) or 0 for c in calls)
              for name in CALL_OWNERS}
    if not any(c["rpc"] for c in calls):
        owners["message_bytes"] = sum(c[part]["body_bytes"] for c in calls)
        owners["truncated_bytes"] = 0
    own = [f for f in frames if f["stream"] == 0]
    for kind in ("PING", "WINDOW_UPDATE", "SETTINGS"):
        owners[f"{kind} of the connection"] = size_of(
            [f for f in own if f["type"] == kind], side)
        own = [f for f in own if f["type"] != kind]
    if own:
        raise Failure(f"the {side} sent {own[0]['type']} on stream 0")
    owners["late_bytes"] = size_of(
        [f for f in frames if (side, f["offset"]) in late], side)
    if sum(owners.values()) != size_of(frames, side):
        raise Failure(f"{owners} do not add up to the {side}'s frames,"
                      f" {size_of(frames, side)}")
    return owners


def split_payload(owners, size, codec="identity"):
    """`message_bytes` of plain messages is `size` bytes of payload, and
    protobuf's tag and length of each."""
    rest = {k: v for k, v in owners.items() if k != "message_bytes"}
    if codec != "identity":
        return {f"message, {codec}": owners["message_bytes"], **rest}
    return {"payload": size,
            "protobuf tag and length": owners["message_bytes"] - size, **rest}


CALL_OWNERS = ("message_bytes", "prefix_bytes", "framing_bytes",
               "header_block_bytes", "padding_bytes", "control_bytes",
               "truncated_bytes")


def ledger_of(close, calls, side):
    """The owners of a connection's bytes in one direction, as a dictionary
    whose values add up to its `bytes`, or it fails."""
    part = {"from_client": "request", "from_server": "response"}[side]
    owners = {name: sum(c[part].get(name) or 0 for c in calls)
              for name in CALL_OWNERS}
    if not any(c["rpc"] for c in calls):
        owners["message_bytes"] = sum(c[part]["body_bytes"] for c in calls)
        owners["prefix_bytes"] = owners["truncated_bytes"] = 0
    for name in ("connection_bytes", "late_bytes", "undecoded_bytes"):
        owners[name] = close[side][name]
    if sum(owners.values()) != close[side]["bytes"]:
        raise Failure(f"conn {close['conn']} {side}: {owners} do not add up"
                      f" to {close[side]['bytes']}")
    return owners


class Tap(Child):
    """grpctap on a free port of loopback, in front of `upstream`."""

    def __init__(self, upstream, *options):
        self.events = []
        self.offset = 0
        self.events_folder = tempfile.TemporaryDirectory(
            prefix="grpctap-study-")
        self.events_file = pathlib.Path(self.events_folder.name) / "events"
        super().__init__([tap_program(), "proxy", "-l", "127.0.0.1:0",
                          "-u", upstream, "-o", self.events_file, *options])
        try:
            first = wait_for("the tap's start event", self.read,
                             self.process)[0]
        except Failure as failure:
            self.stop()
            raise Failure(f"{failure}: {last_words(self.err)}") from None
        self.target = first["listen"]

    def __exit__(self, *args):
        super().__exit__(*args)
        self.events_folder.cleanup()

    def read(self):
        """Takes the whole lines that were added; returns all events."""
        if self.events_file.exists():
            with open(self.events_file, "rb") as file:
                file.seek(self.offset)
                data = file.read()
            whole = data[:data.rfind(b"\n") + 1]
            self.offset += len(whole)
            self.events += map(json.loads, whole.splitlines())
        return self.events

    def client(self, command, *arguments, env=None, conns=1):
        """Runs a client, its arguments followed by the tap's address; its
        lines, and a Seen of the connections it made."""
        with self.watch(conns) as seen:
            lines = client([*command, *arguments, self.target], env)
        return lines, seen

    @contextlib.contextmanager
    def watch(self, conns=None):
        """Gives a Seen that holds, when the block is left, the events of the
        connections opened in it: `conns` of them (None: at least one), all
        closed by then."""
        known = len(self.read())
        seen = Seen()
        yield seen

        def settled():
            fresh = self.read()[known:]
            opened = {e["conn"] for e in fresh
                      if e["event"] == "connection_open"}
            closed = {e["conn"] for e in fresh
                      if e["event"] == "connection_close"}
            seen.events = [e for e in fresh if e.get("conn") in opened]
            return len(opened) >= (conns or 1) and opened <= closed

        wait_for("the end of the client's connections", settled,
                 self.process)


# ---- Programs in Go -------------------------------------------------------


def go_program(name):
    """The path of a program of this folder's Go module (`build` makes them
    all, once)."""
    if not go_program.is_built:
        done = subprocess.run([HERE / "build"], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE,
                              env=dict(os.environ, OUT=str(OUT)))
        words = done.stderr.decode(errors="replace").strip().splitlines()
        if done.returncode == SKIP:
            raise Skip(words[-1] if words else "build exited 77")
        if done.returncode != 0:
            print("\n".join(words), file=sys.stderr)
            raise Failure(f"build exited {done.returncode}")
        go_program.is_built = True
    return OUT / "bin" / name


go_program.is_built = False


# ---- Programs in Python on grpcio -----------------------------------------


def python_program(script, *protos):
    """The command and the environment of a script on grpcio, in the virtual
    environment of the interop tests; `protos` are compiled for it."""
    out = ROOT / "build/interop/build"
    done = subprocess.run([ROOT / "tests/interop/python/build"],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=dict(os.environ, OUT=str(out)))
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        kind = Skip if done.returncode == SKIP else Failure
        raise kind(words[-1] if words else "the build of grpcio failed")
    python, generated = out / "python/venv/bin/python", OUT / "python"
    generated.mkdir(parents=True, exist_ok=True)
    for proto in protos:
        subprocess.run([python, "-m", "grpc_tools.protoc", "-I", proto.parent,
                        f"--python_out={generated}", proto.name], check=True,
                       env=dict(os.environ, PYTHONPATH=""))
    path = f"{out / 'python/gen'}:{generated}"
    return [python, script], {"PYTHONPATH": path,
                              "PYTHONDONTWRITEBYTECODE": "1"}


# ---- The report -----------------------------------------------------------


def number(value):
    if isinstance(value, float):
        return f"{value:,.2f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def us(values):
    """The median of times in microseconds, as text."""
    value = statistics.median(values)
    return f"{value / 1000:,.1f} ms" if value >= 1000 else f"{value:,.0f} us"


def percent(part, whole):
    return f"{100 * part / whole:.1f} %"


class Report:
    """Markdown, and the checks that make the exit status."""

    def __init__(self, title):
        self.parts = [f"## {title}\n"]
        self.passed = self.failed = self.skipped = 0

    def text(self, words):
        self.parts.append(words.strip() + "\n")

    def head(self, words):
        self.parts.append(f"### {words}\n")

    def table(self, head, rows):
        """Columns whose first row holds a number are set to the right."""
        def is_number(cell):
            return number(cell)[:1].isdigit()

        marks = ["---:" if rows and is_number(rows[0][i]) else "---"
                 for i in range(len(head))]
        lines = [head, marks] + [[number(cell) for cell in row]
                                 for row in rows]
        self.parts.append("".join("| " + " | ".join(line) + " |\n"
                                  for line in lines))

    def ledger(self, columns):
        """A table of owners; `columns` maps a heading to a ledger."""
        names = dict.fromkeys(name for one in columns.values()
                              for name, n in one.items() if n)
        rows = [[name] + [round(one.get(name, 0)) for one in columns.values()]
                for name in names]
        rows.append(["all"] + [round(sum(one.values()))
                               for one in columns.values()])
        self.table(["owner", *columns], rows)

    def check(self, what, holds, found=""):
        """One thing that must hold."""
        self.passed += bool(holds)
        self.failed += not holds
        mark = "ok" if holds else "**FAILED**"
        self.parts.append(f"- {mark}: {what}{': ' if found else ''}{found}\n")

    def skip(self, what, why):
        """A part that this machine cannot do."""
        self.skipped += 1
        self.parts.append(f"- skipped: {what}: {why}\n")

    def near(self, what, got, published, percent=None, points=None):
        """A figure beside the published one: `percent` of it, or percentage
        `points` (of ratios given as percentages)."""
        if percent is not None:
            off = 100 * abs(got - published) / published
            bound = f"{percent} %"
        else:
            off, percent = abs(got - published), points
            bound = f"{points} points"
        self.check(what, off <= percent, f"{number(got)}, published "
                   f"{number(published)} (bound {bound})")

    def __str__(self):
        # Checks are one list each time: no blank lines between them.
        text = ""
        for part in self.parts:
            is_item = part.startswith("- ")
            if text and not (is_item and text.rsplit("\n", 2)[-2]
                             .startswith("- ")):
                text += "\n"
            text += part
        return text


def run(main, title):
    """The command line of each study's `run`:  [--quick] [-o FILE].

    Exit status 0: the checks hold; 1: one does not, or the study could not be
    made; 77: the machine lacks something, and nothing was checked."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true",
                        help="fewer repetitions and sizes, the same checks")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        help="Markdown goes there instead of standard output")
    options = parser.parse_args()
    report = Report(title)
    try:
        main(report, options)
    except Skip as skip:
        if not report.passed + report.failed:
            print(f"skipped: {skip}", file=sys.stderr)
            sys.exit(SKIP)
        # What has been checked by then counts.
        report.skip("the rest", skip)
    except Failure as failure:
        print(f"failed: {failure}", file=sys.stderr)
        report.check(str(failure), False)
    if options.output:
        options.output.write_text(str(report), encoding="utf-8")
    else:
        sys.stdout.write(str(report))
    for part in report.parts:
        if part.startswith(("- **FAILED**", "- skipped")):
            print(part.strip(), file=sys.stderr)
    print(f"{report.passed} passed, {report.failed} failed,"
          f" {report.skipped} skipped", file=sys.stderr)
    sys.exit(1 if report.failed else 0)
