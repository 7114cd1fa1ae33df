"""The process that feeds PostgreSQL from a node's history: it writes its status, and ends when its input is closed."""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from ledgerd.history.columns.source import HistorySource
from ledgerd.history.postgres.running import EndlessFeed
from ledgerd.history.postgres.status import FeedStatus
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.workers.settings import FeedOrder
from ledgerd.supervision.this_process import give_way

NICENESS = 5
READ_AT_ONCE = 65_536
"""Bytes that are read at once from the node."""


class UntilClosed:
    """Passes the time until the input is closed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def wait(self, seconds: float) -> bool:
        readable, _, _ = select.select([self._descriptor], [], [], seconds)
        return bool(readable) and not os.read(self._descriptor, READ_AT_ONCE)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the node handles it
    descriptor, line = sys.stdin.fileno(), b""
    while not line.endswith(b"\n"):
        more = os.read(descriptor, READ_AT_ONCE)
        if not more:
            return
        line += more
    order = msgspec.json.decode(line, type=FeedOrder)
    set_up_child_logging(order.log_format)
    give_way(NICENESS)
    source = HistorySource(Path(order.data_dir), order.settings)
    feed = EndlessFeed(order.settings.store or "", source, order.settings, order.chain_id, _report)
    with suppress(BrokenPipeError):  # the node has ended
        feed.run(UntilClosed(descriptor))


def _report(status: FeedStatus) -> None:
    os.write(sys.stdout.fileno(), msgspec.json.encode(status) + b"\n")


if __name__ == "__main__":
    main()
