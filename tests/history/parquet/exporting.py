"""Exports as tests make them, of a recorded chain whose history is in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from ledgerd.history.columns.source import HistorySource
from ledgerd.history.parquet.export import ParquetExport, WrittenFiles
from ledgerd.history.parquet.folder import ExportFolder
from ledgerd.history.settings import HistorySettings
from ledgerd.state.files.lock import LOCK_FILE

CHAIN_ID = bytes(range(32))


@contextmanager
def export_of(
    data_dir: Path, to: Path, blocks_per_file: int | None = None, chain_id: bytes = CHAIN_ID
) -> Iterator[ParquetExport]:
    source, folder = HistorySource(data_dir, HistorySettings(balances=True)), ExportFolder(to)
    try:
        with folder.alone():
            yield ParquetExport(source, HistorySettings(balances=True), chain_id, folder, blocks_per_file)
    finally:
        source.close()


def exported(
    data_dir: Path, to: Path, first: int | None = None, last: int | None = None, blocks_per_file: int | None = None
) -> WrittenFiles:
    """ParquetExport some blocks."""
    with export_of(data_dir, to, blocks_per_file) as export:
        return export.run(export.blocks(first, last), lambda _: None)


def rows_of(to: Path, table: str) -> list[dict[str, Any]]:
    """All rows of a table, in the order of the files."""
    files = sorted(str(each) for each in (to / table).glob("*.parquet"))
    found: list[dict[str, Any]] = ds.dataset(files).to_table().to_pylist()
    return found


def files_of(to: Path) -> dict[str, bytes]:
    """Every file of an export but its lock, which names a process."""
    files = (each for each in sorted(to.rglob("*")) if each.is_file() and each.name != LOCK_FILE)
    return {str(each.relative_to(to)): each.read_bytes() for each in files}
