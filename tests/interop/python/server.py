# SPDX-License-Identifier: MIT
"""The echo server on grpcio.

Owns nothing but the service; what a request asks for is in
examples/echo.proto.
"""

import signal
import sys
import threading
from concurrent import futures

import grpc

import echo_pb2
import echo_pb2_grpc

LIMIT = 64 * 1024 * 1024

# Room for the 64 calls of the `many` scenario at once, so that calls wait for
# the wire and not for a thread.
WORKERS = 72

CODECS = {
    "identity": grpc.Compression.NoCompression,
    "deflate": grpc.Compression.Deflate,
    "gzip": grpc.Compression.Gzip,
}

CODES = {code.value[0]: code for code in grpc.StatusCode}


def wait(seconds, context):
    """Waits, but not longer than the client does."""
    over = threading.Event()
    if context.add_callback(over.set):
        over.wait(seconds)


def prepare(request, context, first=True):
    """Does what the request asks for before an answer: delay, status, codec.

    grpcio does not tell a handler the request's grpc-encoding, so the codec of
    the answer can only follow `response_encoding`. It is fixed once the
    response headers are out, hence `first`.
    """
    if request.delay_ms:
        wait(request.delay_ms / 1000, context)
    if request.status_code:
        code = CODES.get(request.status_code, grpc.StatusCode.UNKNOWN)
        context.abort(code, request.status_message)
    if first and request.response_encoding in CODECS:
        context.set_compression(CODECS[request.response_encoding])


class Echo(echo_pb2_grpc.EchoServicer):
    """The service of examples/echo.proto."""

    def Unary(self, request, context):
        prepare(request, context)
        return echo_pb2.EchoResponse(payload=request.payload)

    def ClientStream(self, request_iterator, context):
        total = 0
        payload = b""
        for request in request_iterator:
            prepare(request, context)
            total += len(request.payload)
            payload = request.payload
        return echo_pb2.EchoResponse(payload=payload, total=total)

    def ServerStream(self, request, context):
        prepare(request, context)
        for _ in range(request.count):
            yield echo_pb2.EchoResponse(payload=request.payload)

    def BidiStream(self, request_iterator, context):
        first = True
        for request in request_iterator:
            prepare(request, context, first)
            first = False
            yield echo_pb2.EchoResponse(payload=request.payload)


def main():
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=WORKERS),
        options=[
            ("grpc.max_receive_message_length", LIMIT),
            ("grpc.max_send_message_length", LIMIT),
            ("grpc.so_reuseport", 0),
        ],
    )
    echo_pb2_grpc.add_EchoServicer_to_server(Echo(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    server.start()
    print(f"listening {port}", flush=True)
    stop.wait()
    server.stop(grace=None).wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
