"""`ledgerd replay`: applies a block log to the state of a data directory, and shows how far it is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip
from ledgerd.chain.log.source import LogSource
from ledgerd.chain.offline.replay import replay
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.data_directory import opened_chain, require_log
from ledgerd.cli.shared.terminal import progress
from ledgerd.history.embedded.following import open_history
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.datadir.projections import record_blocks
from ledgerd.node.workers.log_reading import LogReading
from ledgerd.node.workers.precompute_pool import spare_processors
from ledgerd.supervision.this_process import search_rarely


def run(chosen: argparse.Namespace) -> int:
    search_rarely()
    require_log("--block-log", chosen.block_log)
    skip = VERIFIED_BEFORE if chosen.trust_log else Skip.NOTHING
    with (
        LogSource(chosen.block_log) as source,
        opened_chain(chosen, must_exist=False) as chain,
        _recorded(chosen, chain),
        LogReading(
            chain.network,
            0 if chosen.trust_log else spare_processors(),
            0 if chain.assumption is None else chain.assumption.number,
        ) as ahead,
    ):
        record_blocks(chain, configuration_of(chosen))
        last = source.head_number if chosen.to is None else min(chosen.to, source.head_number)
        with progress("replaying", last, done=chain.head_number) as advance:
            count = replay(chain, source, to=chosen.to, skip=skip, progress=advance, read=ahead.read)
        sys.stdout.write(
            f"{count} blocks applied; head block {chain.head_number} {chain.head_id.hex()}, "
            f"irreversible {chain.irreversible}\n"
        )
    return 0


@contextmanager
def _recorded(chosen: argparse.Namespace, chain: Chain) -> Iterator[None]:
    configuration = configuration_of(chosen)
    if OPERATION_HISTORY not in configuration.application.plugins:
        yield
        return
    with open_history(chain, chosen.data_dir / HISTORY_FOLDER, configuration.history):
        yield
