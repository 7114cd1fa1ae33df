"""Who is a member of whom, in numbers: a bit for each account, and a lane for the weight that members add to each
account.

A set of accounts is a mask of bits, so two sets are compared at once, however large they are. The weights that all
accounts have from their approved members are one number with a lane of bits for each account; an account that is
approved adds its weight in all lanes at once. So a check does not look at each member of each account again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName, text_order

LANE: Final = 40
"""Bits of a lane: room for a threshold of 32 bits, and for weights of 16 bits of a million members."""
FULL: Final = 1 << LANE - 1
"""The lane of an account that lacks nothing: the highest bit says whether anything is lacking."""
MOST_MEMBERS, MOST_NAMES = 2_000_000, 4_096
"""Members, and names, that are kept from check to check. More names would make every number longer."""
FEW = 8
"""If less than one in so many members is chosen, looking at the bits is faster than looking at the members."""


class GraphRow:
    """An account with its authority."""

    __slots__ = ("authority", "bit", "members", "shift")

    def __init__(self, place: int, authority: Authority, members: int) -> None:
        self.bit = 1 << place
        self.shift = place * LANE
        self.authority = authority
        self.members = members


class GraphColumn:
    """An account as a member of others."""

    __slots__ = ("owners", "weights")

    def __init__(self) -> None:
        self.weights = 0
        """The weight of this account for each owner, in the lane of that owner."""
        self.owners = 0

    def add(self, owner: GraphRow, weight: int) -> None:
        self.weights += weight << owner.shift
        self.owners |= owner.bit

    def remove(self, owner: GraphRow, weight: int) -> None:
        self.weights -= weight << owner.shift
        self.owners &= ~owner.bit


class MemberGraph:
    """The authorities of one role that were met, known by object identity; an authority never changes."""

    def __init__(self) -> None:
        self.bits: dict[AccountName, int] = {}
        self._size = 0
        self._full, self._full_lanes = 0, 0
        self._names: list[AccountName] = []
        self._rows: dict[AccountName, GraphRow] = {}
        self._columns: dict[AccountName, GraphColumn] = {}
        self._masks: dict[int, tuple[Authority, int]] = {}

    @property
    def is_large(self) -> bool:
        """Whether the graph has grown so much that a new one should replace it."""
        return self._size > MOST_MEMBERS or len(self._names) > MOST_NAMES

    def bit(self, name: AccountName) -> int:
        bit = self.bits.get(name)
        if bit is None:
            place = len(self._names)
            bit = self.bits[name] = 1 << place
            self._names.append(name)
        return bit

    @property
    def full(self) -> int:
        """`FULL` in the lane of every account."""
        if self._full_lanes < len(self._names):
            self._full_lanes = len(self._names)
            self._full = int.from_bytes(FULL.to_bytes(LANE // 8, "little") * self._full_lanes, "little")
        return self._full

    def row(self, name: AccountName, authority: Authority) -> GraphRow:
        row = self._rows.get(name)
        if row is None or row.authority is not authority:
            if row is not None:
                self._remove(row)
            place = self.bit(name).bit_length() - 1
            row = self._rows[name] = GraphRow(place, authority, self._mask(authority))
            for member, weight in authority.account_auths.items():
                if member in self._columns:
                    self._columns[member].add(row, weight)
            self._size += 1 + len(authority.account_auths)
        return row

    def _remove(self, row: GraphRow) -> None:
        for member, weight in row.authority.account_auths.items():
            if member in self._columns:
                self._columns[member].remove(row, weight)

    def column(self, name: AccountName) -> GraphColumn:
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = GraphColumn()
            for row in self._rows.values():
                weight = row.authority.account_auths.get(name)
                if weight is not None:
                    column.add(row, weight)
            self._size += len(self._names)
        return column

    def members(self, authority: Authority) -> int:
        """The members of an authority that is not that of an account, as a mask."""
        if not authority.account_auths:
            return 0
        known = self._masks.get(id(authority))
        if known is None:
            known = self._masks[id(authority)] = authority, self._mask(authority)  # kept: no other object has its id
            self._size += 1 + len(authority.account_auths)
        return known[1]

    def _mask(self, authority: Authority) -> int:
        mask = 0
        for name in authority.account_auths:
            mask |= self.bit(name)
        return mask

    def names(self, mask: int, width: int = 1) -> list[AccountName]:
        """The accounts of a mask; with the width of a lane, of lanes that have at most one bit set each."""
        return [self._names[place // width] for place in places(mask)]

    def chosen(self, mask: int, authority: Authority) -> list[AccountName]:
        """The members of an authority that are in a mask of members, in the order in which the authority has them."""
        if mask.bit_count() * FEW > len(authority.account_auths):
            bits = self.bits
            return [name for name in authority.account_auths if bits[name] & mask]
        found = self.names(mask)
        return sorted(found, key=text_order) if len(found) > 1 else found


def places(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
