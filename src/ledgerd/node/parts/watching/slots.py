"""The slots of the last rounds: whose each was, which block it has, and how late that came. Reads no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ledgerd.chain.events import BlockApplied
from ledgerd.chain.interface.view import ChainView
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.rpc.api.node_status import UNKNOWN, SlotFacts

KEPT = 63
"""Three rounds of 21."""
LATEST_DELAY = 60_000
"""Milliseconds; what comes later was synced, and says nothing about its validator."""


class SlotRecord:
    """What is known of the latest slots. Who missed one is known to whoever saw the next block applied."""

    def __init__(self) -> None:
        self._slots: deque[SlotFacts] = deque(maxlen=KEPT)

    @property
    def slots(self) -> tuple[SlotFacts, ...]:
        return tuple(self._slots)

    def begin(self, chain: ChainView) -> None:
        """Begin with the latest blocks of a chain; who missed a slot between them is not known."""
        self._slots.clear()
        head = chain.head_number
        found = [chain.block_at(number) for number in range(max(1, head - KEPT + 1), head + 1)]
        before = 0
        for block in found:
            if block is None:
                continue
            if before:
                self._miss("" for _ in range((block.timestamp - before) // BLOCK_INTERVAL - 1))
            self._slots.append(SlotFacts(block.validator, block.number, UNKNOWN))
            before = block.timestamp

    def applied(self, event: BlockApplied, now: float) -> None:
        block = event.block
        self._miss(event.missed[-KEPT:])
        delay = round(1_000 * (now - block.timestamp))
        self._slots.append(SlotFacts(block.validator, block.number, delay if delay <= LATEST_DELAY else UNKNOWN))

    def _miss(self, names: Iterable[str]) -> None:
        for name in names:
            self._slots.append(SlotFacts(name, 0, UNKNOWN))
