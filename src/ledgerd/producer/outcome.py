"""The outcome of a tick: the reference's result codes, and what has to be done (spec 06, section 10.4)."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName


class TickOutcome(IntEnum):
    """The result codes of the reference, and from 11 on our own. Its 1, `not_synced`, is for a node that holds up its
    chain to export or rebuild the state, which ours never does; its 7, `consecutive`, it never gives.
    """

    PRODUCED = 0
    NOT_MY_TURN = 2
    NOT_TIME_YET = 3
    NO_PRIVATE_KEY = 4
    LOW_PARTICIPATION = 5
    LAG = 6
    EXCEPTION = 8
    FORK_COLLISION = 9
    MINORITY_FORK = 10
    ALREADY_SIGNED = 11
    """Not in the reference: a block of this slot, or of a later one, may have left this node before."""
    CLOCK_STEPPED = 12
    WATCHING = 13
    """Not in the reference: the doppelganger check has not watched for a round yet."""
    DOPPELGANGER = 14
    HELD = 15
    """Not in the reference: the state is being checked, or the node has lost the network."""
    ASKED = 16
    SIGNER_AWAY = 17
    SIGNER_REFUSED = 18
    SIGNED_BY_ANOTHER = 19
    """Not in the reference: another node that uses our signer has the slot."""


class Duty(NamedTuple):
    """A slot of ours."""

    time: int
    name: AccountName


class Decision(NamedTuple):
    """The decision of a tick."""

    outcome: TickOutcome
    reason: str = ""
    duty: Duty | None = None
    discarded: tuple[BlockId, ...] = ()
    """Competing blocks that are given up for ours."""
    asks_for_resync: bool = False
    """Peers are to be asked again from the last irreversible block on."""
