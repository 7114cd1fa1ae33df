"""`ledgerd history`: rebuilds the history of a data directory, feeds it to PostgreSQL, compares the two, exports it."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from ledgerd.cli.data_directory import configuration_of, rebuild_with_progress
from ledgerd.cli.history_export import export
from ledgerd.cli.past_history import extend
from ledgerd.cli.terminal import until_asked_to_stop
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.rebuild import rebuild
from ledgerd.node.build import THIS_BUILD
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.config.network import network_of
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.parts.past.records import require_driver
from ledgerd.protocol.errors import OperatorError

DIFFERENT = 1
MOST_DIFFERENCES = 20


def run(chosen: argparse.Namespace) -> int:
    actions = {
        "rebuild": _rebuild,
        "extend": extend,
        "export": export,
        "feed": _feed,
        "verify": _verify,
        "migrate": _migrate,
        "partition": _partition,
        "readers": _readers,
    }
    return actions[chosen.action](chosen)


def _rebuild(chosen: argparse.Namespace) -> int:
    if OPERATION_HISTORY in THIS_BUILD.excluded_plugins:
        raise OperatorError("this program was built for low memory, and keeps no history")
    settings = configuration_of(chosen).history
    count, head = rebuild_with_progress(
        chosen, lambda chain, progress: rebuild(chain, chosen.data_dir, settings, progress=progress)
    )
    sys.stdout.write(f"{count} blocks replayed; the history is complete up to block {head}\n")
    return 0


def _store_of(chosen: argparse.Namespace) -> tuple[Configuration, str]:
    configuration = configuration_of(chosen)
    address: str = chosen.store or configuration.history.store or ""
    if not address:
        raise OperatorError("no database is named: give --store postgresql://..., or set history-store")
    require_driver()
    return configuration, address


def _feed(chosen: argparse.Namespace) -> int:
    from ledgerd.history.postgres.running import EndlessFeed  # noqa: PLC0415 - an extra that may be missing

    configuration, address = _store_of(chosen)
    set_up_logging(configuration.logging, configuration.application.log_format)
    chain_id = network_of(configuration).chain_id
    with closing(HistorySource(chosen.data_dir, configuration.history)) as source, until_asked_to_stop() as stopping:
        EndlessFeed(address, source, configuration.history, chain_id, lambda _: None).run(stopping)
    return 0


def _verify(chosen: argparse.Namespace) -> int:
    from ledgerd.history.postgres.verify import StoreComparison  # noqa: PLC0415

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
