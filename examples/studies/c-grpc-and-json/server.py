# SPDX-License-Identifier: MIT
"""The gRPC server of this study on grpcio."""

import signal
import threading
from concurrent import futures

import grpc

from item_pb2 import Item


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
        "grpctap.studies.v1.Items",
        {"Echo": grpc.unary_unary_rpc_method_handler(
            lambda request, context: request,
            request_deserializer=Item.FromString,
            response_serializer=Item.SerializeToString)})])
    port = server.add_insecure_port("127.0.0.1:0")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    server.start()
    print(f"listening {port}", flush=True)
    stop.wait()
    server.stop(grace=None).wait()


if __name__ == "__main__":
    main()
