#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sends the inputs of other tests through a relay, byte for byte.

Usage: inputs.py PORT_FILE SEED vectors DIRECTORY
       inputs.py PORT_FILE SEED corpora DIRECTORY

Writes the port of the server to PORT_FILE and reads the relay's HOST:PORT from
standard input.  Each input is what a client says and what a server says; both
go in pieces of random length at the same time, and each side has to get what
the other sent, all of it and nothing else.  `vectors` are files that the
program `seeds` wrote.  Of `corpora` each file is sent by both sides as it is,
and again behind the beginning of an HTTP/2 connection; of JSON what stands
there in hex as well.  Prints how many connections and bytes there were.
"""
import asyncio
import hashlib
import json
import pathlib
import random
import sys

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
# One connection after the other would wait most of the time.
AT_ONCE = 16
PATIENCE_S = 30
# Most pieces are small; a connection has some hundred at most.
PIECES_MOST = 300


def vector_of(path):
    """The two sides of a file as seeds.c writes it: records of one side."""
    data, sides, at = path.read_bytes(), (bytearray(), bytearray()), 1
    while at + 2 <= len(data):
        what, length = data[at], data[at + 1]
        sides[what & 1].extend(data[at + 2:at + 2 + length])
        at += 2 + length
    return tuple(bytes(side) for side in sides)


def texts_of(value, name):
    """Every string in JSON below the member `name`."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from texts_of(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from texts_of(one, name)
    elif isinstance(value, str) and name in ("wire", "encoded"):
        yield value


def blocks_of(path):
    """Frames or header blocks in hex, each block in a HEADERS frame."""
    texts = texts_of(json.loads(path.read_text(encoding="utf-8")), None)
    out, stream = b"", 1
    for text in texts:
        data = bytes.fromhex("".join(text.split()))
        if "frames" not in path.parts:
            data = (len(data).to_bytes(3, "big") + b"\x01\x05" +
                    stream.to_bytes(4, "big") + data)
            stream += 2
        out += data
    return out


def corpus_of(root):
    for path in sorted(root.rglob("*")):
        if not path.is_file() or "licences" in path.parts:
            continue
        data = path.read_bytes()
        yield path, (data, data[::-1])
        yield path, (PREFACE + SETTINGS + data, SETTINGS + data)
        if path.suffix == ".json" and path.parent.parent.name in (
                "hpack", "http2-frame-test-case"):
            wire = blocks_of(path)
            yield path, (PREFACE + SETTINGS + wire, SETTINGS + wire)


def pieces_of(data, dice):
    at = 0
    most = max(40, 2 * len(data) // PIECES_MOST)
    while at < len(data):
        size = dice.randrange(1, most)
        yield data[at:at + size]
        at += size


async def send(writer, data, dice):
    for piece in pieces_of(data, dice):
        writer.write(piece)
        await writer.drain()
        if dice.random() < 0.3:
            await asyncio.sleep(0)
    writer.write_eof()


class Server:
    """Answers each connection with what belongs to it: relays connect in
    order, so connections are made one after the other, and play together."""

    def __init__(self):
        self.waiting = asyncio.Queue()

    async def accept(self, reader, writer):
        await self.waiting.put((reader, writer))


def digest(data):
    return hashlib.sha256(data).hexdigest()


async def side(reader, writer, says, hears, dice):
    _, got = await asyncio.gather(send(writer, says, dice), reader.read())
    writer.close()
    if digest(got) != digest(hears):
        return f"{len(got)} bytes came of {len(hears)}, or others"
    return None


async def play(name, sides, ends, dice):
    (client, server) = ends
    says = sides
    try:
        problems = await asyncio.wait_for(asyncio.gather(
            side(*client, says[0], says[1], random.Random(dice.random())),
            side(*server, says[1], says[0], random.Random(dice.random()))),
            PATIENCE_S)
    except (OSError, asyncio.TimeoutError) as error:
        problems = [repr(error)]
    for problem in filter(None, problems):
        sys.exit(f"{name}: {problem}")


async def run(inputs, relay, server, dice):
    running, count, total = set(), 0, 0
    for name, sides in inputs:
        client = await asyncio.open_connection(*relay, limit=1 << 24)
        ends = client, await asyncio.wait_for(server.waiting.get(),
                                              PATIENCE_S)
        running.add(asyncio.create_task(play(name, sides, ends, dice)))
        count += 1
        total += len(sides[0]) + len(sides[1])
        while len(running) >= AT_ONCE:
            done, running = await asyncio.wait(
                running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    for task in running:
        await task
    print(count, total)


async def main():
    port_file, seed, kind, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    if kind == "vectors":
        inputs = [(path, vector_of(path))
                  for path in sorted(folder.iterdir())]
    else:
        inputs = corpus_of(folder)
    server = Server()
    listener = await asyncio.start_server(server.accept, "127.0.0.1", 0,
                                          limit=1 << 24)
    with open(port_file, "w", encoding="ascii") as file:
        print(listener.sockets[0].getsockname()[1], file=file)
    host, port = sys.stdin.readline().rsplit(":", 1)
    await run(inputs, (host, int(port)), server, random.Random(int(seed)))
    listener.close()


if __name__ == "__main__":
    asyncio.run(main())
