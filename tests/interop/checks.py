# SPDX-License-Identifier: MIT
"""What must hold between a client's lines and the tap's events.

Owns the assertions of run.py, as functions from lines and events to a list of
problems. Starts nothing and reads no file.
"""

import re
import traceback
import urllib.parse

OK_STATUS = 0
NAMES = {
    0: "OK",
    1: "CANCELLED",
    2: "UNKNOWN",
    3: "INVALID_ARGUMENT",
    4: "DEADLINE_EXCEEDED",
    5: "NOT_FOUND",
    6: "ALREADY_EXISTS",
    7: "PERMISSION_DENIED",
    8: "RESOURCE_EXHAUSTED",
    9: "FAILED_PRECONDITION",
    10: "ABORTED",
    11: "OUT_OF_RANGE",
    12: "UNIMPLEMENTED",
    13: "INTERNAL",
    14: "UNAVAILABLE",
    15: "DATA_LOSS",
    16: "UNAUTHENTICATED",
}
STATUS_MESSAGE = "größer als 100 %: 値"
UNKNOWN = "grpctap-rot0"
PREFACE = 24  # bytes of the client's connection preface
FRAME_HEADER = 9
DEADLINE_US = 150000
OVER_4MIB = 4194304

# direction of a call, name in `from`, direction of a connection
DIRECTIONS = (
    ("request", "client", "from_client"),
    ("response", "server", "from_server"),
)

# Notices of severity warning or error that a scenario may draw although
# nothing is wrong with the stacks. Others are problems. What must be there is
# in check_notices.
#
# flow_control_stall: more than a window of data waits for WINDOW_UPDATE, as it
# should. ping_unanswered: a stack that measures bandwidth by PING has one out
# when the client leaves; check_pings holds it against the frames.
ALLOWED = {
    "deadline": {"deadline_exceeded"},
    "unknown_encoding": {"request_encoding_rejected"},
    "tiny": {"compression_inflated"},
    "empty": {"compression_inflated"},
    "big": {"flow_control_stall"},
    "large": {"flow_control_stall"},
    "many": {"flow_control_stall"},
}
ALLOWED_ALWAYS = {"ping_unanswered"}

# What the servers do about the codec of a response. `asked`: it is the one in
# response_encoding. `none`: the server never compresses. A tuple: the first
# of the client's grpc-accept-encoding that is in it.
SERVERS = {
    "go": "asked",
    "python": "asked",
    "java": "asked",
    "node": "none",
    "rust": ("gzip", "deflate", "zstd"),
    "web": ("gzip", "deflate", "zstd"),
    "web_text": ("gzip", "deflate", "zstd"),
}

# The stacks of gRPC-Web, and the encodings that their clients have at least.
WEB = {"web": {"identity", "gzip"}, "web_text": {"identity"}}
RPC = {"web": "grpc-web", "web_text": "grpc-web-text"}
# What they do not do over HTTP/1.1: it has no resets, and a server that refuses
# a request closes the connection under the client, which may see either first.
NOT_HTTP1 = ("deadline", "cancel", "unknown_encoding", "trailers_only")

# What a server says to an unknown encoding where it is not 12 as the gRPC
# specification asks: grpcio cannot parse such a header.
UNKNOWN_STATUS = {"python": 13}

# What a client resets a call with at its deadline where it is not CANCEL.
DEADLINE_CODES = {"web": "INTERNAL_ERROR"}


class Case:
    """One run of a client: scenario, codec and size, and whose it is."""

    def __init__(self, scenario, encoding="identity", size=1000, count=1,
                 client="", server="", label=None, http="2"):
        self.scenario = scenario
        self.encoding = encoding
        self.size = size
        self.count = count
        self.client = client
        self.server = server
        # the version of HTTP, which only gRPC-Web has a choice of
        self.http = http
        # a size class of ALLOWED, or what else sets cases apart
        self.label = label or scenario

    @property
    def rpc(self):
        """The `rpc` of the client's calls."""
        return RPC.get(self.client, "grpc")

    @property
    def protocol(self):
        """The `protocol` of calls and connection."""
        return "h2" if self.http == "2" else "http/1.1"

    @property
    def shrinks(self):
        """Whether the payload is one that every codec makes shorter."""
        return self.label not in ("tiny", "empty")

    @property
    def name(self):
        parts = [self.scenario]
        if self.label != self.scenario:
            parts.append(self.label)
        if self.encoding != "identity" and self.encoding != UNKNOWN:
            parts.append(self.encoding)
        if self.http != "2":
            parts.append("http" + self.http)
        return "-".join(parts)


class Report:
    """Collects problems; `notes` are remarks that -v shows."""

    def __init__(self):
        self.problems = []
        self.notes = []

    def equal(self, what, got, want):
        if got != want or isinstance(got, bool) != isinstance(want, bool):
            self.problems.append(f"{what} is {got!r}, not {want!r}")

    def true(self, what, condition):
        if not condition:
            self.problems.append(what)

    def among(self, what, got, wanted):
        if got not in wanted:
            names = ", ".join(repr(w) for w in wanted)
            self.problems.append(f"{what} is {got!r}, not one of {names}")


class Wire:
    """The events of one connection, by kind and stream."""

    def __init__(self, conn, events):
        self.kinds = {}
        self.streams = {}
        self.order = {}
        for number, event in enumerate(events):
            if event.get("conn") == conn:
                kind, stream = event["event"], event.get("stream")
                self.order[id(event)] = number
                self.kinds.setdefault(kind, []).append(event)
                self.streams.setdefault((kind, stream), []).append(event)

    def of(self, kind, stream=None):
        if stream is None:
            return self.kinds.get(kind, [])
        return self.streams.get((kind, stream), [])

    def before(self, event, other):
        """Whether `event` was written earlier."""
        return self.order[id(event)] < self.order[id(other)]

    def calls(self):
        return sorted(self.of("call"), key=lambda e: e["stream"])

    def messages(self, stream, side):
        found = [e for e in self.of("message", stream) if e["from"] == side]
        return sorted(found, key=lambda e: e["index"])

    def frames(self, side, stream=None):
        return [e for e in self.of("frame", stream) if e["from"] == side]

    def notices(self, stream=None):
        return self.of("notice", stream)


def frame_bytes(frames):
    return sum(FRAME_HEADER + f["length"] for f in frames)


def is_ack(frame):
    """Whether a PING frame is an answer: `flags` is a number or names."""
    flags = frame["flags"]
    return bool(flags & 1) if isinstance(flags, int) else "ACK" in flags


def timeout_us(value):
    """Microseconds of a grpc-timeout, or None when it is not one."""
    match = re.fullmatch(r"(\d{1,8})([HMSmun])", value or "")
    if not match:
        return None
    unit = {"H": 3.6e9, "M": 6e7, "S": 1e6, "m": 1e3, "u": 1, "n": 1e-3}
    return int(match[1]) * unit[match[2]]


def listed(value):
    """The tokens of a grpc-accept-encoding."""
    return [t.strip() for t in (value or "").split(",") if t.strip()]


def response_encoding(case, accept):
    """The codec the server is to use, or None."""
    how = SERVERS[case.server]
    if how == "none":
        return None
    if how == "asked":
        return None if case.encoding == "identity" else case.encoding
    return next((name for name in listed(accept) if name in how), None)


# --- messages and directions -------------------------------------------------

def check_message(report, where, event, size, encoding):
    """One `message` event against the size the program saw."""
    known = encoding != UNKNOWN
    report.among(f"{where}.flag", event["flag"], (0, 1))
    report.equal(f"{where}.compressed", event["compressed"],
                 event["flag"] == 1)
    report.true(f"{where}: no DATA frame carried it", event["frames"] >= 1)
    report.true(f"{where}: its first byte came after its last",
                0 <= event["first_byte_at_us"] <= event["at_us"])
    if not event["compressed"]:
        report.equal(f"{where}.length", event["length"], size)
        report.equal(f"{where}.decoded_length", event["decoded_length"], size)
        report.equal(f"{where}.encoding", event["encoding"], None)
    elif known:
        report.equal(f"{where}.decoded_length", event["decoded_length"], size)
        report.equal(f"{where}.encoding", event["encoding"], encoding)
    else:
        report.equal(f"{where}.length", event["length"], size)
        report.equal(f"{where}.decoded_length", event["decoded_length"], None)
        report.among(f"{where}.encoding", event["encoding"], (None, UNKNOWN))


def compression_of(messages, encoding):
    """The values `compression` may have for these messages."""
    flagged = sum(1 for m in messages if m["compressed"])
    if messages and flagged == len(messages):
        return ("full",)
    if flagged:
        return ("mixed",)
    if encoding in (None, "identity"):
        return ("none",)
    # Of a direction without messages the contract says neither.
    return ("unused",) if messages else ("unused", "none")


def check_ledger(report, where, side):
    """wire = framing + header block + padding + control + body, and so on."""
    parts = ("framing_bytes", "header_block_bytes", "padding_bytes",
             "control_bytes", "body_bytes")
    report.equal(f"{where}: the sum of {' + '.join(parts)}",
                 sum(side[p] for p in parts), side["wire_bytes"])
    parts = ("prefix_bytes", "message_bytes", "truncated_bytes",
             "trailer_bytes", "base64_bytes")
    report.equal(f"{where}: the sum of {' + '.join(parts)}",
                 sum(side[p] for p in parts), side["body_bytes"])


def check_web(report, where, call, name, rpc):
    """What gRPC-Web adds to a body: trailers, and base64."""
    side = call[name]
    ended = name == "response" and call["end"] == "complete"
    is_web = rpc != "grpc" and rpc in (side["content_type"] or "")
    if not is_web or not ended or call["trailers_only"]:
        report.equal(f"{where}.trailer_bytes", side["trailer_bytes"], 0)
    else:
        report.true(f"{where}.trailer_bytes is {side['trailer_bytes']}",
                    side["trailer_bytes"] > len("\x80....grpc-status:0"))
    inside = side["body_bytes"] - side["base64_bytes"]
    # The request is one piece of base64; of the response each frame is, and
    # each piece may be padded with two characters.
    least = (inside + 2) // 3 * 4
    most = least + 4 * side["frames"] if name == "response" else least
    if rpc != "grpc-web-text":
        report.equal(f"{where}.base64_bytes", side["base64_bytes"], 0)
    elif inside > 0:
        report.true(f"{where}: {inside} bytes in {side['body_bytes']}"
                    " characters", least <= side["body_bytes"] <= most)


def check_direction(report, where, side, messages, sizes, protocol):
    """A direction of a `call` against its messages and the program's sizes."""
    encoding = side["grpc_encoding"]
    report.equal(f"{where}: the number of message events", len(messages),
                 len(sizes))
    report.equal(f"{where}: the messages' index",
                 [m["index"] for m in messages], list(range(len(messages))))
    for message, size in zip(messages, sizes):
        check_message(report, f"{where}[{message['index']}]", message, size,
                      encoding)
    report.equal(f"{where}.messages", side["messages"], len(sizes))
    report.equal(f"{where}.compressed_messages", side["compressed_messages"],
                 sum(1 for m in messages if m["compressed"]))
    report.among(f"{where}.compression", side["compression"],
                 compression_of(messages, encoding))
    report.equal(f"{where}.message_bytes", side["message_bytes"],
                 sum(m["length"] for m in messages))
    report.equal(f"{where}.prefix_bytes", side["prefix_bytes"],
                 5 * len(sizes))
    report.equal(f"{where}.truncated_bytes", side["truncated_bytes"], 0)
    unknown = encoding == UNKNOWN and any(m["compressed"] for m in messages)
    report.equal(f"{where}.decoded_bytes", side["decoded_bytes"],
                 None if unknown else sum(sizes))
    check_ledger(report, where, side)
    # Of gRPC-Web over HTTP/1.1 there are chunks instead.
    if protocol == "h2":
        report.equal(f"{where}.framing_bytes", side["framing_bytes"],
                     FRAME_HEADER * side["frames"])


def check_codecs(report, case, where, call):
    """Which codec was declared and used, against what was asked for."""
    request, response = call["request"], call["response"]
    wanted = (None, "identity")
    if case.encoding != "identity":
        wanted = (case.encoding,)
    report.among(f"{where}.request.grpc_encoding", request["grpc_encoding"],
                 wanted)
    # A stack may send a message that would not shrink as it is.
    if case.shrinks:
        report.equal(f"{where}.request.compressed_messages",
                     request["compressed_messages"],
                     0 if case.encoding == "identity" else request["messages"])
    if not response["messages"]:
        return
    accept = request["grpc_accept_encoding"]
    chosen = response_encoding(case, accept)
    report.among(f"{where}.response.grpc_encoding", response["grpc_encoding"],
                 (chosen,) if chosen else (None, "identity"))
    if chosen:
        report.true(f"{where}.request.grpc_accept_encoding is {accept!r},"
                    f" without {chosen}", chosen in listed(accept))
    if case.shrinks:
        report.equal(f"{where}.response.compressed_messages",
                     response["compressed_messages"],
                     response["messages"] if chosen else 0)


def header_fields(event):
    """The ordered [name, value] pairs of a `headers` event."""
    for value in event.values():
        if isinstance(value, list) and value and all(
                isinstance(f, list) and len(f) == 2 for f in value):
            return [tuple(f) for f in value]
    return []


def check_headers(report, where, wire, call):
    """The call's facts against its header blocks, but for late ones."""
    for name, side, _ in DIRECTIONS:
        blocks = [header_fields(e)
                  for e in wire.of("headers", call["stream"])
                  if e["from"] == side and wire.before(e, call)]
        fields = [f for block in blocks for f in block]
        for header in ("grpc-encoding", "grpc-accept-encoding"):
            values = [v for n, v in fields if n == header]
            report.equal(f"{where}.{name}.{header.replace('-', '_')}",
                         listed(call[name][header.replace("-", "_")]),
                         listed(",".join(values)))
        if name == "request":
            # In HTTP/1.1 it is in no field.
            if call["protocol"] == "h2":
                report.equal(f"{where}.path", call["path"],
                             dict(fields).get(":path"))
        else:
            message = dict(fields).get("grpc-message")
            # Trailers in a body are no header block.
            if message is not None or not call[name]["trailer_bytes"]:
                report.equal(f"{where}.grpc_message", call["grpc_message"],
                             message and urllib.parse.unquote(message))
        if call["end"] == "complete":
            report.equal(f"{where}: {name} header_list_bytes",
                         call[name]["header_list_bytes"],
                         sum(len(n.encode()) + len(v.encode())
                             for n, v in fields))


# --- calls -------------------------------------------------------------------

def check_kind(report, where, call, line):
    requests = len(line["request_sizes"])
    responses = len(line["response_sizes"])
    if not responses:
        # What was not answered has no kind, or the one of its request.
        report.among(f"{where}.kind", call["kind"], ("unary", None))
        return
    if call["end"] != "complete":
        return
    want = {(False, False): "unary", (True, False): "client_streaming",
            (False, True): "server_streaming", (True, True): "bidi_streaming"}
    report.equal(f"{where}.kind", call["kind"],
                 want[(requests > 1, responses > 1)])


def check_timing(report, where, call):
    timing = call["timing"]
    report.true(f"{where}: duration_us {call['duration_us']} is negative",
                call["duration_us"] >= 0)
    order = ["response_headers_us", "first_message_us", "last_message_us"]
    known = [(n, timing[n]) for n in order if timing[n] is not None]
    known.append(("duration_us", call["duration_us"]))
    for (name, value), (after, later) in zip(known, known[1:]):
        report.true(f"{where}: {name} {value} is after {after} {later}",
                    value <= later)
    if timing["request_end_us"] is not None:
        report.true(f"{where}: request_end_us is after the call's end",
                    timing["request_end_us"] <= call["duration_us"])


def check_complete(report, where, call, line):
    """A call that its server ended."""
    status = line["status"]
    report.equal(f"{where}.end", call["end"], "complete")
    report.among(f"{where}.reset_code", call["reset_code"],
                 (None, "NO_ERROR"))
    report.equal(f"{where}.http_status", call["http_status"], 200)
    report.equal(f"{where}.grpc_status", call["grpc_status"], status)
    report.equal(f"{where}.grpc_status_name", call["grpc_status_name"],
                 NAMES.get(status))
    # With OK a server may send a message, which no API shows; check_headers
    # has that.
    if status != OK_STATUS:
        report.equal(f"{where}.grpc_message", call["grpc_message"] or "",
                     line["message"])


def check_reset(report, where, call, by="client", code="CANCEL"):
    """A call that was reset before it had a status."""
    report.equal(f"{where}.end", call["end"], f"reset_by_{by}")
    report.equal(f"{where}.reset_code", call["reset_code"], code)
    report.equal(f"{where}.grpc_status", call["grpc_status"], None)
    report.equal(f"{where}.grpc_status_name", call["grpc_status_name"], None)
    # Without a response there is nothing to be known about its form.
    report.equal(f"{where}.trailers_only", call["trailers_only"],
                 None if call["http_status"] is None else False)


def check_cancel(report, where, wire, call):
    """Node ends a stream in order before it resets it: a quick server may
    have answered in between, and the reset is late then."""
    late = [f for f in wire.frames("client", call["stream"])
            if f["type"] == "RST_STREAM" and wire.before(call, f)]
    if call["end"] == "complete" and late:
        report.notes.append("the server answered before the client reset")
        return
    check_reset(report, where, call)


def check_deadline(report, case, where, wire, call, line):
    """Server and client both know the deadline; the wire has who was first."""
    timeout = timeout_us(call["grpc_timeout"])
    report.true(f"{where}.grpc_timeout is {call['grpc_timeout']!r}, not about"
                f" {DEADLINE_US} us", timeout is not None
                and DEADLINE_US / 2 < timeout <= DEADLINE_US + 1000)
    # tonic's own word for a deadline that passed is CANCELLED.
    report.among("the client's status", line["status"], (1, 4))
    if call["end"] == "complete":
        report.among(f"{where}.grpc_status", call["grpc_status"], (1, 4))
        report.notes.append("the server answered before the client reset")
        return
    # grpc-go's server resets, too.
    first = next((f["from"] for f in wire.of("frame", call["stream"])
                  if f["type"] == "RST_STREAM"), "client")
    report.notes.append(f"the {first} reset the call")
    code = "CANCEL"
    if first == "client":
        code = DEADLINE_CODES.get(case.client, code)
    check_reset(report, where, call, first, code)
    given = [n for n in wire.notices(call["stream"])
             if n["code"] == "deadline_exceeded"]
    if timeout is None or first != "client" or code != "CANCEL":
        return
    if call["duration_us"] >= timeout:
        report.equal(f"{where}: the number of deadline_exceeded notices",
                     len(given), 1)
    else:
        report.notes.append(
            f"that was after {call['duration_us']} us, before its"
            f" grpc-timeout {call['grpc_timeout']}: no notice is due")


def check_trailers_only(report, where, wire, call):
    """trailers_only against the frames: one HEADERS of the server, no DATA."""
    frames = wire.frames("server", call["stream"])
    kinds = [f["type"] for f in frames]
    alone = kinds.count("HEADERS") == 1 and "DATA" not in kinds
    if call["rpc"] != "grpc":
        alone = not any(f["length"] for f in frames if f["type"] == "DATA")
    if call["end"] == "complete":
        report.equal(f"{where}.trailers_only", call["trailers_only"], alone)


def came_late(wire, call):
    """Whether a server that had already answered, and said with RST_STREAM
    that it wants no more, was sent DATA all the same: not the call's, then."""
    return call["reset_code"] == "NO_ERROR" and any(
        frame["type"] == "DATA" and wire.before(call, frame)
        for frame in wire.frames("client", call["stream"]))


def check_call(report, case, wire, call, line):
    where = f"call {call['stream']}"
    report.equal(f"{where}.path", call["path"], line["method"])
    for name, want in (("method", "POST"), ("protocol", case.protocol),
                       ("rpc", case.rpc)):
        report.equal(f"{where}.{name}", call[name], want)
    if case.protocol == "h2":
        report.equal(f"{where}.scheme", call["scheme"], "http")
    report.true(f"{where}.content_type is {call['content_type']!r}",
                (call["content_type"] or "").startswith("application/grpc"))
    for name, side, _ in DIRECTIONS:
        messages = wire.messages(call["stream"], side)
        sizes = line[f"{name}_sizes"]
        if name == "request" and came_late(wire, call):
            sizes = sizes[:len(messages)]
        check_direction(report, f"{where}.{name}", call[name], messages,
                        sizes, case.protocol)
        check_web(report, f"{where}.{name}", call, name, case.rpc)
        for message in messages:
            report.equal(f"{where}: a message's path", message["path"],
                         call["path"])
    check_codecs(report, case, where, call)
    check_kind(report, where, call, line)
    check_timing(report, where, call)
    if case.protocol == "h2":
        check_trailers_only(report, where, wire, call)
    if wire.of("headers"):
        check_headers(report, where, wire, call)
    if case.scenario == "deadline":
        check_deadline(report, case, where, wire, call, line)
    elif case.scenario == "cancel":
        check_cancel(report, where, wire, call)
    else:
        check_complete(report, where, call, line)


def check_lines(report, case, lines):
    """The client's own lines against what the scenario is."""
    count = case.count if case.scenario in ("unary", "many") else 1
    report.equal("the number of the client's lines", len(lines), count)
    status = {"status": 9, "trailers_only": 12,
              "unknown_encoding": UNKNOWN_STATUS.get(case.server, 12),
              "cancel": 1}.get(case.scenario, OK_STATUS)
    wanted = {"client_stream": (case.count, 1), "bidi": (case.count,) * 2,
              "server_stream": (1, case.count), "status": (1, 0),
              "trailers_only": (1, 0), "deadline": (1, 0),
              "unknown_encoding": (1, 0)}.get(case.scenario, (1, 1))
    for line in lines:
        if case.scenario != "deadline":
            report.equal("the client's status", line["status"], status)
        report.equal("the client's encoding", line["encoding"], case.encoding)
        sizes = line["request_sizes"], line["response_sizes"]
        report.equal("the client's requests and responses",
                     tuple(map(len, sizes)), wanted)
        report.true(f"the client sent {sizes[0]}, payloads of {case.size}",
                    all(size >= case.size for size in sizes[0] + sizes[1]))
        if case.scenario == "status":
            report.equal("the client's message", line["message"],
                         STATUS_MESSAGE)
        if case.scenario == "trailers_only":
            report.true(f"{line['method']} is not NoSuchMethod",
                        line["method"].endswith("/NoSuchMethod"))


# --- notices -----------------------------------------------------------------

def check_required(report, what, notices, code, want):
    got = sum(1 for n in notices if n["code"] == code)
    report.equal(f"{what}: the number of {code} notices", got, want)


def check_unknown(report, wire, call):
    if came_late(wire, call) and not call["request"]["messages"]:
        return
    notices = wire.notices(call["stream"])
    check_required(report, "unknown encoding", notices, "codec_unavailable",
                   1)
    check_required(report, "unknown encoding", notices,
                   "request_encoding_rejected",
                   1 if call["grpc_status"] == 12 else 0)
    for notice in notices:
        if notice["code"] in ("codec_unavailable",
                              "request_encoding_rejected"):
            report.equal(f"{notice['code']}.encoding", notice["encoding"],
                         UNKNOWN)
        if notice["code"] == "request_encoding_rejected":
            report.equal("request_encoding_rejected.accept_encoding",
                         notice["accept_encoding"],
                         call["response"]["grpc_accept_encoding"])


def check_inflated(report, wire, call):
    """compression_inflated where, and only where, a message grew."""
    grown = 0
    for _, side, _ in DIRECTIONS:
        grown += any(m["compressed"] and m["decoded_length"] is not None
                     and m["length"] > m["decoded_length"]
                     for m in wire.messages(call["stream"], side))
    check_required(report, f"call {call['stream']}",
                   wire.notices(call["stream"]), "compression_inflated",
                   grown)


def check_pings(report, wire, notice):
    """An unanswered PING must have fewer answers than there were PINGs."""
    pings = {side: [f for f in wire.frames(side) if f["type"] == "PING"]
             for side in ("client", "server")}
    asked = {side: sum(not is_ack(f) for f in found)
             for side, found in pings.items()}
    answered = {"client": len(pings["server"]) - asked["server"],
                "server": len(pings["client"]) - asked["client"]}
    report.true(f"ping_unanswered, but all PINGs have an ACK: {notice}",
                any(asked[side] > answered[side] for side in asked))


def check_notices(report, case, wire):
    allowed = ALLOWED_ALWAYS | ALLOWED.get(case.label, set())
    # tonic watches the deadline outside of its gRPC-Web layer, and answers as
    # plain gRPC when it has passed.
    if case.server in WEB and case.scenario == "deadline":
        allowed = allowed | {"content_type_mismatch"}
    for notice in wire.notices():
        report.among("severity of a notice", notice["severity"],
                     ("info", "warning", "error"))
        if notice["severity"] != "info" and notice["code"] not in allowed:
            report.problems.append(
                f"notice {notice['code']} ({notice['severity']}):"
                f" {notice['detail']}")
        if notice["code"] == "ping_unanswered":
            check_pings(report, wire, notice)
    for call in wire.calls():
        check_inflated(report, wire, call)
        if case.scenario == "unknown_encoding":
            check_unknown(report, wire, call)
        if case.scenario == "large":
            report.true("large: no message_over_4mib notice", any(
                n["code"] == "message_over_4mib"
                for n in wire.notices(call["stream"])))


# --- connections -------------------------------------------------------------

def check_frames(report, where, wire, side, ledger):
    """`frames` and the calls' bytes against the `frame` events."""
    seen = {}
    for frame in wire.frames(side):
        entry = seen.setdefault(frame["type"], {"count": 0, "bytes": 0})
        entry["count"] += 1
        entry["bytes"] += FRAME_HEADER + frame["length"]
    told = {name: {"count": f["count"], "bytes": f["bytes"]}
            for name, f in ledger["frames"].items() if f["count"]}
    report.equal(f"{where}.frames", told, seen)


def check_late(report, where, wire, name, side, ledger):
    """Bytes of streams with a call are the call's or late, never lost."""
    late = 0
    for call in wire.calls():
        total = frame_bytes(wire.frames(side, call["stream"]))
        extra = total - call[name]["wire_bytes"]
        report.true(f"call {call['stream']}: {name}.wire_bytes is"
                    f" {call[name]['wire_bytes']}, its frames have {total}",
                    extra >= 0)
        late += extra
    report.equal(f"{where}.late_bytes", ledger["late_bytes"], late)


def check_connection(report, case, wire):
    closed = wire.of("connection_close")
    report.equal("the number of connection_open events",
                 len(wire.of("connection_open")), 1)
    report.equal("the number of connection_close events", len(closed), 1)
    if len(closed) != 1:
        return
    closed, calls = closed[0], wire.calls()
    report.equal("connection_close.protocol", closed["protocol"],
                 case.protocol)
    # A stack that leaves with bytes unread resets the connection, and so does
    # its system: then the tap says what it met.
    if closed["reason"] in ("client_closed", "server_closed"):
        report.equal("connection_close.error", closed["error"], None)
    else:
        report.among("connection_close.reason", closed["reason"],
                     ("client_reset", "server_reset"))
        report.true("connection_close.error is empty", closed["error"])
    report.equal("connection_close.calls", closed["calls"], len(calls))
    report.true("a stream has two call events",
                len({c["stream"] for c in calls}) == len(calls))
    for name, side, direction in DIRECTIONS:
        ledger = closed[direction]
        parts = ("call_bytes", "connection_bytes", "late_bytes",
                 "undecoded_bytes")
        report.equal(f"{direction}: the sum of {' + '.join(parts)}",
                     sum(ledger[p] for p in parts), ledger["bytes"])
        report.equal(f"{direction}.call_bytes", ledger["call_bytes"],
                     sum(c[name]["wire_bytes"] for c in calls))
        report.equal(f"{direction}.undecoded_bytes",
                     ledger["undecoded_bytes"], 0)
        if case.protocol != "h2":
            continue
        preface = PREFACE if side == "client" else 0
        report.equal(f"{direction}: preface and the sum of frames",
                     preface + sum(f["bytes"] for f
                                   in ledger["frames"].values())
                     + ledger["undecoded_bytes"], ledger["bytes"])
        if wire.of("frame"):
            check_frames(report, direction, wire, side, ledger)
            check_late(report, direction, wire, name, side, ledger)


def check_conn(report, case, wire, lines):
    """One connection; takes the lines of its calls from `lines`."""
    calls = wire.calls()
    report.equal("the number of calls", len(calls), len(lines))
    # One call after the other: streams and lines come in the same order. In
    # `many` they do not, but there the lines are alike.
    for call in calls:
        if lines:
            check_call(report, case, wire, call, lines.pop(0))
    check_connection(report, case, wire)
    check_notices(report, case, wire)


def check_case(case, lines, events):
    """The events of a client's connections; returns a Report."""
    report = Report()
    conns = sorted({e["conn"] for e in events
                    if e["event"] == "connection_open"})
    report.equal("the number of connections", len(conns), 1)
    try:
        check_lines(report, case, lines)
        left = list(lines)
        for conn in conns:
            check_conn(report, case, Wire(conn, events), left)
    except (KeyError, TypeError, AttributeError) as error:
        report.problems.append(
            f"a line or an event is not of the contract's shape: {error!r}"
            f" in {traceback.extract_tb(error.__traceback__)[-1].name}")
    return report


def check_run(events, status):
    """The frame of a run: start first, stop last, nothing dropped."""
    report = Report()
    report.equal("the tap's exit status", status, 0)
    kinds = [e["event"] for e in events]
    report.equal("the first event", kinds[:1], ["start"])
    report.equal("the last event", kinds[-1:], ["stop"])
    report.equal("the number of dropped events", kinds.count("dropped"), 0)
    report.equal("connections opened and not closed",
                 kinds.count("connection_open")
                 - kinds.count("connection_close"), 0)
    if not report.problems:
        for name, kind in (("connections", "connection_close"),
                           ("calls", "call"), ("messages", "message")):
            if name in events[-1]:
                report.equal(f"stop.{name}", events[-1][name],
                             kinds.count(kind))
    return report
