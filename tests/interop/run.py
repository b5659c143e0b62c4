#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs real gRPC stacks through the tap and checks its events.

Owns processes, files and the report; what must hold is in checks.py. The
contract of the folders beside this file is in README.md.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import checks
from checks import Case

try:
    import jsonschema
except ImportError:
    jsonschema = None

HERE = pathlib.Path(__file__).resolve().parent
# What runs unless --stack says otherwise; gRPC-Web is a suite of its own.
GRPC_STACKS = ("go", "python", "node", "rust", "java")
STACKS = GRPC_STACKS + ("web", "web_text")
KINDS = ("unary", "client_stream", "server_stream", "bidi")
SINGLES = ("status", "trailers_only", "deadline", "cancel",
           "unknown_encoding")
SKIP = 77
BUILD_SECONDS = 1800
CLIENT_SECONDS = 180
WAIT_SECONDS = 30
SETTLE_SECONDS = 10
POLL_SECONDS = 0.02
SHOWN_PROBLEMS = 6
SHOWN_PROBLEMS_V = 60


class Failure(Exception):
    """Ends a stack, with a sentence."""


def wait_for(what, condition, process=None, seconds=WAIT_SECONDS):
    """Returns condition() once it is true; fails when `process` ends."""
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


class Child:
    """A long-running process whose output goes to files."""

    def __init__(self, command, log, env=None):
        self.log = log
        self.out = log.with_suffix(".out")
        with open(self.out, "wb") as out, open(log, "wb") as err:
            self.process = subprocess.Popen(
                [str(c) for c in command], stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, env=env)

    def stop(self):
        """SIGTERM, then SIGKILL; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Events:
    """The tap's output file, read as it grows."""

    def __init__(self, path):
        self.path = path
        self.offset = 0
        self.events = []
        self.lines = 0
        self.problems = []

    def read(self):
        """Takes the whole lines that were added since."""
        if not self.path.exists():
            return self.events
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        whole = data[:data.rfind(b"\n") + 1]
        self.offset += len(whole)
        for line in whole.splitlines():
            self.lines += 1
            self.take(line)
        return self.events

    def take(self, line):
        try:
            event = json.loads(line.decode())
            if not isinstance(event, dict):
                raise ValueError("not an object")
            event["event"], event["time"]
        except (ValueError, KeyError) as error:
            self.problems.append(f"line {self.lines}: {error!r}")
        else:
            self.events.append(event)

    def of(self, conns):
        return [e for e in self.events if e.get("conn") in conns]

    def conns(self, kind="connection_open"):
        return {e["conn"] for e in self.events if e["event"] == kind}


class Stack:
    """A folder: its build, and its server with a tap before it."""

    def __init__(self, name, options):
        self.name = name
        self.folder = HERE / name
        self.options = options
        self.logs = options.out / "logs" / name
        self.logs.mkdir(parents=True, exist_ok=True)
        self.env = dict(os.environ, OUT=str(options.out / "build"))
        self.server = self.tap = None
        self.events = Events(self.logs / "tap.jsonl")
        self.target = None
        self.encodings = []
        self.cannot = {}

    def build(self):
        """Returns None, or why the stack is skipped."""
        script = self.folder / "build"
        if not script.exists():
            return "it has no build script"
        log = self.logs / "build.log"
        with open(log, "wb") as out:
            done = subprocess.run([script], env=self.env, stdout=out,
                                  stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL,
                                  timeout=BUILD_SECONDS)
        if done.returncode == SKIP:
            words = log.read_text(errors="replace").strip().splitlines()
            return words[-1] if words else "build exited 77"
        if done.returncode != 0:
            raise Failure(f"build exited {done.returncode}: {log}")
        return None

    def list(self):
        """Reads what the client can do."""
        done = subprocess.run([self.folder / "client", "--list"],
                              env=self.env, stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL,
                              timeout=CLIENT_SECONDS)
        if done.returncode != 0:
            raise Failure(f"client --list exited {done.returncode}")
        for line in done.stdout.decode().splitlines():
            words = line.split(maxsplit=2)
            if words[:1] == ["cannot"]:
                self.cannot[words[1]] = words[2] if words[2:] else "no reason"
            elif words:
                self.encodings.append(words[0])
        needed = checks.WEB.get(self.name, {"identity", "gzip"})
        if not needed <= set(self.encodings):
            raise Failure(f"client --list lacks one of {sorted(needed)}")

    def start(self):
        self.server = Child([self.folder / "server"],
                            self.logs / "server.log", self.env)
        words = wait_for("the server's port", self.listening,
                         self.server.process)
        self.events.path.unlink(missing_ok=True)
        self.tap = Child(
            [self.options.tap, "proxy", "-l", "127.0.0.1:0",
             "-u", f"127.0.0.1:{int(words[1])}", "-e", "all",
             "-o", self.events.path], self.logs / "tap.log")
        start = wait_for("the tap's start event", self.events.read,
                         self.tap.process)[0]
        if start["event"] != "start":
            raise Failure(f"the tap's first event is {start['event']}")
        self.target = start["listen"]

    def listening(self):
        """The server's `listening PORT`, once the line is whole."""
        line, end, _ = self.server.out.read_text().partition("\n")
        if not end:
            return None
        words = line.split()
        if len(words) != 2 or words[0] != "listening":
            raise Failure(f"the server says {line!r}, not 'listening PORT'")
        return words

    def stop(self):
        """Stops tap and server; returns the tap's exit status or None."""
        status = self.tap.stop() if self.tap else None
        if self.server:
            self.server.stop()
        self.events.read()
        return status

    def run(self, case, through):
        """Runs the client through the tap of the stack `through`."""
        base = through.logs / f"{self.name}-{case.name}"
        known = through.events.conns()
        command = [self.folder / "client", through.target, case.scenario,
                   "--size", case.size, "--count", case.count]
        if case.encoding != checks.UNKNOWN:
            command += ["--encoding", case.encoding]
        if self.name in checks.WEB:
            command += ["--http", case.http]
        lines, error = run_client(command, self.env, base)
        fresh = set()

        def settled():
            through.events.read()
            fresh.update(through.events.conns() - known)
            closed = through.events.conns("connection_close")
            return fresh and fresh <= closed

        try:
            wait_for("the end of the client's connection", settled,
                     through.tap.process, SETTLE_SECONDS)
        except Failure as failure:
            error = error or str(failure)
        report = checks.check_case(case, lines, through.events.of(fresh))
        if error:
            report.problems.insert(0, error)
        if report.problems:
            with open(f"{base}.events.jsonl", "w") as file:
                for event in through.events.of(fresh):
                    file.write(json.dumps(event) + "\n")
        return report, base


def run_client(command, env, base):
    """Returns the client's lines, and what went wrong or None."""
    out, err = f"{base}.client.jsonl", f"{base}.client.err"
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        try:
            status = subprocess.run(
                [str(c) for c in command], env=env, stdout=stdout,
                stderr=stderr, stdin=subprocess.DEVNULL,
                timeout=CLIENT_SECONDS).returncode
        except subprocess.TimeoutExpired:
            return [], f"the client ran longer than {CLIENT_SECONDS} s"
    with open(out, encoding="utf-8") as file:
        try:
            lines = [json.loads(line) for line in file]
        except ValueError as error:
            return [], f"the client's output: {error}"
    if status != 0:
        words = open(err, errors="replace").read().strip().splitlines()
        return lines, (f"the client exited {status}:"
                       f" {words[-1] if words else 'without a word'}")
    return lines, None


def own_cases(name, encodings, http="2"):
    """The cases of a stack's client against its own server."""
    def case(*args, **kwargs):
        return Case(*args, client=name, server=name, http=http, **kwargs)

    for encoding in encodings:
        for kind in KINDS:
            yield case(kind, encoding, 1000, 3)
            yield case(kind, encoding, 102400, 3, label="big")
        yield case("unary", encoding, 1, 2, label="tiny")
        yield case("unary", encoding, 0, 2, label="empty")
    for scenario in SINGLES:
        if http != "2" and scenario in checks.NOT_HTTP1:
            continue
        encoding = (checks.UNKNOWN if scenario == "unknown_encoding"
                    else "identity")
        yield case(scenario, encoding)
    for encoding in ("identity", "gzip"):
        if encoding in encodings:
            yield case("large", encoding, 20 << 20)
    yield case("many", count=1000)


def cross_cases(client, server):
    for kind in KINDS:
        yield Case(kind, "gzip", 1000, 3, client=client, server=server,
                   label="cross")


class Tally:
    """Prints a line a result and counts them."""

    def __init__(self, options):
        self.options = options
        self.passed = self.failed = self.skipped = 0

    def skip(self, what, why, absent):
        """`absent`: something the machine lacks, which CI must not accept."""
        if absent and self.options.forbid_skips:
            self.fail(what, [why])
            return
        self.skipped += 1
        print(f"skip {what}: {why}", flush=True)

    def fail(self, what, problems, logs=None):
        self.failed += 1
        most = SHOWN_PROBLEMS_V if self.options.verbose else SHOWN_PROBLEMS
        shown = problems[:most]
        print(f"FAIL {what}: {shown[0]}")
        for problem in shown[1:]:
            print(f"     {problem}")
        if len(problems) > len(shown):
            print(f"     and {len(problems) - len(shown)} more")
        if logs:
            print(f"     logs: {logs}")
        sys.stdout.flush()

    def result(self, what, report, logs):
        if report.problems:
            self.fail(what, report.problems, logs)
        else:
            self.passed += 1
            print(f"ok   {what}", flush=True)
        if self.options.verbose:
            for note in report.notes:
                print(f"     {note}", flush=True)


def selected(options, case):
    return not options.scenario or any(
        fnmatch.fnmatch(name, pattern) for pattern in options.scenario
        for name in (case.scenario, case.name))


def able(stacks, scenario, is_web):
    """A stack whose client can play the scenario, or None. What a server of
    gRPC-Web does for clients of gRPC is seen elsewhere."""
    return next((s for s in stacks if scenario not in s.cannot
                 and (s.name in checks.WEB) == is_web), None)


def stack_cases(stack, options):
    """The cases of a stack, in each version of HTTP that it is tested in."""
    versions = options.web_http if stack.name in checks.WEB else ("2",)
    for http in versions:
        yield from own_cases(stack.name, stack.encodings, http)


def run_own(stack, stacks, options, tally):
    """The client against its own server; what it cannot do is done by the
    client of another stack, so that the server is seen in it all the same."""
    for case in stack_cases(stack, options):
        if not selected(options, case):
            continue
        client = stack
        if case.scenario in stack.cannot:
            client = able(stacks, case.scenario, stack.name in checks.WEB)
            if client is None:
                tally.skip(f"{stack.name} {case.name}",
                           stack.cannot[case.scenario], absent=False)
                continue
            case.client = client.name
        what = (stack.name if client is stack
                else f"{client.name}->{stack.name}")
        tally.result(f"{what} {case.name}",
                     *with_logs(client.run(case, stack)))


def run_cross(stacks, options, tally):
    """Each stack's client against the next stack's server."""
    stacks = [s for s in stacks if s.name not in checks.WEB]
    if len(stacks) < 2:
        return
    for client, server in zip(stacks, stacks[1:] + stacks[:1]):
        for case in cross_cases(client.name, server.name):
            if selected(options, case):
                tally.result(f"{client.name}->{server.name} {case.name}",
                             *with_logs(client.run(case, server)))


def with_logs(pair):
    report, base = pair
    return report, f"{base}.*"


def prepare(name, options, tally):
    """Builds and starts a stack; returns it, or None with the reason told."""
    stack = Stack(name, options)
    try:
        why = stack.build()
        if why:
            tally.skip(name, why, absent=True)
            return None
        stack.list()
        stack.start()
        return stack
    except (Failure, OSError, subprocess.TimeoutExpired) as failure:
        tally.fail(f"{name} start", [str(failure)], stack.logs)
        stack.stop()
        return None
    except BaseException:
        stack.stop()
        raise


def finish(stack, schema, tally):
    """Stops a stack's tap and checks its run as a whole."""
    status = stack.stop()
    report = checks.check_run(stack.events.events, status)
    report.problems += stack.events.problems[:20]
    tally.result(f"{stack.name} run", report, stack.logs)
    if schema:
        report = checks.Report()
        report.problems += validate(schema, stack.events.events)
        tally.result(f"{stack.name} schema", report, stack.events.path)


class Schema:
    """The JSON Schema of the events.

    A oneOf over the kinds of events is entered at the one branch whose
    `event` is the line's: trying all of them costs minutes over a run.
    """

    def __init__(self, schema):
        kind = jsonschema.validators.validator_for(schema)
        kind.check_schema(schema)
        self.whole = kind(schema)
        self.branches = {}
        rest = {k: v for k, v in schema.items() if k != "oneOf"}
        for branch in schema.get("oneOf", []):
            event = self.event_of(schema, branch)
            if event is None or event in self.branches:
                self.branches = {}
                return
            self.branches[event] = kind(
                dict(rest, allOf=rest.get("allOf", []) + [branch]))

    @staticmethod
    def event_of(schema, branch):
        """The event a branch is for; None when it does not require one."""
        ref = branch.get("$ref", "")
        if ref.startswith("#/"):
            branch = schema
            for key in ref[2:].split("/"):
                branch = branch.get(key, {})
        if "event" not in branch.get("required", []):
            return None
        return branch.get("properties", {}).get("event", {}).get("const")

    def error(self, event):
        """The first violation, or None."""
        validator = self.branches.get(event["event"], self.whole)
        return next(validator.iter_errors(event), None)


def validate(schema, events):
    """The first violations of the schema, a problem each."""
    problems = []
    for number, event in enumerate(events, 1):
        error = schema.error(event)
        if error:
            problems.append(f"line {number} ({event['event']}):"
                            f" {error.message[:200]}")
        if len(problems) == 20:
            break
    return problems


def load_schema(options, tally):
    """The validator, or None where there is none to use."""
    if not options.schema:
        return None
    if jsonschema is None:
        tally.skip("schema", "the Python module jsonschema is missing",
                   absent=True)
        return None
    with open(options.schema, encoding="utf-8") as file:
        return Schema(json.load(file))


def parse(args):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tap", type=pathlib.Path,
                        help="the grpctap program")
    parser.add_argument("--out", type=pathlib.Path,
                        help="folder for builds and logs")
    parser.add_argument("--stack", default=",".join(GRPC_STACKS),
                        help="comma-separated folders (default: those of"
                        " plain gRPC)")
    parser.add_argument("--scenario", action="append", default=[],
                        help="only these scenarios or cases; may be repeated,"
                        " and hold * and ?")
    parser.add_argument("--web-http", choices=("2", "1.1"), action="append",
                        help="the HTTP version of gRPC-Web; may be repeated"
                        " (default: both)")
    parser.add_argument("--schema", type=pathlib.Path,
                        help="JSON Schema that each event must satisfy")
    parser.add_argument("--forbid-skips", action="store_true",
                        help="a missing toolchain or module is a failure;"
                        " what a stack cannot do stays a skip")
    parser.add_argument("--list", action="store_true",
                        help="print the stacks and cases and exit")
    parser.add_argument("--self-test", action="store_true",
                        help="check the checks against made-up events")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="print more problems, and remarks")
    options = parser.parse_args(args)
    options.web_http = options.web_http or ("2", "1.1")
    options.stack = [name for name in options.stack.split(",") if name]
    for name in options.stack:
        if name not in STACKS:
            parser.error(f"no stack {name!r}")
    if not (options.list or options.self_test):
        if not (options.tap and options.out):
            parser.error("--tap and --out are needed")
        options.tap, options.out = options.tap.resolve(), options.out.resolve()
    return options


def run(options):
    tally = Tally(options)
    schema = load_schema(options, tally)
    stacks = []
    try:
        for name in options.stack:
            stack = prepare(name, options, tally)
            if stack:
                stacks.append(stack)
        for stack in stacks:
            run_own(stack, stacks, options, tally)
        run_cross(stacks, options, tally)
        for stack in stacks:
            finish(stack, schema, tally)
    finally:
        for stack in stacks:
            stack.stop()
    print(f"{tally.passed} passed, {tally.failed} failed,"
          f" {tally.skipped} skipped")
    return 1 if tally.failed else 0


def main():
    options = parse(sys.argv[1:])
    if options.list:
        for name in options.stack:
            for case in own_cases(name, ("identity", "ENCODING")):
                print(name, case.name)
        return 0
    if options.self_test:
        import selftest
        return selftest.run()
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
