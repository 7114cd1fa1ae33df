"""`ledgerd markets rebuild`: makes what is kept of markets beside the ledger again, from the blocks."""

from __future__ import annotations

import argparse
import sys

from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.data_directory import rebuild_with_progress
from ledgerd.node.config.options.application import PREDICTION_MARKET_API
from ledgerd.node.datadir.market_rebuild import put_in_place, replay_beside
from ledgerd.node.datadir.opening import files_of
from ledgerd.protocol.errors import OperatorError


def run(chosen: argparse.Namespace) -> int:
    configuration = configuration_of(chosen)
    if PREDICTION_MARKET_API not in configuration.application.plugins:
        raise OperatorError(f"nothing is kept of markets here: add {PREDICTION_MARKET_API} to the plugins")
    count, head = rebuild_with_progress(
        chosen, lambda chain, progress: replay_beside(chain, chosen.data_dir, configuration, progress)
    )
    put_in_place(chosen.data_dir, files_of(configuration))
    sys.stdout.write(
        f"{count} blocks replayed; metadata and price points of markets are complete from block 1 to block {head}\n"
    )
    return 0
