"""Records of a snapshot as rows of the state: what one process makes of them, and another takes in.

What cannot be taken is left to who has the records, who finds the same fault in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ledgerd.chain.offline.audit import TokenTally
from ledgerd.chain.rules.markets.market import Frozen
from ledgerd.chain.rules.markets.seeds import FrozenTally
from ledgerd.codec import DecodeError
from ledgerd.codec.json.text import Json
from ledgerd.protocol.types.names import AccountName
from ledgerd.snapshot.file.sections import SnapshotSection
from ledgerd.state import StoreMisuse
from ledgerd.state.loading import PackedRows, packed_rows
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.tables.tables import Entity


class PackedTallies(msgspec.Struct, frozen=True, array_like=True):
    """The tallies of some records."""

    terms: dict[str, int]
    supply: int | None
    """The supply, if it is in these records."""
    frozen: list[tuple[bytes, Frozen, int]]


class PackedBatch(msgspec.Struct, frozen=True, array_like=True):
    """Some records of one section."""

    rows: PackedRows
    tallies: PackedTallies


class Tallies:
    """Counts over the records that pass by, so that no row is read again for them."""

    def __init__(self) -> None:
        self.tokens = TokenTally()
        self.frozen = FrozenTally()

    def add(self, entity: Entity) -> None:
        self.tokens.add(entity)
        self.frozen.add(entity)

    def add_packed(self, packed: PackedTallies) -> None:
        self.tokens.terms.update(packed.terms)
        if packed.supply is not None:
            self.tokens.supply = packed.supply
        for name, counter, amount in packed.frozen:
            self.frozen.frozen[AccountName(name.decode("utf-8", "surrogateescape")), counter] += amount

    def packed(self, *, has_supply: bool) -> PackedTallies:
        frozen = [
            (name.encode("utf-8", "surrogateescape"), counter, amount)
            for (name, counter), amount in self.frozen.frozen.items()
        ]
        return PackedTallies(dict(self.tokens.terms), self.tokens.supply if has_supply else None, frozen)


def packed_batch(section: SnapshotSection[Any], records: Sequence[Json], count: int) -> bytes:
    """Records, at least one, after so many others of their table; no bytes where one of them cannot be taken."""
    tallies = Tallies()
    try:
        entities = [section.parse(record) for record in records]
        for entity in entities:
            tallies.add(entity)
        rows = packed_rows(section.table, entities, count)
        has_supply = section.table is DYNAMIC_GLOBAL_PROPERTIES
        return msgspec.msgpack.encode(PackedBatch(rows, tallies.packed(has_supply=has_supply)))
    except (DecodeError, StoreMisuse, OverflowError):
        return b""


def unpacked_batch(raw: bytes) -> PackedBatch | None:
    return msgspec.msgpack.decode(raw, type=PackedBatch) if raw else None
