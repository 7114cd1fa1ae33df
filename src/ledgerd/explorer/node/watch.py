"""The chain as it is shown: its head, its latest blocks, and the slots of its round. Kept in memory, read by pages."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ledgerd.codec import codec_of
from ledgerd.explorer.words.times import seconds_of
from ledgerd.protocol.types.arrays import NameRow

BLOCKS_KEPT = 128
"""The latest blocks that are kept in memory."""
TRANSFERS_KEPT = 12
"""The latest transfers that are kept in memory."""
SLOTS_SHOWN = 21
MOST_SLOTS = 42
"""Slots that the front page shows where a round has many; `SLOTS_SHOWN` are the fewest."""

HeadProperties = Mapping[str, Any]


class TransferFacts(msgspec.Struct, frozen=True):
    """A transfer, as the front page shows it."""

    time: str
    block: int
    transaction: str
    fields: Mapping[str, Any]


class BlockFacts(msgspec.Struct, frozen=True):
    """A block, as lists show it."""

    number: int
    id: str
    time: str
    validator: str
    transactions: int
    operations: int
    kinds: tuple[tuple[str, int], ...] = ()
    """The operations of its transactions, and how many of each, the most first."""


class RoundSlot(NamedTuple):
    """A slot of the round."""

    state: str
    """`made`, `missed`, or `coming`."""
    validator: str
    """Empty where it is not known: a missed slot of an earlier round."""
    block: int
    seconds: int


class ChainWatch:
    """The facts on the chain that are known now."""

    def __init__(self) -> None:
        self.properties: HeadProperties = {}
        self.schedule: Mapping[str, Any] = {}
        self.config: Mapping[str, Any] = {}
        self.hardfork = ""
        self.blocks: deque[BlockFacts] = deque(maxlen=BLOCKS_KEPT)
        """The newest first."""
        self.transfers: deque[TransferFacts] = deque(maxlen=TRANSFERS_KEPT)
        self.away = "it has not been asked yet"
        """Why the node does not answer; empty while it does."""
        self.has_history = True
        self.on_change: list[Callable[[], None]] = []
        """Called when a block was added, and when the node went away or came back."""
        self._names: tuple[str, ...] = ()

    @property
    def head(self) -> int:
        return int(self.properties.get("head_block_number", 0))

    @property
    def head_seconds(self) -> int:
        return seconds_of(str(self.properties.get("time", "")))

    @property
    def interval(self) -> int:
        return int(self.config.get("CHAIN_BLOCK_INTERVAL", 3))

    @property
    def has_markets(self) -> bool:
        """Whether hardfork 14 is in force."""
        return bool(self.hardfork) and int(self.hardfork.partition(".")[0]) >= 4

    def move_to(self, properties: HeadProperties, schedule: Mapping[str, Any], blocks: Sequence[BlockFacts]) -> None:
        self.properties, self.schedule = properties, schedule
        self._names = scheduled_names(schedule)
        for block in blocks:
            self.blocks.appendleft(block)
        self.away = ""
        self.notify()

    def lose(self, why: str) -> None:
        if self.away != why:
            self.away = why
            self.notify()

    def notify(self) -> None:
        for call in self.on_change:
            call()

    @property
    def participation(self) -> int:
        """The made ones of the latest 128 slots, in hundredths of a percent."""
        return int(self.properties.get("participation_count", 0)) * 10_000 // 128

    def slots(self) -> list[RoundSlot]:
        """The slots of the round, or where it is shorter the latest 21 up to its end."""
        count = int(self.schedule.get("num_scheduled_validators", 0)) or 1
        began = int(self.schedule.get("next_shuffle_block_num", 0)) - count
        made = {seconds_of(each.time): each for each in self.blocks}
        of_round = [each for each in self.blocks if each.number > began]
        first = [seconds_of(each.time) for each in self.blocks if each.number == began]
        start = first[0] + self.interval if first else min(map(seconds_of, (e.time for e in of_round)), default=0)
        end = self.head_seconds + self.interval * max(0, count - len(of_round))
        earliest = min(start or end, end - self.interval * (SLOTS_SHOWN - 1))
        earliest = max(earliest, end - self.interval * (MOST_SLOTS - 1))
        return [self._slot(at, made.get(at), start) for at in range(earliest, end + 1, self.interval)]

    def _slot(self, at: int, block: BlockFacts | None, start: int) -> RoundSlot:
        if block is not None:
            return RoundSlot("made", block.validator, block.number, at)
        name = self._scheduled(at) if at >= start else ""
        return RoundSlot("missed" if at <= self.head_seconds else "coming", name, 0, at)

    def _scheduled(self, at: int) -> str:
        """The validator whose slot a time of this round is (spec 03, section 10)."""
        if not self._names:
            return ""
        slot = int(self.properties.get("current_aslot", 0)) + (at - self.head_seconds) // self.interval
        return self._names[slot % len(self._names)]

    def slots_of(self, validator: str) -> list[BlockFacts]:
        return [each for each in self.blocks if each.validator == validator]


def scheduled_names(schedule: Mapping[str, Any]) -> tuple[str, ...]:
    """The validators of a round, in the order of their slots."""
    names = codec_of(NameRow).from_json(schedule.get("current_shuffled_validators", ""))
    return names[: int(schedule.get("num_scheduled_validators", 0))]
