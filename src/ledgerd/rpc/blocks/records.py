"""The records of `block_info`, which the reference keeps in memory: of a fixed size each, in a file.

The main process writes it before each commit, workers read it; a block that was never seen is a hole, read as zeros.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied, Event
from ledgerd.codec.types.numbers import UInt32, UInt64
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId

_FORM = struct.Struct("<20sIIQI")
RECORD_BYTES = _FORM.size
"""Bytes of the record of a block."""

FILE_NAME = "block_info"


class BlockInfo(msgspec.Struct, frozen=True):
    """Size, slot and irreversible block of a block."""

    block_id: BlockId = NO_BLOCK
    block_size: UInt32 = 0
    average_block_size: UInt32 = 0
    aslot: UInt64 = 0
    """The slot of the block, counted from the genesis."""
    last_irreversible_block_num: UInt32 = 0
    """The value right after the block was applied."""

    @property
    def is_known(self) -> bool:
        return self.block_id != NO_BLOCK


UNKNOWN = BlockInfo()


class BlockRecorder(Observer):
    """Writes a record for each applied block, over an earlier record of that number, until the chain is closed."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / FILE_NAME).open("r+b" if (folder / FILE_NAME).exists() else "w+b", buffering=0)

    def committing(self, events: Sequence[Event]) -> None:
        start, records = 0, bytearray()
        for event in events:
            if not isinstance(event, BlockApplied):
                continue
            block, number = event.block, event.block.number
            if start + len(records) // _FORM.size != number:
                self.put(start, records)
                start, records = number, bytearray()
            records += _FORM.pack(block.id, len(block.packed), event.average_block_size, event.slot, event.irreversible)
        self.put(start, records)

    def put(self, start: int, records: bytes | bytearray) -> None:
        if records:
            self._file.seek(start * _FORM.size)
            self._file.write(records)

    def close(self) -> None:
        self._file.close()

    closing = close


class BlockRecords:
    """Reads the file of records while the recorder writes it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def scan(self, start: int, end: int) -> Iterator[BlockInfo]:
        if end <= start:
            return
        raw = self.read(start, end).ljust((end - start) * _FORM.size, b"\0")
        for block_id, size, average, slot, irreversible in _FORM.iter_unpack(raw):
            yield BlockInfo(BlockId(block_id), size, average, slot, irreversible) if any(block_id) else UNKNOWN

    def read(self, start: int, end: int) -> bytes:
        try:
            with self._path.open("rb") as file:
                file.seek(start * _FORM.size)
                raw = file.read((end - start) * _FORM.size)
        except FileNotFoundError:
            return b""
        return raw[: len(raw) // _FORM.size * _FORM.size]
