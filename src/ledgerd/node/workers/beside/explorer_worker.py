"""The process of an explorer beside its node: it asks that node as any client does, and ends with it."""

from __future__ import annotations

import sys

from ledgerd.explorer.process import run_explorer
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.workers.settings import ExplorerArguments
from ledgerd.supervision.processes import parent_ended
from ledgerd.supervision.this_process import give_way, read_arguments

NICENESS = 5


def main() -> None:
    give_way(NICENESS)
    order = read_arguments(sys.stdin.buffer.read(), ExplorerArguments)
    set_up_child_logging(order.log_format)
    run_explorer(order.settings, lambda: parent_ended(order.node))


if __name__ == "__main__":
    main()
