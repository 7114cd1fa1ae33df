"""`ledgerd replay`: applies a block log to the state of a data directory, and shows how far it is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ledgerd.cli.data_directory import add_data_directory, configuration_of, opened_chain
from ledgerd.cli.history import recorded
from ledgerd.cli.progress import progress


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "replay",
        help="apply a block log to a data directory; after a stop, run it again to continue",
        description="Applies every block of a block log, in the reference's format, with all checks.",
    )
    arguments.add_argument("--block-log", type=Path, required=True, metavar="FILE", help="the block log to read")
    add_data_directory(arguments)
    arguments.add_argument("--to", type=int, metavar="N", help="stop after block N")
    arguments.add_argument(
        "--trust-log",
        action="store_true",
        help="omit checks of signatures, authorities and merkle roots, for a log that you made yourself",
    )
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip  # noqa: PLC0415
    from ledgerd.chain.log.source import LogSource  # noqa: PLC0415 - the chain is not loaded for `--help`
    from ledgerd.chain.offline.replay import replay  # noqa: PLC0415
    from ledgerd.node.datadir.projections import record_blocks  # noqa: PLC0415
    from ledgerd.node.workers.log_reading import LogReading  # noqa: PLC0415
    from ledgerd.node.workers.precompute_pool import spare_processors  # noqa: PLC0415
    from ledgerd.supervision.loading import search_rarely  # noqa: PLC0415

    search_rarely()
    skip = VERIFIED_BEFORE if chosen.trust_log else Skip.NOTHING
    with (
        LogSource(chosen.block_log) as source,
        opened_chain(chosen, must_exist=False) as chain,
        recorded(chosen, chain),
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
