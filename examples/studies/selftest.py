#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether study.py notices what a study must not get past: bytes without an
owner, frames it has no row for, and a skip that comes after a failure.

Needs no tap and no server: the events of one connection are written here, each
test changes one thing. Prints `N passed, M failed`."""

import contextlib
import copy
import io
import sys

import study

# A call of one message of 10 bytes each way, behind one that warms; then a
# WINDOW_UPDATE for its stream that comes too late.
SIDES = {"client": "request", "server": "response"}


def frame(side, kind, stream, length):
    return {"event": "frame", "conn": 1, "from": side, "type": kind,
            "stream": stream, "length": length}


def call(stream):
    part = {name: 0 for name in study.CALL_OWNERS}
    part.update(message_bytes=10, prefix_bytes=5, framing_bytes=18,
                header_block_bytes=8, body_bytes=15)
    return {"event": "call", "conn": 1, "stream": stream, "rpc": "grpc",
            "request": dict(part), "response": dict(part)}


def frames_of(stream):
    return [frame(side, kind, stream, length) for side in SIDES
            for kind, length in (("HEADERS", 8), ("DATA", 15))]


def events():
    found = [*frames_of(1), call(1), frame("client", "PING", 0, 8),
             *frames_of(3), frame("server", "SETTINGS", 0, 0), call(3),
             frame("client", "WINDOW_UPDATE", 3, 4),
             frame("client", "GOAWAY", 0, 8),
             {"event": "connection_close", "conn": 1,
              "from_client": {"late_bytes": 13},
              "from_server": {"late_bytes": 0}}]
    for i, one in enumerate(found):
        if one["event"] == "frame":
            one["offset"] = i
    return found


def ledger_of(found):
    seen = study.Seen()
    seen.events = copy.deepcopy(found)
    return seen.warm_ledger(1)


def at(found, kind, stream):
    return next(i for i, e in enumerate(found) if e["event"] == "frame"
                and (e["type"], e["stream"]) == (kind, stream))


def refuses(found, words):
    """The ledger of the events fails, and says these words."""
    try:
        ledger_of(found)
    except study.Failure as failure:
        return words in str(failure)
    return False


def with_frame(side, kind, stream):
    """The events with one frame more, in front of the last call's end."""
    found = events()
    found.insert(at(found, "SETTINGS", 0),
                 {**frame(side, kind, stream, 8), "offset": 1000})
    return found


def ledgers(check):
    client, server = ledger_of(events())
    check("the owners of the client's bytes",
          client["late_bytes"] == 13 and sum(client.values()) == 41 + 13)
    check("the owners of the server's bytes",
          server["SETTINGS of the connection"] == 9
          and sum(server.values()) == 41 + 9)
    for kind in ("GOAWAY", "ALTSVC", "UNKNOWN"):
        check(f"{kind} of the server on stream 0 is no late frame",
              refuses(with_frame("server", kind, 0),
                      f"{kind} on stream 0"))
    check("a frame of a stream without a call has no owner",
          refuses(with_frame("client", "PRIORITY", 9), "do not add up"))
    lacking = events()
    lacking[-4]["request"]["framing_bytes"] -= 9
    check("bytes that the ledger of a call misses are not late",
          refuses(lacking, "do not add up"))
    early = events()
    early[-1]["from_client"]["late_bytes"] = 0
    check("late frames are those of connection_close",
          refuses(early, "late_bytes of the client are 0"))
    check("a call without its event",
          refuses([e for e in events() if e.get("stream") != 3
                   or e["event"] != "call"], "0 calls on 1 streams"))


def ends(main):
    """The exit status of a study, and its report."""
    arguments, sys.argv = sys.argv, ["study"]
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(io.StringIO()):
            study.run(main, "A study")
    except SystemExit as end:
        return end.code, out.getvalue()
    finally:
        sys.argv = arguments
    return None, out.getvalue()


def skips(holds):
    """A study that checks something (None: nothing) and cannot go on."""
    def main(report, _):
        if holds is not None:
            report.check("it holds", holds)
        raise study.Skip("there is no peer")

    return ends(main)


def statuses(check):
    check("a skip with nothing checked is 77", skips(None) == (77, ""))
    status, text = skips(False)
    check("a skip after a failed check is 1, and both are in the report",
          status == 1 and "**FAILED**: it holds" in text
          and "skipped: the rest: there is no peer" in text)
    status, text = skips(True)
    check("a skip after a check that holds keeps the report",
          status == 0 and "skipped: the rest" in text)


def main():
    results = []

    def check(what, holds):
        results.append(bool(holds))
        if not holds:
            print(f"FAIL: {what}")

    ledgers(check)
    statuses(check)
    print(f"{sum(results)} passed, {results.count(False)} failed")
    sys.exit(1 if False in results else 0)


if __name__ == "__main__":
    main()
