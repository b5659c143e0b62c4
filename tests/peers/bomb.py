#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes FILE: GIB gibibytes of zeros below two layers of gzip."""
import sys
import zlib


def main():
    block = bytes(1 << 20)
    inner = zlib.compressobj(9, zlib.DEFLATED, 31)
    outer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with open(sys.argv[1], "wb") as file:
        for _ in range(int(sys.argv[2]) << 10):
            file.write(outer.compress(inner.compress(block)))
        file.write(outer.compress(inner.flush()))
        file.write(outer.flush())


if __name__ == "__main__":
    main()
