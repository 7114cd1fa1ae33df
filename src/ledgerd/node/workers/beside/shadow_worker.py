"""The process of a shadow beside its node: it asks that node as any client does, and ends with it."""

from __future__ import annotations

import signal
import sys

import msgspec

from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.config.options.application import LogFormat
from ledgerd.shadow.settings import ShadowOrder
from ledgerd.supervision.this_process import give_way, read_arguments

NICENESS = 10


class ShadowArguments(msgspec.Struct, frozen=True):
    """The arguments of the process, read from standard input."""

    shadow: ShadowOrder
    node: int
    """The process id of the node."""
    log_format: LogFormat = "text"


def main() -> None:
    # Here, since the node, which imports the arguments, compares nothing itself.
    from ledgerd.node.workers.beside.shadow_snapshots import starter  # noqa: PLC0415
    from ledgerd.shadow.process import follows_parent, keep_running  # noqa: PLC0415

    give_way(NICENESS)
    order = read_arguments(sys.stdin.buffer.read(), ShadowArguments)
    set_up_child_logging(order.log_format)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_running(order.shadow, starter(order.log_format), follows_parent(order.node))


if __name__ == "__main__":
    main()
