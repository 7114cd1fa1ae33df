"""The process that keeps the copy of a followed node's state: it writes a byte when it follows, and ends at EOF."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from pathlib import Path
from typing import cast

from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.config.options.application import LogFormat
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica.order import FollowOrder
from ledgerd.replica.process import FollowPart
from ledgerd.supervision.part import run_part
from ledgerd.supervision.this_process import on_a_loop, read_arguments

MOST_ORDER = 65_536
"""Bytes of the first message of the node."""
FOLLOWS = b"\n"

log = logging.getLogger(__name__)


async def _follow() -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=sys.stdin.fileno()), limit=MOST_ORDER)
    order = read_arguments(await reader.readline(), FollowOrder)
    set_up_child_logging(cast("LogFormat", order.log_format))
    part = FollowPart(order.settings, Path(order.data_dir), order.chain_id)
    try:
        await run_part(part, lambda: reader.read(1), started=lambda: writer.write(FOLLOWS))
    except OperatorError as fault:
        log.error("the node cannot be followed: %(reason)s", {"reason": str(fault)})  # noqa: TRY400 - for an operator
        sys.exit(1)


def main() -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # they reach the whole group: the main process handles them
    on_a_loop(_follow)


if __name__ == "__main__":
    main()
