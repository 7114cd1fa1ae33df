"""Where an imported state came from, and what its import found: kept with the state, for whoever starts on it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ledgerd.state.store import Store

PROVENANCE = "provenance"
"""The named value of a state."""

WARNED_BLOCKS = 28_800
"""Blocks for which the operator is warned of the origin of a state: a day."""


class Provenance(msgspec.Struct, frozen=True):
    """The import of a state."""

    number: int
    """The head block of the snapshot."""
    sources: int = 0
    """The trusted peers whose records are these; 0 for a file that the operator has named."""
    checksum: str = ""
    """Of the file."""
    validators: int = 0
    """Validators whose votes differ from what their voters give."""
    votes: int = 0
    """The sum of these differences."""
    accounts: int = 0
    """Accounts whose number of withdrawal routes differs from those there are."""
    routes: int = 0
    """The sum of these differences."""
    is_audited: bool = False
    """Whether the state has passed all checks."""

    def warnings(self, head: int) -> Iterator[str]:
        """What the operator should know of it, at a head block."""
        if head - self.number > WARNED_BLOCKS:
            return
        if self.sources == 1:
            yield (
                f"the state of block {self.number} is from one trusted peer alone: no other one had a snapshot of the "
                "same block to compare"
            )
        yield from self.surpluses()

    def surpluses(self) -> Iterator[str]:
        """The sums that did not come out even, as rules of the network may leave them."""
        if self.validators:
            yield (
                f"the votes of validators in the snapshot of block {self.number} differ from what their voters give, "
                f"by {self.votes} together (validators: {self.validators})"
            )
        if self.accounts:
            yield (
                f"the withdrawal routes that accounts in the snapshot of block {self.number} have noted differ from "
                f"those there are, by {self.routes} together (accounts: {self.accounts})"
            )


def provenance_of(store: Store) -> Provenance | None:
    """What a state says of its import; nothing where it was not imported."""
    raw = store.meta(PROVENANCE)
    return None if raw is None else msgspec.json.decode(raw, type=Provenance)


def record_provenance(store: Store, provenance: Provenance) -> None:
    """Keep it with the state, from the next commit on."""
    store.set_meta(PROVENANCE, msgspec.json.encode(provenance))
