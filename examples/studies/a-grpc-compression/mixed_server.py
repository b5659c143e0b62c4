# SPDX-License-Identifier: MIT
"""An echo server on grpcio that decides for each message of a stream whether
to compress it: grpcio can, grpc-go cannot."""

import signal
import threading
from concurrent import futures

import grpc

import echo_pb2
import echo_pb2_grpc

# Below this gzip gains little or nothing.
SMALLEST = 1024


class Echo(echo_pb2_grpc.EchoServicer):
    def BidiStream(self, request_iterator, context):
        context.set_compression(grpc.Compression.Gzip)
        for request in request_iterator:
            if len(request.payload) < SMALLEST:
                context.disable_next_message_compression()
            yield echo_pb2.EchoResponse(payload=request.payload)


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    echo_pb2_grpc.add_EchoServicer_to_server(Echo(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    server.start()
    print(f"listening {port}", flush=True)
    stop.wait()
    server.stop(grace=None).wait()


if __name__ == "__main__":
    main()
