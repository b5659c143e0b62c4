#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes FILE: so many MIB of zeros below two layers of gzip.

Usage: bomb.py FILE MIB
"""
import sys
import zlib


def main():
    block = bytes(1 << 20)
    inner = zlib.compressobj(9, zlib.DEFLATED, 31)
    outer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with open(sys.argv[1], "wb") as file:
        for _ in range(int(sys.argv[2])):
            file.write(outer.compress(inner.compress(block)))
        file.write(outer.compress(inner.flush()))
        file.write(outer.flush())


if __name__ == "__main__":
    main()
