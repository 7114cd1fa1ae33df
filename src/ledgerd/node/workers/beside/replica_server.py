"""The process that serves replicas: after its order it reads a byte for each commit, and ends at EOF."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from typing import cast

from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.config.options.application import LogFormat
from ledgerd.replica.order import ServerOrder
from ledgerd.replica.serving.serving import serve
from ledgerd.supervision.this_process import give_way, on_a_loop, read_arguments

NICENESS = 10
MOST_ORDER = 65_536
"""Bytes of the first message of the node."""


async def _serve() -> None:
    reader, _ = await asyncio.open_connection(sock=socket.socket(fileno=sys.stdin.fileno()), limit=MOST_ORDER)
    order = read_arguments(await reader.readline(), ServerOrder)
    set_up_child_logging(cast("LogFormat", order.log_format))
    await serve(order, reader)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the node handles it
    give_way(NICENESS)
    on_a_loop(_serve)


if __name__ == "__main__":
    main()
