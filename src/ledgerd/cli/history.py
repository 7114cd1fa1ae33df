"""`ledgerd history`: rebuilds the history of a data directory, feeds it to PostgreSQL, compares the two, exports it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ledgerd.cli.data_directory import add_data_directory, configuration_of
from ledgerd.cli.rebuilding import rebuild_with_progress
from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.node.config.configuration import Configuration

PLUGIN = "operation_history"

DIFFERENT = 1
PARTS = 16
MOST_DIFFERENCES = 20

ACTIONS = {
    "rebuild": "record what happened again, while the node is stopped",
    "extend": "record what happened before the history of the node begins, also while the node runs",
    "export": "write it into Parquet files, also while the node runs",
    "feed": "feed PostgreSQL beside the node, until it is interrupted",
    "verify": "compare PostgreSQL with the history of the node",
    "migrate": "bring the schema in PostgreSQL up to date, or back with --back-to",
    "partition": "divide the empty tables in PostgreSQL into --parts",
    "readers": "make the roles for people who ask PostgreSQL",
}


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "history",
        help="rebuild the history of operations, export it, or feed it to PostgreSQL",
        description="rebuild replays all blocks beside the state and records what happened in them; run again, it goes "
        "on where it was interrupted, and the old history stays in use until the new one is complete. extend does the "
        "same beside a node that began with a snapshot, from the blocks of its archive (docs/archives.md). export "
        "writes irreversible blocks into files for programs that analyse tables; run again, it adds what is new "
        "(docs/export.md). The other actions are about the history in PostgreSQL (docs/sql.md).",
    )
    arguments.add_argument(
        "action", choices=ACTIONS, help="; ".join(f"{each}: {what}" for each, what in ACTIONS.items())
    )
    add_data_directory(arguments)
    arguments.add_argument(
        "--store", metavar="ADDRESS", help="the database, postgresql://... (default: history-store as configured)"
    )
    arguments.add_argument(
        "--back-to", metavar="VERSION", help="migrate: take back this version of the schema and all later ones"
    )
    arguments.add_argument(
        "--parts", type=int, default=PARTS, metavar="N", help=f"partition: how many (default: {PARTS})"
    )
    arguments.add_argument("--to", metavar="FOLDER", help="export: where the files are written")
    arguments.add_argument("--from", dest="first", type=_height, metavar="N", help="export: the first block")
    arguments.add_argument("--until", type=_height, metavar="N", help="export: the last block")
    arguments.add_argument(
        "--blocks-per-file",
        type=_height,
        metavar="N",
        help="export: blocks of each file (default: 100000)",
    )
    arguments.set_defaults(run=run)


def _height(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if not 0 < number < 1 << 32:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {(1 << 32) - 1}")
    return number


def run(chosen: argparse.Namespace) -> int:
    actions = {
        "rebuild": _rebuild,
        "extend": _extend,
        "export": _export,
        "feed": _feed,
        "verify": _verify,
        "migrate": _migrate,
        "partition": _partition,
        "readers": _readers,
    }
    return actions[chosen.action](chosen)


def _rebuild(chosen: argparse.Namespace) -> int:
    from ledgerd.history.rebuild import rebuild  # noqa: PLC0415 - neither is loaded for `--help`
    from ledgerd.node.build import THIS_BUILD  # noqa: PLC0415

    if PLUGIN in THIS_BUILD.excluded_plugins:
        raise OperatorError("this program was built for low memory, and keeps no history")
    settings = configuration_of(chosen).history
    count, head = rebuild_with_progress(
        chosen,
        lambda chain, progress: rebuild(chain, chosen.data_dir, settings, progress=progress),
    )
    sys.stdout.write(f"{count} blocks replayed; the history is complete up to block {head}\n")
    return 0


def _extend(chosen: argparse.Namespace) -> int:
    from ledgerd.cli.past_history import extend  # noqa: PLC0415 - not loaded for `--help`

    return extend(chosen)


def _export(chosen: argparse.Namespace) -> int:
    from ledgerd.cli.history_export import export  # noqa: PLC0415 - not loaded for `--help`

    return export(chosen)


def _store_of(chosen: argparse.Namespace) -> tuple[Configuration, str]:
    from ledgerd.node.parts.past.records import require_driver  # noqa: PLC0415 - not loaded for `--help`

    configuration = configuration_of(chosen)
    address: str = chosen.store or configuration.history.store or ""
    if not address:
        raise OperatorError("no database is named: give --store postgresql://..., or set history-store")
    require_driver()
    return configuration, address


def _feed(chosen: argparse.Namespace) -> int:
    from ledgerd.history.columns.source import HistorySource  # noqa: PLC0415
    from ledgerd.history.postgres.running import EndlessFeed, UntilSignalled  # noqa: PLC0415 - an extra that may be missing
    from ledgerd.node.config.logging.setup import set_up_logging  # noqa: PLC0415
    from ledgerd.node.config.network import network_of  # noqa: PLC0415

    configuration, address = _store_of(chosen)
    set_up_logging(configuration.logging, configuration.application.log_format)
    source = HistorySource(chosen.data_dir, configuration.history)
    chain_id = network_of(configuration).chain_id
    with UntilSignalled() as waiting:
        EndlessFeed(address, source, configuration.history, chain_id, lambda _: None).run(waiting)
    source.close()
    return 0


def _verify(chosen: argparse.Namespace) -> int:
    from ledgerd.history.columns.source import HistorySource  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.history.postgres.verify import StoreComparison  # noqa: PLC0415
    from ledgerd.node.config.network import network_of  # noqa: PLC0415

    configuration, address = _store_of(chosen)
    source = HistorySource(chosen.data_dir, configuration.history)
    comparison = StoreComparison(address, source, configuration.history, network_of(configuration).chain_id)
    found = 0
    for found, difference in enumerate(comparison.differences(), 1):
        sys.stdout.write(f"{difference}\n")
        if found == MOST_DIFFERENCES:
            break
    source.close()
    if found:
        sys.stdout.write("PostgreSQL differs from the history of the node: empty the database, and feed it again\n")
        return DIFFERENT
    sys.stdout.write(f"{comparison.compared} operations up to block {comparison.head} are the same in both\n")
    return 0


def _migrate(chosen: argparse.Namespace) -> int:
    from ledgerd.history.postgres.migrations import (  # noqa: PLC0415 - an extra that may be missing
        MIGRATION_SECONDS,
        migrate,
        opened_alone,
        roll_back,
    )

    _, address = _store_of(chosen)
    if chosen.back_to:
        roll_back(address, chosen.back_to)
        sys.stdout.write(f"the schema is again as before {chosen.back_to}\n")
        return 0
    with opened_alone(address, MIGRATION_SECONDS, "ledgerd schema") as connection:
        applied = migrate(address, connection)
    sys.stdout.write(f"applied: {', '.join(applied) or 'nothing, the schema is up to date'}\n")
    return 0


def _partition(chosen: argparse.Namespace) -> int:
    from ledgerd.history.postgres.migrations import partition  # noqa: PLC0415 - an extra that may be missing

    _, address = _store_of(chosen)
    partition(address, chosen.parts)
    sys.stdout.write(f"each table that grows has {chosen.parts} parts\n")
    return 0


def _readers(chosen: argparse.Namespace) -> int:
    from ledgerd.history.postgres.migrations import make_readers  # noqa: PLC0415 - an extra that may be missing

    _, address = _store_of(chosen)
    make_readers(address)
    sys.stdout.write("the roles ledger_reader and ledger_asker are there; docs/sql.md says how users get them\n")
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
