"""`ledgerd history export`: writes the history into Parquet files, also while the node runs."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from ledgerd.cli.data_directory import configuration_of
from ledgerd.cli.progress import progress
from ledgerd.cli.terminal import LOWEST_PRIORITY
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.errors import HistoryDamaged
from ledgerd.node.config.network import network_of
from ledgerd.protocol.errors import OperatorError
from ledgerd.supervision.niceness import give_way


def export(chosen: argparse.Namespace) -> int:
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
