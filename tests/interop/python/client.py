# SPDX-License-Identifier: MIT
"""The echo client on grpcio: one scenario, one connection, a JSON line a call.

The stubs are used without serializers, so that a message is bytes here and its
length is the serialized length to report.
"""

import argparse
import json
import queue
import sys
import threading

import grpc

from echo_pb2 import EchoRequest, EchoResponse

SERVICE = "/grpctap.echo.v1.Echo/"
LIMIT = 64 * 1024 * 1024
LARGE = 20 * 1024 * 1024
IN_FLIGHT = 64
DEADLINE_S = 0.150
CONNECT_S = 30
DELAY_MS = 2000
STATUS_CODE = 9
STATUS_MESSAGE = "größer als 100 %: 値"
TEXT = b'{"name":"grpctap","kind":"echo","values":[1,2,3,5,8],"ok":true},'

CODECS = {
    "identity": grpc.Compression.NoCompression,
    "gzip": grpc.Compression.Gzip,
    "deflate": grpc.Compression.Deflate,
}

CANNOT = {
    "unknown_encoding": "the C core replaces any grpc-encoding given as "
    "metadata and sets the flag only for its own deflate and gzip",
}


class Failure(Exception):
    """A response is missing or is not the echo of its request.

    A call that ends with a status other than OK is no failure here: the status
    is in its line, and the reader knows which one the scenario asks for.
    """


def payload(size, index):
    """`size` bytes that shrink under every codec; 8 digits tell them apart."""
    head = b"%08d" % index
    body = TEXT * (size // len(TEXT) + 1)
    return (head + body)[:size]


class Call:
    """What one call sent and received, and how it ended."""

    def __init__(self, method, encoding):
        self.method = SERVICE + method
        self.encoding = encoding
        self.request_sizes = []
        self.response_sizes = []
        self.code = None
        self.message = ""

    def pack(self, request):
        data = request.SerializeToString()
        self.request_sizes.append(len(data))
        return data

    def unpack(self, data):
        self.response_sizes.append(len(data))
        return EchoResponse.FromString(data)

    def end(self, rpc):
        """Takes status and message from the API; blocks until there are."""
        self.code = rpc.code().value[0]
        self.message = rpc.details() or ""

    def line(self):
        return json.dumps(
            {
                "method": self.method,
                "status": self.code,
                "message": self.message,
                "encoding": self.encoding,
                "request_sizes": self.request_sizes,
                "response_sizes": self.response_sizes,
            },
            ensure_ascii=False,
        )


class Client:
    """The scenarios; each method named as in the README."""

    def __init__(self, channel, args):
        self.channel = channel
        self.encoding = args.encoding
        self.size = args.size
        self.count = args.count

    def call(self, method):
        return Call(method, self.encoding)

    def request(self, index=0, **fields):
        # The codec is asked for, since not every server answers with the
        # request's own.
        if self.encoding != "identity":
            fields["response_encoding"] = self.encoding
        return EchoRequest(payload=payload(self.size, index), **fields)

    def report(self, call):
        print(call.line(), flush=True)

    def unary_call(self, method, request, timeout=None):
        """One unary call, begun; finish_unary ends it."""
        call = self.call(method)
        stub = self.channel.unary_unary(call.method)
        rpc = stub.future(call.pack(request), timeout=timeout)
        return call, request, rpc

    def finish_unary(self, call, request, rpc):
        """Awaits the end of a call with one response, and returns that."""
        call.end(rpc)
        response = None
        if call.code == 0:
            response = call.unpack(rpc.result())
        self.report(call)
        if response is not None:
            expect_echo(call, request, response)
        return response

    def unary(self):
        for index in range(self.count):
            call = self.unary_call("Unary", self.request(index))
            self.finish_unary(*call)

    def large(self):
        self.finish_unary(*self.unary_call("Unary", self.request()))

    def status(self):
        request = self.request(
            status_code=STATUS_CODE, status_message=STATUS_MESSAGE
        )
        self.finish_unary(*self.unary_call("Unary", request))

    def trailers_only(self):
        self.finish_unary(*self.unary_call("NoSuchMethod", self.request()))

    def deadline(self):
        request = self.request(delay_ms=DELAY_MS)
        self.finish_unary(*self.unary_call("Unary", request, DEADLINE_S))

    def client_stream(self):
        call = self.call("ClientStream")
        requests = [self.request(index) for index in range(self.count)]
        stub = self.channel.stream_unary(call.method)
        rpc = stub.future(map(call.pack, requests))
        response = self.finish_unary(call, requests[-1], rpc)
        total = sum(len(request.payload) for request in requests)
        if response is not None and response.total != total:
            raise Failure(f"total is {response.total}, sent were {total}")

    def server_stream(self):
        call = self.call("ServerStream")
        request = self.request(count=self.count)
        rpc = self.channel.unary_stream(call.method)(call.pack(request))
        responses = []
        try:
            for data in rpc:
                responses.append(call.unpack(data))
        except grpc.RpcError:
            pass
        call.end(rpc)
        self.report(call)
        for response in responses:
            expect_echo(call, request, response)
        if call.code == 0 and len(responses) != self.count:
            raise Failure(f"{len(responses)} responses of {self.count}")

    def bidi_call(self, count, finish):
        """`count` requests in lock step; `finish` then ends the call."""
        call = self.call("BidiStream")
        outgoing = queue.SimpleQueue()
        stub = self.channel.stream_stream(call.method)
        rpc = stub(iter(outgoing.get, None))
        try:
            for index in range(count):
                request = self.request(index)
                outgoing.put(call.pack(request))
                response = call.unpack(next(rpc))
                expect_echo(call, request, response)
            finish(rpc, outgoing)
            for data in rpc:
                call.unpack(data)
                raise Failure("BidiStream: a response too many")
        except grpc.RpcError:
            pass
        except StopIteration:
            raise Failure("BidiStream: the server ended the call early")
        finally:
            rpc.cancel()
            # Frees the thread that waits for requests; the call is over, so
            # this half-close reaches no wire.
            outgoing.put(None)
        call.end(rpc)
        self.report(call)

    def bidi(self):
        self.bidi_call(self.count, lambda _, outgoing: outgoing.put(None))

    def cancel(self):
        self.bidi_call(1, lambda rpc, _: rpc.cancel())

    def many(self):
        slots = threading.Semaphore(IN_FLIGHT)
        running = []
        for index in range(self.count):
            slots.acquire()
            call = self.unary_call("Unary", self.request(index))
            call[2].add_done_callback(lambda _: slots.release())
            running.append(call)
        for call in running:
            self.finish_unary(*call)


def expect_echo(call, request, response):
    if response.payload != request.payload:
        raise Failure(f"{call.method}: the response does not echo the payload")


SCENARIOS = (
    "unary client_stream server_stream bidi status trailers_only deadline "
    "cancel unknown_encoding large many"
).split()


def parse_args():
    parser = argparse.ArgumentParser(prog="client")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("target", nargs="?")
    parser.add_argument("scenario", nargs="?", choices=SCENARIOS)
    parser.add_argument("--encoding", default="identity", choices=CODECS)
    parser.add_argument("--size", type=int)
    parser.add_argument("--count", type=int)
    args = parser.parse_args()
    if not args.list and args.scenario is None:
        parser.error("TARGET and SCENARIO are needed")
    if args.count is None:
        args.count = 1000 if args.scenario == "many" else 1
    if args.size is None:
        args.size = LARGE if args.scenario == "large" else 1000
    if args.count < 1 or args.size < 0:
        parser.error("--count is at least 1 and --size at least 0")
    return args


def print_list():
    for name in CODECS:
        print(name)
    for scenario, reason in CANNOT.items():
        print(f"cannot {scenario} {reason}")


def main():
    args = parse_args()
    if args.list:
        print_list()
        return 0
    if args.scenario in CANNOT:
        print(f"client: cannot {args.scenario}: {CANNOT[args.scenario]}",
              file=sys.stderr)
        return 1
    options = [
        ("grpc.max_receive_message_length", LIMIT),
        ("grpc.max_send_message_length", LIMIT),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
    ]
    with grpc.insecure_channel(
        args.target, options=options, compression=CODECS[args.encoding]
    ) as channel:
        try:
            # A deadline is meant for the call, not for the set-up.
            grpc.channel_ready_future(channel).result(CONNECT_S)
            getattr(Client(channel, args), args.scenario)()
        except grpc.FutureTimeoutError:
            print(f"client: no connection to {args.target}", file=sys.stderr)
            return 1
        except Failure as error:
            print(f"client: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
