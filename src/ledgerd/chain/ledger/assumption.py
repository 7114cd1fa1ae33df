"""A block of which the operator has said that it is valid with all below it: `assume-valid`.

Up to it, the signatures of transactions are not checked; everything else is, those of validators included. Until the
chain has that block the state is provisional, and says so by a named value, which is stored with it.
"""

from __future__ import annotations

import msgspec

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.state.store import Store

ASSUMED = "assumed valid"
"""The named value of a state; empty, or missing, in one that is not provisional."""


class AssumedBlockDiffers(RuleViolation):
    """At the height of the assumed block the chain has another block: nothing since the last verified point counts."""


class Assumption(msgspec.Struct, frozen=True):
    """The assumed block."""

    number: int
    block_id: BlockId

    def require_own(self, block: Block) -> None:
        """Refuse another block at its height; to be asked of a block that breaks no other rule."""
        if block.number == self.number and block.id != self.block_id:
            raise AssumedBlockDiffers(
                f"block {block.number} is {block.id.hex()}, and {self.block_id.hex()} is assumed to be valid"
            )


def assumption_of(store: Store) -> Assumption | None:
    raw = store.meta(ASSUMED)
    return msgspec.msgpack.decode(raw, type=Assumption) if raw else None


def record_assumption(store: Store, assumption: Assumption | None) -> None:
    """Keep it with the state, from the next commit on; nothing ends the provisional state."""
    store.set_meta(ASSUMED, b"" if assumption is None else msgspec.msgpack.encode(assumption))
