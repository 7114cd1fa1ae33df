"""`ledgerd history`: rebuilds the history of a data directory, feeds it to PostgreSQL, compares the two, exports it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.data_directory import rebuild_with_progress
from ledgerd.cli.shared.terminal import LOWEST_PRIORITY, progress, require_room, until_asked_to_stop
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.embedded.rebuild import rebuild
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.past.handing_over import FORMER_SUFFIX
from ledgerd.history.past.recording import PastHistory
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.node.build import THIS_BUILD
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.config.network import network_of
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.parts.records import require_driver
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.disk import Space
from ledgerd.supervision.this_process import give_way

DIFFERENT = 1
MOST_DIFFERENCES = 20


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


def _extend(chosen: argparse.Namespace) -> int:
    configuration = configuration_of(chosen)
    options = configuration.chain
    if not any((chosen.data_dir / name).exists() for name in (HISTORY_FOLDER, HISTORY_FOLDER + FORMER_SUFFIX)):
        raise OperatorError(
            f"there is no history in {chosen.data_dir}: run the node with plugin = operation_history first"
        )
    with ExitStack() as opened:
        log = opened.enter_context(_log_of(chosen.data_dir / STATE_FOLDER, options.block_archive_dir))
        settings = configuration.history.of_log(is_rolling=bool(log.kind.header))
        past = PastHistory(chosen.data_dir, network_of(configuration), settings, log, Space())
        opened.callback(past.close)
        if past.is_whole:
            past.clear()
            sys.stdout.write("the history begins with block 1 already\n")
            return 0
        needed = past.needs(options.block_archive_dir, options.shared_file_dir)
        require_room(needed, chosen.data_dir, "needed for a while")
        give_way(LOWEST_PRIORITY)
        with progress("recording", past.head) as advance:
            is_accepted = past.run(advance)
    if is_accepted:
        sys.stdout.write("the node has the history from block 1 on\n")
    else:
        sys.stdout.write(
            "the history from block 1 on is ready: the node takes it when it starts; run this again afterwards, "
            "to delete what is not needed any more\n"
        )
    return 0


@contextmanager
def _log_of(logs: Path, archive: Path) -> Iterator[BlockLogReader]:
    whole, rolling, past = BlockLogReader.open(logs), RollingBlockLogReader.open(logs), ArchivedBlocks(archive)
    rolling.earlier = past
    try:
        yield whole if whole.head_number else rolling
    finally:
        for each in (whole, rolling, past):
            each.close()


def _export(chosen: argparse.Namespace) -> int:
    if chosen.to is None:
        raise OperatorError("no folder is named: give --to FOLDER")
    try:
        from ledgerd.history.parquet.export import ParquetExport  # noqa: PLC0415 - an extra that may be missing
        from ledgerd.history.parquet.folder import ExportFolder  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        raise OperatorError("export needs a library for Parquet files: install ledgerd[parquet]") from problem
    configuration = configuration_of(chosen)
    source = HistorySource(chosen.data_dir, configuration.history)
    with ExitStack() as opened:
        opened.callback(source.close)
        chain_id = network_of(configuration).chain_id
        folder = ExportFolder(Path(chosen.to))
        try:
            opened.enter_context(folder.alone())
            run = ParquetExport(source, configuration.history, chain_id, folder, chosen.blocks_per_file)
            blocks = run.blocks(chosen.first, chosen.until)
            give_way(LOWEST_PRIORITY)
            with progress("exporting", blocks.last, done=run.done) as advance:
                result = run.run(blocks, advance)
        except HistoryDamaged as problem:
            raise OperatorError(f"the history cannot be read: {problem}") from problem
        except OSError as problem:
            raise OperatorError(f"--to: {chosen.to} cannot be written: {problem.strerror or problem}") from problem
    sys.stdout.write(
        f"{result.added} blocks added, {result.operations} operations in {result.files} files written; "
        f"{chosen.to} has blocks {result.blocks.first} to {result.blocks.last}\n"
    )
    return 0
