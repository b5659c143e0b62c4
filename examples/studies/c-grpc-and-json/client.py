# SPDX-License-Identifier: MIT
"""The client of this study in Python: grpcio, or http.client of the standard
library. One connection, calls one after the other, an echo expected of each.

Usage: client.py grpc|http1 SIZE COUNT TARGET"""

import base64
import http.client
import json
import random
import sys
import time

import grpc

from item_pb2 import Item

PAYLOADS = {"small": 0, "medium": 1 << 10, "large": 64 << 10}
SETTLE = 0.03


def item(size):
    made = Item(id="1042", name="usb keypad", count=42)
    if PAYLOADS[size]:
        made.tags.extend(f"tag-{i}" for i in range(10))
        made.payload = random.Random(1).randbytes(PAYLOADS[size])
    return made


def over_grpc(target, sent, count):
    with grpc.insecure_channel(
            target, options=[("grpc.enable_http_proxy", 0)]) as channel:
        call = channel.unary_unary(
            "/grpctap.studies.v1.Items/Echo",
            request_serializer=Item.SerializeToString,
            response_deserializer=Item.FromString)
        for _ in range(count):
            if call(sent) != sent:
                sys.exit("the response is no echo")
            time.sleep(SETTLE)


def over_http(target, sent, count):
    whole = {"id": sent.id, "name": sent.name, "count": sent.count,
             "tags": list(sent.tags) or None,
             "payload": base64.b64encode(sent.payload).decode() or None}
    connection = http.client.HTTPConnection(target)
    for _ in range(count):
        # Compact, as Go writes it.
        connection.request("POST", "/items",
                           json.dumps(whole, separators=(",", ":")),
                           {"Content-Type": "application/json"})
        if json.loads(connection.getresponse().read()) != whole:
            sys.exit("the response is no echo")
        time.sleep(SETTLE)
    connection.close()


def main():
    way, size, count, target = sys.argv[1:]
    {"grpc": over_grpc, "http1": over_http}[way](target, item(size),
                                                 int(count))


if __name__ == "__main__":
    main()
