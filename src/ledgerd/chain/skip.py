"""Checks that may be left out of a block, because somebody has made them before (spec 03, section 7)."""

from __future__ import annotations

from enum import IntFlag


class Skip(IntFlag):
    """What not to check; the numbers are the reference's."""

    NOTHING = 0
    VALIDATOR_SIGNATURE = 1 << 0
    TRANSACTION_SIGNATURES = 1 << 1
    TRANSACTION_DUPES = 1 << 2
    FORK_DATABASE = 1 << 3
    BLOCK_SIZE = 1 << 4
    REFERENCED_BLOCK = 1 << 5
    AUTHORITIES = 1 << 6
    MERKLE_ROOT = 1 << 7
    UNDO_HISTORY = 1 << 8
    VALIDATOR_SCHEDULE = 1 << 9
    OPERATION_CHECKS = 1 << 10


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
"""What a checkpoint vouches for (spec 03, section 13)."""

VERIFIED_BEFORE = (
    Skip.VALIDATOR_SIGNATURE
    | Skip.TRANSACTION_SIGNATURES
    | Skip.TRANSACTION_DUPES
    | Skip.BLOCK_SIZE
    | Skip.REFERENCED_BLOCK
    | Skip.AUTHORITIES
    | Skip.MERKLE_ROOT
    | Skip.VALIDATOR_SCHEDULE
    | Skip.OPERATION_CHECKS
)
"""What the reference leaves out when it replays its own log (spec 03, section 26.3)."""
