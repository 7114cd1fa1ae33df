"""`ledgerd markets rebuild`: makes what is kept of markets beside the ledger again, from the blocks."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ledgerd.cli.data_directory import configuration_of
from ledgerd.cli.rebuilding import add_rebuild, rebuild_with_progress
from ledgerd.protocol.errors import OperatorError

PLUGIN = "prediction_market_api"


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    add_rebuild(
        commands,
        "markets",
        run,
        short="make metadata and price points of markets again, while the node is stopped",
        description="Replays all blocks beside the state, which needs the block log from block 1 on, and puts the new "
        "state in the place of the old one. Run again, it goes on where it was interrupted.",
    )


def run(chosen: argparse.Namespace) -> int:
    from ledgerd.node.datadir.market_rebuild import put_in_place, replay_beside  # noqa: PLC0415 - not for `--help`
    from ledgerd.node.datadir.opening import files_of  # noqa: PLC0415

    configuration = configuration_of(chosen)
    if PLUGIN not in configuration.application.plugins:
        raise OperatorError(f"nothing is kept of markets here: add {PLUGIN} to the plugins")
    count, head = rebuild_with_progress(
        chosen,
        lambda chain, progress: replay_beside(chain, chosen.data_dir, configuration, progress),
    )
    put_in_place(chosen.data_dir, files_of(configuration))
    sys.stdout.write(
        f"{count} blocks replayed; metadata and price points of markets are complete from block 1 to block {head}\n"
    )
    return 0
