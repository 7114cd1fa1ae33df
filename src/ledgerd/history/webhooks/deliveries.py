"""Cuts the history into deliveries for one receiver, without a network or a clock. The id of an event is made of its
block, so that it is the same each time, and differs on a branch.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ledgerd.chain.log.histories import History, HistoryView, Wanted
from ledgerd.history.webhooks.position import HookPosition

EXAMINED = 250

MOST_EVENTS = 100
"""Operations of one delivery."""

MOST_BYTES = 1 << 20
"""Bytes of one delivery, unless a single operation has more."""

ID_DIGITS = 16


class QueueFull(Exception):
    """More waits for a receiver than may, or what it is to be sent is not in the history any more."""


class Delivery(NamedTuple):
    """The events that are sent in one request."""

    body: bytes
    attempted: HookPosition
    """The position to be stored before it is sent."""
    acknowledged: HookPosition
    """The position to be stored once the receiver has acknowledged it."""


class _Place(msgspec.Struct):
    block: int
    trx_in_block: int
    op_in_trx: int
    virtual_op: int


class Deliveries:
    """The deliveries of one receiver, one after the other."""

    def __init__(
        self,
        history: History,
        wanted: Wanted,
        position: HookPosition,
        most_behind: int,
        *,
        reversible: bool,
        start: int = 0,
    ) -> None:
        self._history = history
        self._wanted = wanted
        self._is_reversible = reversible
        self._start = start
        self._most_behind = min(most_behind, history.count_blocks)
        self.position = position

    def next(self) -> Delivery | None:
        """The next delivery, or None while there is none. `QueueFull` if too much waits."""
        with self._history.reading() as view:
            last = view.head_number if self._is_reversible else view.irreversible_number
            if not self.position.next_block:
                self.position = replace(self.position, next_block=self._start or last + 1)
            undone = self._undone(view)
            if undone is not None:
                return undone
            while self.position.next_block <= last:
                self._require_room(view.head_number)
                delivery = self._cut(view, last)
                if delivery is not None:
                    return delivery
            self.position = replace(self.position, behind=0)
        return None

    def _require_room(self, head: int) -> None:
        behind = head - self.position.next_block + 1
        self.position = replace(self.position, behind=behind)
        if behind > self._most_behind:
            raise QueueFull(f"{behind} blocks wait for it, and at most {self._most_behind} may")

    def _cut(self, view: HistoryView, last: int) -> Delivery | None:
        """The selected operations of the next blocks; where there are none the position moves on by itself."""
        before = self.position
        texts, reached = view.find_operations(before.next_block, last, self._wanted, EXAMINED)
        found = [(each.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode()) for each in texts]
        places = [msgspec.json.decode(each, type=_Place) for each in found]
        known = before.events if places and places[0].block == before.next_block else 0
        end = known + _fitting(found[known:])
        after = (reached + 1, 0)
        if end < len(found):
            reached = places[end].block
            after = (reached, sum(each.block == reached for each in places[:end]))
        selected = places[known:end]
        attempted = self._with_marks(view, reached, {each.block for each in selected})
        acknowledged = replace(attempted, next_block=after[0], events=after[1], failures=0)
        if not selected:
            self.position = acknowledged
            return None
        events = [
            b'{"id":"%b","operation":%b}' % (_id_of(view, place), text)
            for place, text in zip(selected, found[known:end], strict=True)
        ]
        return Delivery(_body(view.irreversible_number, events), attempted, acknowledged)

    def _with_marks(self, view: HistoryView, reached: int, selected: set[int]) -> HookPosition:
        """The position with what distinguishes the reversible blocks up to one, some of which are sent."""
        before, final = self.position, view.irreversible_number
        if not self._is_reversible:
            return before
        marks = {number: _digest(view, number) for number in range(max(before.next_block, final + 1), reached + 1)}
        sent = {*before.sent, *(number for number in selected if number > final)}
        return replace(before, marks=before.marks | marks, sent=tuple(sorted(sent)))

    def _undone(self, view: HistoryView) -> Delivery | None:
        """The delivery of what a fork switch has undone, if any; forgets marks of blocks that are final."""
        position, final = self.position, view.irreversible_number
        if not position.marks:
            return None
        first = max(position.marks) + 1
        while first - 1 in position.marks and _digest(view, first - 1) != position.marks[first - 1]:
            first -= 1
        kept = replace(
            position,
            next_block=min(position.next_block, first),
            events=position.events if position.next_block < first else 0,
            marks={number: mark for number, mark in position.marks.items() if final < number < first},
            sent=tuple(number for number in position.sent if final < number < first),
        )
        gone = [number for number in position.sent if number >= first]
        if not gone:
            self.position = kept
            return None
        name = f"undo-{gone[0]}-{position.marks[gone[0]]}"
        event = b'{"id":"%b","undone_from":%d}' % (name.encode(), first)
        return Delivery(_body(final, [event]), position, replace(kept, failures=0))


def _fitting(texts: list[bytes]) -> int:
    """The number of first texts that fit into a delivery: one at least."""
    size = 0
    for count, text in enumerate(texts):
        size += len(text)
        if count and (count == MOST_EVENTS or size > MOST_BYTES):
            return count
    return len(texts)


def _id_of(view: HistoryView, place: _Place) -> bytes:
    numbers = f"{place.block}-{place.trx_in_block}-{place.op_in_trx}-{place.virtual_op}"
    return f"{numbers}-{_digest(view, place.block)}".encode()


def _body(irreversible: int, events: list[bytes]) -> bytes:
    return b'{"irreversible_block":%d,"events":[%b]}' % (irreversible, b",".join(events))


def _digest(view: HistoryView, block: int) -> str:
    return hashlib.sha256(view.mark_of(block)).hexdigest()[:ID_DIGITS]
