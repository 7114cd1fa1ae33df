"""The process of an explorer beside its node: it asks that node as any client does, and ends with it."""

from __future__ import annotations

import sys

import msgspec

from ledgerd.explorer.process import run_explorer
from ledgerd.explorer.settings import ExplorerSettings
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.config.options.application import LogFormat
from ledgerd.supervision.niceness import give_way
from ledgerd.supervision.processes import parent_ended

YIELDING = 5
"""The `nice` value: blocks are more urgent."""


class ExplorerArguments(msgspec.Struct, frozen=True):
    """The arguments of the process, read from standard input."""

    settings: ExplorerSettings
    node: int
    """The process id of the node."""
    log_format: LogFormat = "text"


def main() -> None:
    """Read the arguments, and serve."""
    give_way(YIELDING)
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=ExplorerArguments)
    set_up_child_logging(order.log_format)
    run_explorer(order.settings, lambda: parent_ended(order.node))


if __name__ == "__main__":
    main()
