"""Checks of a block that may be skipped, because they were made before (spec 03, section 7)."""

from __future__ import annotations

from typing import Final

SkipFlags = int
"""Any number of the flags below, together."""


class Skip:
    """What not to check; the numbers are the reference's. Plain numbers: they are looked at several times a
    transaction, and an enumeration's operators are slow.

    `TRANSACTION_DUPES` leaves out the check for duplicates and what later checks need: the transaction is not
    recorded as known. `REFUSAL_OF_DUPES` is ours alone: it is recorded, and a duplicate is not refused.
    """

    NOTHING: Final = 0
    VALIDATOR_SIGNATURE: Final = 1 << 0
    TRANSACTION_SIGNATURES: Final = 1 << 1
    TRANSACTION_DUPES: Final = 1 << 2
    FORK_DATABASE: Final = 1 << 3
    BLOCK_SIZE: Final = 1 << 4
    REFERENCED_BLOCK: Final = 1 << 5
    AUTHORITIES: Final = 1 << 6
    MERKLE_ROOT: Final = 1 << 7
    UNDO_HISTORY: Final = 1 << 8
    VALIDATOR_SCHEDULE: Final = 1 << 9
    OPERATION_CHECKS: Final = 1 << 10
    REFUSAL_OF_DUPES: Final = 1 << 16


UNSIGNED = Skip.TRANSACTION_SIGNATURES | Skip.AUTHORITIES
"""Who has signed transactions is not asked with either of these."""

BELOW_CHECKPOINT = (
    Skip.VALIDATOR_SIGNATURE
    | Skip.TRANSACTION_SIGNATURES
    | Skip.TRANSACTION_DUPES
    | Skip.FORK_DATABASE
    | Skip.BLOCK_SIZE
    | Skip.REFERENCED_BLOCK
    | Skip.AUTHORITIES
    | Skip.UNDO_HISTORY
    | Skip.VALIDATOR_SCHEDULE
    | Skip.OPERATION_CHECKS
)
"""What is skipped up to the last checkpoint (spec 03, section 13)."""

VERIFIED_BEFORE = (
    Skip.VALIDATOR_SIGNATURE
    | Skip.TRANSACTION_SIGNATURES
    | Skip.REFUSAL_OF_DUPES
    | Skip.BLOCK_SIZE
    | Skip.REFERENCED_BLOCK
    | Skip.AUTHORITIES
    | Skip.MERKLE_ROOT
    | Skip.VALIDATOR_SCHEDULE
    | Skip.OPERATION_CHECKS
)
"""What is left out for blocks that this node applied before: in a log of its own, after a kill, after an undo.

The reference records no transaction as known when it replays (quirk of spec 03, section 26.3), and takes duplicates for
an hour. A node of ours that was killed refuses what it would have refused: its state is the one that it had.
"""
