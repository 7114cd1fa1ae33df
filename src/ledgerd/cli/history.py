"""`ledgerd history rebuild`: rebuilds the history of a data directory from its blocks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ledgerd.cli.data_directory import configuration_of
from ledgerd.cli.rebuilding import add_rebuild, rebuild_with_progress
from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain

PLUGIN = "operation_history"


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command."""
    add_rebuild(
        commands,
        "history",
        run,
        short="rebuild the history of operations, while the node is stopped",
        description="Replays all blocks beside the state and records what happened in them. Run again, it goes on "
        "where it was interrupted; the old history stays in use until the new one is complete.",
    )


def run(chosen: argparse.Namespace) -> int:
    """Rebuild the history and print how far it goes."""
    from ledgerd.history.rebuild import rebuild  # noqa: PLC0415 - neither is loaded for `--help`
    from ledgerd.node.build import THIS_BUILD  # noqa: PLC0415

    if PLUGIN in THIS_BUILD.excluded_plugins:
        raise OperatorError("this program was built for low memory, and keeps no history")
    settings = configuration_of(chosen).history
    count, head = rebuild_with_progress(
        chosen,
        "rebuilding",
        lambda chain, progress: rebuild(chain, chosen.data_dir, settings, progress=progress),
    )
    sys.stdout.write(f"{count} blocks replayed; the history is complete up to block {head}\n")
    return 0


@contextmanager
def recorded(chosen: argparse.Namespace, chain: Chain) -> Iterator[None]:
    """Record the history of a chain within the `with` block, if the configuration asks for one."""
    from ledgerd.history.following import HISTORY_FOLDER, open_history  # noqa: PLC0415

    configuration = configuration_of(chosen)
    if PLUGIN not in configuration.application.plugins:
        yield
        return
    with open_history(chain, chosen.data_dir / HISTORY_FOLDER, configuration.history):
        yield
