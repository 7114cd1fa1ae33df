"""What a validator did, day by day, by the block log and the history of a running node."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec

from ledgerd.basics.durations import DAY
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.histories import HistoryView, OperationPlace, Wanted
from ledgerd.codec.partial import fields_reader
from ledgerd.history.store.missed import MissedBefore
from ledgerd.protocol.blocks.block import SignedHeader
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import tag_of
from ledgerd.protocol.operations.validators import AccountValidatorVote
from ledgerd.protocol.operations.virtual import ShutdownValidator, ValidatorReward
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import parse_time_text, time_text

AT_ONCE = 10_000

time_of: Callable[[bytes], int] = fields_reader(SignedHeader, ("timestamp",))

_validator_of: Callable[[bytes], bytes] = fields_reader(SignedHeader, ("validator",))


class ValidatorDay(msgspec.Struct):
    """One day of a validator, in UTC."""

    day: str
    made: int = 0
    missed: int = 0
    reward: Decimal = Decimal(0)
    """The reward in SHARES."""
    votes_given: int = 0
    votes_taken: int = 0
    switched_off: int = 0
    """How often the network has removed the signing key."""


def validator_of(packed: bytes) -> str:
    return _validator_of(packed).decode("ascii", "replace")


def first_block_since(log: BlockLogReader, time: int) -> int:
    """The first block of the log that is not older; one more than its head where all are."""

    def time_at(number: int) -> int:
        packed = log.read(number)
        return time if packed is None else time_of(packed)

    numbers = range(log.first_number, log.head_number + 1)
    return numbers.start + bisect_left(numbers, time, key=time_at)


class ValidatorReport:
    """The days of one validator, which are filled from each source in turn."""

    def __init__(self, name: AccountName) -> None:
        self.name = name
        self._days: defaultdict[str, ValidatorDay] = defaultdict(lambda: ValidatorDay(""))

    def _day(self, time: int) -> ValidatorDay:
        day = time_text(time)[:10]
        found = self._days[day]
        found.day = day
        return found

    @property
    def days(self) -> list[ValidatorDay]:
        return [self._days[day] for day in sorted(self._days)]

    def count_blocks(self, blocks: Iterable[bytes]) -> None:
        made = Counter(time_of(packed) // DAY for packed in blocks if validator_of(packed) == self.name)
        for day, count in made.items():
            self._day(day * DAY).made += count

    def count_missed(self, found: list[MissedBefore]) -> None:
        for each in found:
            count = each.validators.count(self.name)
            if count:
                self._day(each.time).missed += count

    def count_operations(self, view: HistoryView, first: int, last: int) -> None:
        for time, (kind, operation) in _operations(view, first, last, self.name):
            day = self._day(time)
            if kind == "validator_reward":
                day.reward += Decimal(operation["shares"].partition(" ")[0])
            elif kind == "shutdown_validator":
                day.switched_off += 1
            elif operation["approve"]:
                day.votes_given += 1
            else:
                day.votes_taken += 1


def _operations(
    view: HistoryView, first: int, last: int, name: AccountName
) -> Iterator[tuple[int, tuple[str, dict[str, Any]]]]:
    def picks(operation: Operation, _place: OperationPlace) -> bool:
        match operation:
            case ValidatorReward(validator=validator) | AccountValidatorVote(validator=validator):
                return validator == name
            case ShutdownValidator(owner=owner):
                return owner == name
        return False

    tags = frozenset(tag_of(kind) for kind in (ValidatorReward, AccountValidatorVote, ShutdownValidator))
    wanted = Wanted(tags=tags, picks=picks)
    while first <= last:
        found = view.find_operations(first, last, wanted, AT_ONCE)
        for text in found.operations:
            recorded = json.loads(text)
            yield parse_time_text(recorded["timestamp"]), tuple(recorded["op"])
        first = found.reached + 1
