"""Writes the irreversible blocks of a history into Parquet files, from where the last export ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerd.basics.durable import put_in_place
from ledgerd.history.columns.rows import BlockRows
from ledgerd.history.embedded.kept_facts import KeptSource
from ledgerd.history.parquet.folder import ExportedRange, ExportFolder, ExportList, range_of
from ledgerd.history.parquet.schema import SCHEMAS, VERSION, record_batch
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.errors import OperatorError

BLOCKS_PER_FILE = 100_000
"""Unless the folder has others, or others are asked for."""

BLOCKS_A_READ = 2_000
"""The most blocks in one transaction of the history: a long one would keep its file from using its space again."""

ROWS_A_GROUP = 400_000
"""About so many rows of all tables are in memory before they are written."""

BYTES_A_GROUP = 16 << 20
"""About so many bytes of packed operations are in memory before they are written; decoded, each takes several times
that.
"""

COMPRESSION = "zstd"


class WrittenFiles(NamedTuple):
    """The result of an export."""

    blocks: ExportedRange
    added: int
    operations: int
    """Operations in the files that were written."""
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
        return self._before.last if self._before else 0

    def blocks(self, first: int | None, last: int | None) -> ExportedRange:
        with self._source() as facts:
            known, end, begins = facts.first, facts.irreversible, facts.balances.begins
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
        self._require_rest(known, begins)
        return ExportedRange(begin, max(until, self._before.last if self._before else 0))

    def _require_rest(self, known: int, begins: int | None) -> None:
        """The last file is written once more if it is not full: its blocks must be there still."""
        before = self._before
        if before is None:
            return
        needed = self._rewritten_from(before)
        if known > needed:
            raise OperatorError(
                f"the history begins with block {known} now, and the files go on from block {needed}: "
                "export into a new folder"
            )
        is_begun = before.last >= before.first
        if is_begun and begins is not None and begins != before.balances_from and begins < needed:
            raise OperatorError(
                f"balances begin anew after block {begins}, which the files have already: export into a new folder"
            )

    def _rewritten_from(self, before: ExportList) -> int:
        return max(before.first, range_of(before.last + 1, self._blocks_per_file).first)

    def run(self, blocks: ExportedRange, progress: Callable[[int], None]) -> WrittenFiles:
        self._folder.prepare()
        before = self._before or self._begin(blocks.first)
        done, operations, files = self._kept_to(before), 0, 0
        while done < blocks.last:
            sealed = range_of(done + 1, self._blocks_per_file)
            part = ExportedRange(max(sealed.first, blocks.first), min(sealed.last, blocks.last))
            count, begins = self._write_files(sealed, part, blocks.first, progress)
            operations, files, done = operations + count, files + len(SCHEMAS), part.last
            self._folder.write(
                ExportList(VERSION, self._chain_id.hex(), self._blocks_per_file, blocks.first, done, begins)
            )
        return WrittenFiles(ExportedRange(blocks.first, done), done - before.last, operations, files)

    def _begin(self, first: int) -> ExportList:
        """Say what the files will be, before there is one: an export that goes on after a kill makes no others."""
        with self._source() as facts:
            begins = facts.balances.begins
        begun = ExportList(VERSION, self._chain_id.hex(), self._blocks_per_file, first, first - 1, begins)
        self._folder.write(begun)
        return begun

    def _kept_to(self, before: ExportList) -> int:
        """The last block whose files stay: not those that a kill left before the list had them."""
        sealed = range_of(before.last + 1, self._blocks_per_file)
        if sealed.first > before.last:
            self._folder.remove(sealed)
        elif any(_last_in(self._folder.file_of(table, sealed)) != before.last for table in SCHEMAS):
            return self._rewritten_from(before) - 1
        return before.last

    def _write_files(
        self, sealed: ExportedRange, part: ExportedRange, first: int, progress: Callable[[int], None]
    ) -> tuple[int, int | None]:
        places = {table: self._folder.unfinished(table, sealed) for table in SCHEMAS}
        operations, balances_from = 0, None
        try:
            with ExitStack() as opened:
                files = {table: opened.enter_context(self._file(table, place, part)) for table, place in places.items()}
                for rows, begins in self._read(part, first):
                    rows.number_entries(defaultdict(int))
                    for table, file in files.items():
                        if rows.tables[table]:
                            file.write_batch(record_batch(table, rows.tables[table]))
                    operations, balances_from = operations + rows.operations, begins
                    progress(max(rows.ids, default=part.first - 1))
            for table, place in places.items():
                put_in_place(place, self._folder.file_of(table, sealed))
        finally:
            for place in places.values():
                place.unlink(missing_ok=True)
        return operations, balances_from

    def _file(self, table: str, place: Path, part: ExportedRange) -> pq.ParquetWriter:
        about = {
            "ledgerd.version": version("ledgerd"),
            "ledgerd.schema": str(VERSION),
            "ledgerd.chain": self._chain_id.hex(),
            "ledgerd.first": str(part.first),
            "ledgerd.last": str(part.last),
        }
        return pq.ParquetWriter(place, SCHEMAS[table].with_metadata(about), compression=COMPRESSION)

    def _read(self, part: ExportedRange, first: int) -> Iterator[tuple[BlockRows, int | None]]:
        rows, number = BlockRows(self._settings), part.first
        with self._source() as facts:
            begins = facts.balances.begins
            if begins is not None and _belongs(begins, part, first):
                rows.add_standing(facts)
        while number <= part.last:
            end = min(part.last, number + BLOCKS_A_READ - 1)
            with self._source() as facts:
                while number <= end and not is_full(rows):
                    rows.add(facts.block(number))
                    number += 1
            if is_full(rows) or number > part.last:
                yield rows, begins
                rows = BlockRows(self._settings)


def is_full(rows: BlockRows) -> bool:
    count = len(rows.touches) + sum(len(each) for each in rows.tables.values())
    return count >= ROWS_A_GROUP or rows.packed_bytes >= BYTES_A_GROUP


def _last_in(file: Path) -> int | None:
    try:
        about: dict[bytes, bytes] = pq.read_schema(file).metadata or {}
    except (OSError, pa.ArrowInvalid):
        return None
    return int(about.get(b"ledgerd.last", 0))


def _belongs(begins: int, part: ExportedRange, first: int) -> bool:
    """Whether what accounts had after a block is in the files of a range: those of that block, or the first ones."""
    return part.first <= begins <= part.last or (begins == first - 1 and part.first == first)
