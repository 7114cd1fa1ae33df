"""A folder of Parquet files, one for each table and range of blocks, and the list of them, which is written last: a
kill leaves files that the next export writes once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from ledgerd.basics.durable import put_in_place
from ledgerd.history.parquet.schema import SCHEMAS, VERSION
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.errors import StoreLocked
from ledgerd.state.files.lock import LOCK_FILE, lock_writer

LIST = "export.json"
UNFINISHED = ".unfinished"


class ExportList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The files that an export has written so far."""

    schema_version: int
    chain_id: str
    blocks_per_file: int
    first: int
    last: int
    balances_from: int | None


class ExportedRange(NamedTuple):
    """Consecutive blocks; `last` is among them."""

    first: int
    last: int


class ExportFolder:
    """The files, and the list."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, chain_id: bytes, blocks_per_file: int | None) -> ExportList | None:
        """Read the list; None if no export has begun. Refuses another chain or schema."""
        file = self.path / LIST
        try:
            found = msgspec.json.decode(file.read_bytes(), type=ExportList)
        except FileNotFoundError:
            self._require_empty()
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise OperatorError(f"{file} cannot be read: {problem}") from problem
        if found.schema_version != VERSION:
            raise OperatorError(
                f"{self.path} has files of version {found.schema_version} of the schema, and this program writes "
                f"version {VERSION}: export into a new folder"
            )
        if found.chain_id != chain_id.hex():
            raise OperatorError(f"{self.path} has the history of another chain, {found.chain_id[:16]}...")
        if blocks_per_file not in {None, found.blocks_per_file}:
            raise OperatorError(
                f"--blocks-per-file: a file in {self.path} has {found.blocks_per_file} blocks, not {blocks_per_file}"
            )
        return found

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other exports out of the folder within the block."""
        if not (self.path / LIST).exists():
            self._require_empty()
        try:
            lock = lock_writer(self.path)
        except StoreLocked as problem:
            raise OperatorError(f"another export writes into {self.path}") from problem
        with lock:
            yield

    def _require_empty(self) -> None:
        """Folders of tables may be there, which an export has made that was killed before it wrote its list."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            found = [each for each in self.path.iterdir() if each.name not in {*SCHEMAS, LOCK_FILE}]
            found += self.path.glob("*/[!.]*")
            stranger = next((str(each.relative_to(self.path)) for each in found), None)
        except OSError as problem:
            raise OperatorError(f"{self.path}: {problem.strerror}") from problem
        if stranger is not None:
            raise OperatorError(f"--to: {self.path} is not empty, and not an export: there is {stranger}")

    def file_of(self, table: str, blocks: ExportedRange) -> Path:
        return self.path / table / f"{table}-{blocks.first:010}-{blocks.last:010}.parquet"

    def unfinished(self, table: str, blocks: ExportedRange) -> Path:
        file = self.file_of(table, blocks)
        return file.with_name(f".{file.name}{UNFINISHED}")

    def prepare(self) -> None:
        for table in SCHEMAS:
            (self.path / table).mkdir(exist_ok=True)
            for left in (self.path / table).glob(f".*{UNFINISHED}"):
                left.unlink(missing_ok=True)

    def remove(self, blocks: ExportedRange) -> None:
        """Remove the files of a range that the list does not have: an export was killed before it wrote that."""
        for table in SCHEMAS:
            self.file_of(table, blocks).unlink(missing_ok=True)

    def write(self, exported: ExportList) -> None:
        fresh = self.path / "blocks" / f".{LIST}{UNFINISHED}"
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(exported)) + b"\n")
        put_in_place(fresh, self.path / LIST)


def range_of(number: int, blocks_per_file: int) -> ExportedRange:
    first = number - number % blocks_per_file
    return ExportedRange(first, first + blocks_per_file - 1)
