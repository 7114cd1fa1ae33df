"""By how much rules of the reference put sums out of balance, so that a check can be exact. Ours, not consensus."""

from __future__ import annotations

from enum import IntEnum

from ledgerd.codec.types.numbers import ShareAmount, UInt8
from ledgerd.state.tables.keys import OBJECT_ID, UINT8
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique


class Sum(IntEnum):
    """What does not add up, and of which objects."""

    TOKENS = 0
    """All tokens against the supply; of the chain as a whole."""
    VOTES = 1
    """The votes of a validator against what its voters give."""
    ROUTES = 2
    """The number of withdrawal routes that an account counts against those there are."""


class Discrepancy(Entity):
    """So much more is there than there should be."""

    kind: UInt8 = Sum.TOKENS
    of: ObjectId = 0
    amount: ShareAmount = 0


DISCREPANCIES = Table(Discrepancy, number=101)
DISCREPANCY_BY_OWNER = unique(DISCREPANCIES, "by_owner", lambda found: (found.kind, found.of), (UINT8, OBJECT_ID))
