"""Whether a validator may sign, by what its shadow has found: the rule of `shadow-required`.

It is closed where nothing is known. Open it is only for a head that the shadow has found equal, or one that lies no
more than the allowed number of blocks above such a block on the same branch, and only as long as nothing has differed.
A shadow that has ended, a node beside it that is away, and a record that cannot be read close it without a word more.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ledgerd.shadow.keeping.record import ShadowRecord

IdAt = Callable[[int], str]
"""The id of our block of a number; empty if there is none."""


class GateReport(msgspec.Struct, frozen=True, array_like=True):
    """The state of the gate, for pages and metrics."""

    is_required: bool = False
    most_behind: int = 0
    refusal: str = ""
    """Why no block is signed on the head of now; empty if one may be."""


class SigningGate:
    """Says whether a block may be signed, by the latest record of the shadow. One thread updates the record, another
    asks.
    """

    def __init__(self, most_behind: int, clock: Callable[[], float]) -> None:
        self._most_behind = most_behind
        self._clock = clock
        self._record: ShadowRecord | None = None
        self._overridden_until = 0

    def update(self, record: ShadowRecord | None, overridden_until: int) -> None:
        self._record, self._overridden_until = record, overridden_until

    @property
    def is_overridden(self) -> bool:
        return self._clock() < self._overridden_until

    def refusal(self, head: int, id_at: IdAt) -> str:
        """Why no block is signed on this head; empty if one may be."""
        if self.is_overridden:
            return ""
        record = self._record
        if record is None or not record.equal.at:
            return "shadow-required: the shadow has compared nothing yet"
        if record.first is not None:
            return f"shadow-required: the shadow has found a difference, from block {record.first.block} on"
        if record.doubt:
            return f"shadow-required: answers differ: {record.doubt}"
        equal = record.equal
        behind = head - equal.number
        if 0 <= behind <= self._most_behind and id_at(equal.number) == equal.id:
            return ""
        seconds = max(0, int(self._clock()) - equal.at)
        return (
            f"shadow-required: both were last found equal at block {equal.number}, {seconds} s ago, and block {head} "
            f"is the head; {record.apart or 'the shadow is not there yet'}"
        )
