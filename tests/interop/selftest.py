# SPDX-License-Identifier: MIT
"""Checks the checks: made-up events that are right must pass, and each with
one thing wrong must be found, with the words that name it.

Owns those events and the list of wrongs. Needs no tap and no stack.
"""

import copy
import urllib.parse

import checks
from checks import Case

PATH = "/grpctap.echo.v1.Echo/Unary"
BLOCKS = {  # header blocks: bytes as sent, fields
    "request": (40, [[":method", "POST"], [":path", PATH]]),
    "response": (20, [[":status", "200"]]),
}


class Maker:
    """Writes the events of a connection with one call, with true sums."""

    def __init__(self, sizes, encodings, flagged=True, reset=None, **call):
        self.events = [self.event("connection_open", client="c", server="s")]
        self.frames = {"client": [], "server": []}
        self.sides = {}
        self.reset = reset
        self.text = call.get("grpc_message")
        self.rpc = call.get("rpc", "grpc")
        for name, side, _ in checks.DIRECTIONS:
            self.sides[name] = self.direction(
                name, side, sizes[name], encodings[name], flagged)
        self.events += [f for side in self.frames.values() for f in side]
        self.events.append(self.call(call))

    def event(self, kind, /, **fields):
        return {"event": kind, "time": "2026-01-01T00:00:00.000000Z",
                "conn": 1, **fields}

    def frame(self, side, kind, length, stream=1, flags=0):
        self.frames[side].append(self.event(
            "frame", type=kind, flags=flags, stream=stream, length=length,
            offset=0, **{"from": side}))

    def direction(self, name, side, sizes, encoding, flagged):
        self.frame(side, "SETTINGS", 6, stream=0)
        block, fields = BLOCKS[name]
        fields = list(fields)
        if encoding:
            fields.append(["grpc-encoding", encoding])
        if name == "request":
            fields.append(["grpc-accept-encoding", "identity, gzip"])
        elif self.text:
            fields.append(["grpc-message", urllib.parse.quote(self.text)])
        self.events.append(self.event("headers", stream=1, headers=fields,
                                      **{"from": side}))
        self.frame(side, "HEADERS", block)
        lengths = [self.message(side, index, size, encoding, flagged)
                   for index, size in enumerate(sizes)]
        control = 0
        if self.reset == side:
            self.frame(side, "RST_STREAM", 4)
            control = 4
        trailers = 0
        if self.rpc != "grpc" and name == "response":
            trailers = 20
            self.frame(side, "DATA", self.coded(trailers))
        frames = len(lengths) + 1 + bool(control) + bool(trailers)
        compressed = len(sizes) if encoding and flagged else 0
        inside = sum(lengths) + 5 * len(lengths) + trailers
        body = (sum(self.coded(5 + length) for length in lengths)
                + self.coded(trailers))
        known = encoding != checks.UNKNOWN
        return {
            "content_type": f"application/{self.rpc}", "content_encoding": None,
            "accept_encoding": None, "grpc_encoding": encoding,
            "grpc_accept_encoding": "identity, gzip"
            if name == "request" else None,
            "compression": ("none" if not encoding else
                            "full" if compressed else "unused"),
            "messages": len(sizes), "compressed_messages": compressed,
            "frames": frames, "framing_bytes": 9 * frames,
            "header_block_bytes": block, "padding_bytes": 0,
            "control_bytes": control, "body_bytes": body,
            "prefix_bytes": 5 * len(sizes), "message_bytes": sum(lengths),
            "decoded_bytes": sum(sizes) if known else None,
            "truncated_bytes": 0, "trailer_bytes": trailers,
            "base64_bytes": body - inside,
            "header_list_bytes": sum(len(n) + len(v) for n, v in fields),
            "wire_bytes": 9 * frames + block + control + body,
        }

    def coded(self, length):
        """How long a piece of a body is on the wire."""
        return ((length + 2) // 3 * 4 if self.rpc == "grpc-web-text"
                else length)

    def message(self, side, index, size, encoding, flagged):
        compressed = bool(encoding) and flagged
        known = encoding != checks.UNKNOWN
        length = size // 2 if compressed and known else size
        self.frame(side, "DATA", self.coded(length + 5))
        self.events.append(self.event(
            "message", stream=1, path=PATH, index=index,
            flag=int(compressed), compressed=compressed,
            encoding=encoding if compressed and known else None,
            length=length, decoded_length=size if known else None, frames=1,
            at_us=20, first_byte_at_us=10, **{"from": side}))
        return length

    def call(self, fields):
        return self.event("call", **{
            "stream": 1, "protocol": "h2", "rpc": "grpc", "method": "POST",
            "scheme": "http", "authority": "a", "path": PATH,
            "content_type": "application/grpc", "user_agent": None,
            "grpc_timeout": None, "http_status": 200, "grpc_status": 0,
            "grpc_status_name": "OK", "grpc_message": None,
            "trailers_only": False, "kind": "unary", "end": "complete",
            "reset_code": None, "duration_us": 100,
            "timing": {"request_end_us": 10, "response_headers_us": 20,
                       "first_message_us": 20, "last_message_us": 20},
            **self.sides, **fields})

    def notice(self, code, severity, **fields):
        self.events.append(self.event(
            "notice", code=code, severity=severity, stream=1,
            detail="made up", **{"from": None}, **fields))

    def close(self):
        closed = self.event("connection_close", client="c", server="s",
                            protocol="h2", reason="client_closed",
                            error=None, calls=1)
        for name, side, direction in checks.DIRECTIONS:
            frames = {}
            for f in self.frames[side]:
                entry = frames.setdefault(f["type"], {"count": 0, "bytes": 0})
                entry["count"] += 1
                entry["bytes"] += 9 + f["length"]
            wire = self.sides[name]["wire_bytes"]
            own = 15 + (24 if side == "client" else 0)
            closed[direction] = {
                "bytes": wire + own, "call_bytes": wire,
                "connection_bytes": own, "late_bytes": 0,
                "undecoded_bytes": 0, "frames": frames}
        self.events.append(closed)
        return self.events


def line(status, encoding, requests, responses, message=""):
    return {"method": PATH, "status": status, "message": message,
            "encoding": encoding, "request_sizes": requests,
            "response_sizes": responses}


def healthy():
    made = Maker({"request": [1009], "response": [1003]},
                 {"request": "gzip", "response": "gzip"})
    case = Case("unary", "gzip", 1000, 1, "go", "go")
    return case, [line(0, "gzip", [1009], [1003])], made.close()


def identity():
    made = Maker({"request": [1003], "response": [1003]},
                 {"request": None, "response": None})
    case = Case("unary", client="go", server="go")
    return case, [line(0, "identity", [1003], [1003])], made.close()


def unflagged():
    """Declared gzip and sent as it is; so is the answer."""
    made = Maker({"request": [1009], "response": [1003]},
                 {"request": "gzip", "response": "gzip"}, flagged=False)
    case = Case("unary", "gzip", 1000, 1, "go", "go")
    return case, [line(0, "gzip", [1009], [1003])], made.close()


def unasked():
    """An answer in identity by a server that was asked for gzip."""
    made = Maker({"request": [1009], "response": [1003]},
                 {"request": "gzip", "response": None})
    case = Case("unary", "gzip", 1000, 1, "go", "go")
    return case, [line(0, "gzip", [1009], [1003])], made.close()


def status():
    made = Maker({"request": [1030], "response": []},
                 {"request": None, "response": None}, grpc_status=9,
                 grpc_status_name="FAILED_PRECONDITION", kind=None,
                 grpc_message=checks.STATUS_MESSAGE, trailers_only=True)
    case = Case("status", client="go", server="go")
    return case, [line(9, "identity", [1030], [],
                       checks.STATUS_MESSAGE)], made.close()


def deadline():
    made = Maker({"request": [1006], "response": []},
                 {"request": None, "response": None}, reset="client",
                 trailers_only=None, grpc_status=None,
                 grpc_status_name=None, kind=None,
                 http_status=None, end="reset_by_client", reset_code="CANCEL",
                 grpc_timeout="149900u", duration_us=150400)
    made.notice("deadline_exceeded", "warning")
    case = Case("deadline", client="go", server="go")
    return case, [line(4, "identity", [1006], [])], made.close()


def deadline_by_server():
    made = Maker({"request": [1006], "response": []},
                 {"request": None, "response": None}, reset="server",
                 trailers_only=None, grpc_status=None,
                 grpc_status_name=None, kind=None,
                 http_status=None, end="reset_by_server", reset_code="CANCEL",
                 grpc_timeout="149900u", duration_us=150400)
    case = Case("deadline", client="go", server="go")
    return case, [line(4, "identity", [1006], [])], made.close()


def unknown():
    made = Maker({"request": [1003], "response": []},
                 {"request": checks.UNKNOWN, "response": None},
                 grpc_status=12, grpc_status_name="UNIMPLEMENTED", kind=None,
                 trailers_only=True)
    made.notice("codec_unavailable", "info", encoding=checks.UNKNOWN)
    made.notice("request_encoding_rejected", "warning",
                encoding=checks.UNKNOWN, accept_encoding=None)
    case = Case("unknown_encoding", checks.UNKNOWN, client="go", server="go")
    return case, [line(12, checks.UNKNOWN, [1003], [])], made.close()


def web():
    made = Maker({"request": [1009], "response": [1003]},
                 {"request": "gzip", "response": "gzip"}, rpc="grpc-web")
    case = Case("unary", "gzip", 1000, 1, "web", "web")
    return case, [line(0, "gzip", [1009], [1003])], made.close()


def web_text():
    made = Maker({"request": [1003], "response": [1003]},
                 {"request": None, "response": None}, rpc="grpc-web-text")
    case = Case("unary", client="web_text", server="node")
    return case, [line(0, "identity", [1003], [1003])], made.close()


# --- ways to be wrong --------------------------------------------------------

def first(events, kind, /, **fields):
    return next(e for e in events if e["event"] == kind
                and all(e[k] == v for k, v in fields.items()))


def put(kind, value, /, *path, **fields):
    """Sets the field at `path` of the first such event."""
    def change(events, _):
        at = first(events, kind, **fields)
        for key in path[:-1]:
            at = at[key]
        if path[-1] not in at or at[path[-1]] == value:
            raise AssertionError(f"{path} cannot be set to {value!r}")
        at[path[-1]] = value
    return change


def drop(kind, /, **fields):
    return lambda events, _: events.remove(first(events, kind, **fields))


def twice(kind):
    return lambda events, _: events.append(
        copy.deepcopy(first(events, kind)))


def lost(kind, key):
    return lambda events, _: first(events, kind).pop(key)


def said(key, value):
    return lambda _, lines: lines[0].update({key: value})


def moved(to, size):
    """Moves bytes between owners, so that the sum stays."""
    def change(events, _):
        ledger = first(events, "connection_close")["from_client"]
        ledger["connection_bytes"] -= size
        ledger[to] += size
    return change


def told(**notice):
    return lambda events, _: events.append(
        {"event": "notice", "time": "", "conn": 1, "stream": 1,
         "detail": "made up", "from": None, **notice})


WRONGS = [
    (healthy, drop("call"), "number of calls"),
    (healthy, twice("call"), "number of calls"),
    (healthy, drop("connection_close"), "connection_close"),
    (healthy, drop("message", index=0), "number of message events"),
    (healthy, twice("message"), "number of message events"),
    (healthy, lost("call", "rpc"), "shape"),
    (healthy, lost("message", "flag"), "shape"),
    (healthy, put("call", "/other", "path"), "path"),
    (healthy, put("call", 2, "grpc_status"), "grpc_status"),
    (healthy, put("call", "UNKNOWN", "grpc_status_name"), "status_name"),
    (healthy, put("call", "OK", "grpc_message"), "grpc_message"),
    (healthy, put("call", "shutdown", "end"), "end is"),
    (healthy, put("call", "bidi_streaming", "kind"), "kind"),
    (healthy, put("call", True, "trailers_only"), "trailers_only"),
    (healthy, put("call", 5, "timing", "last_message_us"), "is after"),
    (healthy, put("call", "deflate", "request", "grpc_encoding"),
     "request.grpc_encoding"),
    (healthy, put("call", "none", "request", "compression"), "compression"),
    (healthy, put("call", 2, "request", "messages"), "request.messages"),
    (healthy, put("call", 0, "response", "compressed_messages"),
     "compressed_messages"),
    (healthy, put("call", 1, "request", "decoded_bytes"), "decoded_bytes"),
    (healthy, put("call", None, "request", "decoded_bytes"),
     "decoded_bytes"),
    (healthy, put("call", 4, "request", "prefix_bytes"), "prefix_bytes"),
    (healthy, put("call", 1, "response", "message_bytes"), "message_bytes"),
    (healthy, put("call", 1, "request", "padding_bytes"), "the sum of"),
    (healthy, put("call", 41, "request", "header_block_bytes"),
     "the sum of"),
    (healthy, put("call", 3, "request", "truncated_bytes"), "truncated"),
    (healthy, put("call", 1, "request", "header_list_bytes"),
     "header_list_bytes"),
    (healthy, put("call", 3, "request", "frames"), "framing_bytes"),
    (healthy, put("call", "gzip", "request", "grpc_accept_encoding"),
     "grpc_accept_encoding"),
    (healthy, put("message", 0, "flag"), "compressed is"),
    (healthy, put("message", 1008, "decoded_length"), "decoded_length"),
    (healthy, put("message", "deflate", "encoding"), "encoding is"),
    (healthy, put("message", 1, "length"), "message_bytes"),
    (healthy, put("message", 1, "index"), "index"),
    (healthy, put("message", 0, "frames"), "DATA frame"),
    (healthy, put("message", 99, "first_byte_at_us"), "first byte"),
    (healthy, put("connection_close", 2, "calls"), "connection_close.calls"),
    (healthy, put("connection_close", "tls", "protocol"), "protocol"),
    (healthy, put("connection_close", "broken", "error"), "error"),
    (healthy, put("connection_close", "timeout", "reason"), "reason"),
    (healthy, put("connection_close", "client_reset", "reason"), "error"),
    (healthy, put("connection_close", 1, "from_client", "bytes"),
     "from_client: the sum"),
    (healthy, put("connection_close", 1, "from_server", "call_bytes"),
     "call_bytes"),
    (healthy, put("connection_close", 1, "from_client", "late_bytes"),
     "late_bytes"),
    (healthy, put("connection_close", 1, "from_client", "undecoded_bytes"),
     "undecoded_bytes"),
    (healthy, moved("late_bytes", 9), "late_bytes"),
    (healthy, moved("undecoded_bytes", 9), "undecoded_bytes"),
    (healthy, put("connection_close", 9, "from_client", "frames", "DATA",
                  "bytes"), "sum of frames"),
    (healthy, put("connection_close", 9, "from_client", "frames", "DATA",
                  "count"), "frames is"),
    (healthy, put("frame", 1, "length", type="DATA"), "frames"),
    (healthy, drop("frame", type="SETTINGS"), "frames is"),
    (healthy, told(code="missing_grpc_status", severity="error"),
     "missing_grpc_status"),
    (healthy, told(code="x", severity="fatal"), "severity"),
    (healthy, told(code="compression_inflated", severity="info"),
     "compression_inflated"),
    (healthy, told(code="ping_unanswered", severity="warning"),
     "ping_unanswered"),
    (healthy, said("request_sizes", [1008]), "decoded_length"),
    (healthy, said("response_sizes", []), "response"),
    (healthy, said("status", 1), "status"),
    (healthy, said("encoding", "identity"), "encoding"),
    (healthy, said("method", "/other"), "path"),
    (identity, put("message", 1002, "length"), "length is"),
    (identity, put("message", "gzip", "encoding"), "encoding is"),
    (identity, put("call", "unused", "request", "compression"),
     "compression"),
    (unflagged, told(code="encoding_declared_unused", severity="info"),
     "request.compressed_messages"),
    (unflagged, told(code="encoding_declared_unused", severity="info"),
     "response.compressed_messages"),
    (unasked, said("status", 0), "response.grpc_encoding"),
    (status, put("call", "gr%C3%B6", "grpc_message"), "grpc_message"),
    (status, put("call", None, "grpc_message"), "grpc_message"),
    (status, put("call", False, "trailers_only"), "trailers_only"),
    (status, put("call", None, "grpc_status"), "grpc_status"),
    (deadline, drop("notice"), "deadline_exceeded"),
    (deadline, twice("notice"), "deadline_exceeded"),
    (deadline, put("call", "NO_ERROR", "reset_code"), "reset_code"),
    (deadline, put("call", "reset_by_server", "end"), "end is"),
    (deadline, put("call", 4, "grpc_status"), "grpc_status"),
    (deadline, put("call", True, "trailers_only"), "trailers_only"),
    (deadline, put("call", "2S", "grpc_timeout"), "grpc_timeout"),
    (deadline, put("call", None, "grpc_timeout"), "grpc_timeout"),
    (deadline_by_server, put("call", "reset_by_client", "end"), "end is"),
    (unknown, drop("notice", code="codec_unavailable"), "codec_unavailable"),
    (unknown, drop("notice", code="request_encoding_rejected"),
     "request_encoding_rejected"),
    (unknown, put("notice", "gzip", "encoding"), "encoding"),
    (unknown, put("message", 1003, "decoded_length"), "decoded_length"),
    (unknown, put("message", 900, "length"), "length"),
    (unknown, put("call", 1003, "request", "decoded_bytes"),
     "decoded_bytes"),
    (web, put("call", "grpc", "rpc"), "rpc is"),
    (web, put("call", 20, "request", "trailer_bytes"),
     "request.trailer_bytes"),
    (web, put("call", 0, "response", "trailer_bytes"),
     "response.trailer_bytes"),
    (web, put("call", 1, "response", "base64_bytes"),
     "response.base64_bytes"),
    (web, put("call", 1, "response", "truncated_bytes"), "truncated"),
    (web, put("call", True, "trailers_only"), "trailers_only"),
    (web_text, put("call", "grpc-web", "rpc"), "rpc is"),
    (web_text, put("call", 0, "request", "base64_bytes"), "characters"),
    (web_text, put("call", 0, "response", "base64_bytes"), "characters"),
    (web_text, put("call", 0, "response", "trailer_bytes"),
     "response.trailer_bytes"),
]

RUN = [{"event": "start"}, {"event": "connection_open"},
       {"event": "connection_close"}, {"event": "stop", "connections": 1}]
RUNS = [
    (RUN, 0, None),
    (RUN, 1, "exit status"),
    (RUN[:-1], 0, "last event"),
    (RUN[1:], 0, "first event"),
    (RUN[:2] + RUN[3:], 0, "not closed"),
    (RUN[:1] + [{"event": "dropped"}] + RUN[1:], 0, "dropped"),
    (RUN[:3] + [{"event": "stop", "connections": 2}], 0, "stop.connections"),
]


def outcome(what, problems, word):
    """Prints a failed expectation; returns whether it held."""
    if word is None and not problems:
        return True
    if word is not None and any(word in p for p in problems):
        return True
    print(f"FAIL {what}: wanted {word!r}, got {problems}")
    return False


def run():
    held = []
    for make in (healthy, identity, status, deadline, deadline_by_server,
                 unknown, web, web_text):
        problems = checks.check_case(*make()).problems
        held.append(outcome(make.__name__, problems, None))
    for number, (make, change, word) in enumerate(WRONGS):
        case, lines, events = make()
        change(events, lines)
        problems = checks.check_case(case, lines, events).problems
        held.append(outcome(f"wrong {number} of {make.__name__}", problems,
                            word))
    for number, (events, code, word) in enumerate(RUNS):
        problems = checks.check_run(events, code).problems
        held.append(outcome(f"run {number}", problems, word))
    failed = held.count(False)
    print(f"{len(held) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0
