# SPDX-License-Identifier: MIT
"""The published figures of study D, as they were printed."""

BODIES = ["308", "2.1K", "21.2K", "213K", "2.09M"]
PLAIN = {"308": "308 B", "2.1K": "2.1 KB", "21.2K": "21.2 KB",
         "213K": "213 KB", "2.09M": "2.09 MB"}
SIZES = {
    "308": {"gzip-1": "111 B", "gzip-6": "110 B", "br-4": "81 B"},
    "2.1K": {"gzip-1": "318 B", "gzip-6": "318 B", "br-4": "268 B"},
    "21.2K": {"gzip-1": "2.3 KB", "gzip-6": "2.2 KB", "br-4": "2.0 KB"},
    "213K": {"gzip-1": "22.9 KB", "gzip-6": "21.4 KB", "br-4": "19.5 KB"},
    "2.09M": {"gzip-1": "228.4 KB", "gzip-6": "212.2 KB",
              "br-4": "189.9 KB"},
}
# gzip-6, inflate, br-4, un-br.
CPU = {
    "308": ("77 us", "5 us", "54 us", "9 us"),
    "2.1K": ("82 us", "7 us", "55 us", "17 us"),
    "21.2K": ("129 us", "25 us", "154 us", "47 us"),
    "213K": ("1.07 ms", "231 us", "1.10 ms", "345 us"),
    "2.09M": ("11.3 ms", "2.34 ms", "9.14 ms", "3.57 ms"),
}
# Percent of plain, on 21.2 KB.
LEVELS = {"gzip-1": 10.9, "gzip-3": 10.7, "gzip-6": 10.6, "gzip-9": 10.6,
          "br-1": 10.8, "br-4": 9.5, "br-6": 9.6, "br-9": 9.6, "br-11": 8.5}
HARM = {"ok": ("11 B", "35 B"), "user": ("56 B", "81 B"),
        "image": ("195.3 KB", "147.2 KB")}
# 19 KB saved for 151 us: time saved over time spent on each link.
BREAK_EVEN = (100, 10, 1, 0.1)


def kb(text):
    """A printed size as bytes; its KB are of 1,024 (195.3 KB hold 150,000
    bytes in base64)."""
    number, unit = text.split()
    return round(float(number) * {"B": 1, "KB": 1024, "MB": 1 << 20}[unit])
