"""Writes the irreversible blocks of a history into Parquet files, from where the last export ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from ledgerd.history.columns.rows import BlockRows
from ledgerd.history.kept_facts import KeptFacts
from ledgerd.history.parquet.folder import ExportedRange, ExportFolder, ExportList, put_in_place, range_of
from ledgerd.history.parquet.schema import SCHEMAS, VERSION, record_batch
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.errors import OperatorError

BLOCKS_PER_FILE = 100_000
"""Unless the folder has others, or others are asked for."""

BLOCKS_A_READ = 2_000
"""At most in one transaction of the history: a long one would keep its file from using its room again."""

ROWS_A_GROUP = 100_000
"""Of operations, about; what is in memory before it is written."""

COMPRESSION = "zstd"

KeptSource = Callable[[], AbstractContextManager[KeptFacts]]


class WrittenFiles(NamedTuple):
    """What an export has done."""

    blocks: ExportedRange
    """All that is in the folder."""
    added: int
    """How many of them are new."""
    operations: int
    """In the files that were written."""
    files: int


class ParquetExport:
    """One run of the command."""

    def __init__(
        self,
        source: KeptSource,
        settings: HistorySettings,
        chain_id: bytes,
        folder: ExportFolder,
        blocks_per_file: int | None,
    ) -> None:
        self._source = source
        self._settings = settings
        self._chain_id = chain_id
        self._folder = folder
        self._before = folder.read(chain_id, blocks_per_file)
        self._blocks_per_file = self._before.blocks_per_file if self._before else blocks_per_file or BLOCKS_PER_FILE

    @property
    def done(self) -> int:
        """The last block that is in the folder already."""
        return self._before.last if self._before else 0

    def blocks(self, first: int | None, last: int | None) -> ExportedRange:
        """The blocks that the files will have.

        Raises:
            OperatorError: The history does not have them.
        """
        with self._source() as facts:
            known, end = facts.first, facts.irreversible
        if not known or end < known:
            raise OperatorError("the history has no irreversible block yet")
        if self._before and first not in {None, self._before.first}:
            raise OperatorError(f"--from: the files begin with block {self._before.first}: export into a new folder")
        begin = self._before.first if self._before else known if first is None else first
        if self._before is None and begin < known:
            raise OperatorError(f"--from: the history begins with block {known}")
        until = end if last is None else last
        if until > end:
            raise OperatorError(f"--until: the last irreversible block of the history is {end}")
        if until < begin:
            raise OperatorError(f"--until: block {until} comes before the first, {begin}")
        self._require_rest(known)
        return ExportedRange(begin, max(until, self._before.last if self._before else 0))

    def _require_rest(self, known: int) -> None:
        """The last file is written once more if it is not full: its blocks must be there still."""
        if self._before:
            needed = max(self._before.first, range_of(self._before.last + 1, self._blocks_per_file).first)
            if known > needed:
                raise OperatorError(
                    f"the history begins with block {known} now, and the files go on from block {needed}: "
                    "export into a new folder"
                )

    def run(self, blocks: ExportedRange, progress: Callable[[int], None]) -> WrittenFiles:
        """Write the files that are missing or not full."""
        before = self._before
        self._folder.prepare()
        done, operations, files = before.last if before else blocks.first - 1, 0, 0
        start = done
        while done < blocks.last:
            sealed = range_of(done + 1, self._blocks_per_file)
            part = ExportedRange(max(sealed.first, blocks.first), min(sealed.last, blocks.last))
            count, standing = self._write_files(sealed, part, blocks.first, progress)
            operations, files, done = operations + count, files + len(SCHEMAS), part.last
            self._folder.write(
                ExportList(VERSION, self._chain_id.hex(), self._blocks_per_file, blocks.first, done, standing)
            )
        return WrittenFiles(ExportedRange(blocks.first, done), done - start, operations, files)

    def _write_files(
        self, sealed: ExportedRange, part: ExportedRange, first: int, progress: Callable[[int], None]
    ) -> tuple[int, int | None]:
        """Write one file of each table; how many operations are in it, and behind which block balances are known."""
        places = {table: self._folder.unfinished(table, sealed) for table in SCHEMAS}
        operations, balances_from = 0, None
        try:
            with ExitStack() as opened:
                files = {table: opened.enter_context(self._file(table, place, part)) for table, place in places.items()}
                for rows, standing in self._read(part, first):
                    rows.number_entries(defaultdict(int))
                    for table, file in files.items():
                        if rows.tables[table]:
                            file.write_batch(record_batch(table, rows.tables[table]))
                    operations, balances_from = operations + rows.operations, standing
                    progress(max(rows.ids))
            for table, place in places.items():
                put_in_place(place, self._folder.file_of(table, sealed))
        finally:
            for place in places.values():
                place.unlink(missing_ok=True)
        return operations, balances_from

    def _file(self, table: str, place: Path, part: ExportedRange) -> pq.ParquetWriter:
        about = {
            "ledgerd.schema": str(VERSION),
            "ledgerd.chain": self._chain_id.hex(),
            "ledgerd.first": str(part.first),
            "ledgerd.last": str(part.last),
        }
        return pq.ParquetWriter(place, SCHEMAS[table].with_metadata(about), compression=COMPRESSION)

    def _read(self, part: ExportedRange, first: int) -> Iterator[tuple[BlockRows, int | None]]:
        """The rows of some blocks, in groups, each with the block behind which balances are known."""
        rows, number, standing = BlockRows(self._settings), part.first, None
        while number <= part.last:
            end = min(part.last, number + BLOCKS_A_READ - 1)
            with self._source() as facts:
                if number == part.first:
                    standing = facts.balances_stand_at
                    if standing is not None and _belongs(standing, part, first):
                        rows.add_standing(facts)
                while number <= end and rows.operations < ROWS_A_GROUP:
                    rows.add(facts.block(number))
                    number += 1
            if rows.operations >= ROWS_A_GROUP or number > part.last:
                yield rows, standing
                rows = BlockRows(self._settings)


def _belongs(standing: int, part: ExportedRange, first: int) -> bool:
    """Whether what accounts had after a block is in the files of a range: those of that block, or the first ones."""
    return part.first <= standing <= part.last or (standing == first - 1 and part.first == first)
