"""What a node of the walk has around it, in the network of its container: three time servers that agree with its clock.

It is run, never imported.
"""

from __future__ import annotations

import select
import socket
import struct
import sys
import time

SINCE_1900 = 2_208_988_800


def now() -> int:
    """The time as these servers tell it."""
    seconds, rest = divmod(time.time_ns(), 10**9)
    return (seconds + SINCE_1900 << 32) + (rest << 32) // 10**9


def main() -> None:
    plugs = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in sys.argv[1:]]
    for plug, port in zip(plugs, sys.argv[1:], strict=True):
        plug.bind(("127.0.0.1", int(port)))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        for plug in select.select(plugs, [], [])[0]:
            data, sender = plug.recvfrom(512)
            if len(data) >= 48:
                there = now()
                plug.sendto(bytes(24) + data[40:48] + struct.pack(">QQ", there, there), sender)


if __name__ == "__main__":
    main()
