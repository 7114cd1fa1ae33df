"""Feeds an observer with the blocks of the chain, from the history that the node records, in the observer's process.

The history is the queue: the chain knows nothing of observers, and waits for none. Where an observer is stands in a
file, which is never ahead of it: after a kill it may be sent a block again, and is never left out of one. What marks
the reversible blocks is stored before they are sent, so that a fork while the observer was away is seen, too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from ledgerd.basics.durable import write_whole
from ledgerd.basics.formats import FileFormat
from ledgerd.chain.ledger.events import AppliedOperation
from ledgerd.chain.log.histories import RecordedOperation
from ledgerd.history.embedded.kept_facts import KeptBlock, KeptFacts, KeptSource
from ledgerd.plugins.declarations import PluginObserver
from ledgerd.plugins.installed import text_of_failure
from ledgerd.plugins.reading import value_of
from ledgerd.plugins.values import JsonValue, ObservedBlock, ObservedOperation

STORED_EVERY = 100
"""Irreversible blocks after which the position is stored while an observer catches up."""
KEPT_MARKS = 64
"""Irreversible blocks whose ids are remembered too: a chain to develop on goes back behind such."""
MOST_MISSED = 1_000
"""Names of those who missed slots that an observer is told of one block."""


FORMAT = 1
"""The format of the file with a position."""


class FeedBroken(Exception):
    """An observer cannot be fed, whenever it is started again; the text says why."""


class ObserverFailed(Exception):
    """An observer has raised; the text says where."""


class ObserverPosition(msgspec.Struct, frozen=True):
    """The progress of an observer."""

    next_block: int = 0
    """The first block that it is not done with; 0 before the first."""
    marks: dict[int, str] = {}
    """The ids of the last blocks that it may have been sent, and of all reversible ones."""
    final: int = 0
    """The last block of which it was told that it is irreversible."""
    format: int = FORMAT

    @property
    def sent(self) -> int:
        """The last block that it may have been sent."""
        return max(self.marks, default=self.next_block - 1)


class ObserverFeed:
    """Sends the chain's blocks to one observer, and stores the last one that it has handled."""

    def __init__(self, source: KeptSource, file: Path, observer: PluginObserver, start: int) -> None:
        self._source = source
        self._file = file
        self._observer = observer
        self._start = start
        self._stored = self.position = read_observer_position(file)
        self.head = 0
        self.delivered = 0
        """Blocks, since the start of this process."""

    @property
    def behind(self) -> int:
        return max(0, self.head - self.position.next_block + 1)

    def begin(self) -> None:
        """Ask the observer where it is, and go on from there."""
        claimed = self._ask(self._observer.position)
        if claimed is not None and (type(claimed) is not int or claimed < 0):
            raise FeedBroken(f"its position() returns {_shown(claimed)}, and not the number of a block")
        with self._source() as facts:
            head, final = facts.head, facts.irreversible
        if not self.position.next_block:
            self._begin_anew(claimed, head, final)
        elif claimed is not None:
            # A kill may have come before what irreversible blocks were sent was stored.
            sent = max(self.position.sent, min(final, self.position.next_block + STORED_EVERY))
            if claimed > sent:
                raise FeedBroken(
                    f"its position() returns {claimed}, and it was sent no block above {sent}: "
                    f"put its own data right, or remove {self._file} to feed it from what it says"
                )
            self.position = replace(self.position, next_block=claimed + 1, final=min(self.position.final, claimed))
        self._store()

    def _begin_anew(self, claimed: int | None, head: int, final: int) -> None:
        if claimed is None:
            self.position = ObserverPosition(self._start or head + 1, final=min(final, (self._start or head + 1) - 1))
            return
        if claimed > head:
            raise FeedBroken(f"its position() returns {claimed}, and the head block is {head}")
        kept = min(claimed, final)
        self.position = ObserverPosition(kept + 1, final=kept)
        if claimed > kept:  # of which branch its reversible blocks are is not known
            self._ask(self._observer.undone, kept)

    def step(self) -> bool:
        """Send the next event; returns whether there was one."""
        position, block = self.position, None
        with self._source() as facts:
            self.head, final = facts.head, facts.irreversible
            undone = self._undone(facts)
            if undone is None and position.next_block <= facts.head:
                self._require_kept(facts, position.next_block)
                block = facts.block(position.next_block)
        if undone is not None:
            self._undo(undone)
            return True
        if block is not None:
            self._apply(block, is_final=block.number <= final)
        known = min(final, self.position.next_block - 1)
        if known > self.position.final:
            self._ask(self._observer.irreversible, known)
            self.position = replace(self.position, final=known, marks=_recent(self.position.marks, known))
        if block is None or self.position.next_block - self._stored.next_block >= STORED_EVERY:
            self._store()
        return block is not None

    def close(self) -> None:
        self._store()
        self._ask(self._observer.close)

    # -- forks

    def _undone(self, facts: KeptFacts) -> int | None:
        """The last block that it was sent and that is still on the chain; None where all are."""
        first, marks = 0, self.position.marks
        for number in sorted(marks, reverse=True):
            found = facts.id_of(number) if number <= facts.head else None
            if found is not None and found.hex() == marks[number]:
                break
            if found is None and number <= facts.head:
                self._require_kept(facts, number)
            first = number
        else:
            if 0 < first <= self.position.final:
                raise FeedBroken(f"block {first}, which was irreversible when it was sent, is not on the chain")
        # Between marks stand blocks that were irreversible when they were sent.
        return first - 1 if first else None

    def _undo(self, number: int) -> None:
        self._ask(self._observer.undone, number)
        position = self.position
        self.position = ObserverPosition(
            min(position.next_block, number + 1),
            {each: mark for each, mark in position.marks.items() if each <= number},
            min(position.final, number),
        )
        self._store()

    # -- blocks

    def _require_kept(self, facts: KeptFacts, number: int) -> None:
        if number < facts.known_from:
            raise FeedBroken(
                f"block {number} comes next for it, and the history begins with block {facts.known_from} "
                f"(history-count-blocks): remove {self._file} to go on after the head"
            )

    def _apply(self, block: KeptBlock, *, is_final: bool) -> None:
        number, mark = block.number, block.header.id.hex()
        before = {each: one for each, one in self.position.marks.items() if each < number}
        final = number if is_final else self.position.final
        self.position = replace(self.position, marks=_recent(before | {number: mark}, final))
        if not is_final:
            self._store()
        self._ask(self._observer.applied, observed(block))
        self.position = replace(self.position, next_block=number + 1)
        self.delivered += 1

    def _ask(self, method: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - what a plugin returns
        try:
            return method(*arguments)
        except (Exception, SystemExit) as problem:  # a plugin may raise anything
            at = f" at block {self.position.next_block}" if self.position.next_block else ""
            self._store()
            raise ObserverFailed(f"its {method.__name__}() has failed{at}: {text_of_failure(problem)}") from problem

    def _store(self) -> None:
        if self.position != self._stored:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, msgspec.json.encode(self.position))
            self._stored = self.position


def _recent(marks: dict[int, str], final: int) -> dict[int, str]:
    return {number: mark for number, mark in marks.items() if number > final - KEPT_MARKS}


def read_observer_position(file: Path) -> ObserverPosition:
    try:
        raw = file.read_bytes()
        newer = msgspec.json.decode(raw, type=FileFormat).newer_than(FORMAT, f"the position of an observer in {file}")
        if newer:
            raise FeedBroken(newer)
        return msgspec.json.decode(raw, type=ObserverPosition)
    except FileNotFoundError:
        return ObserverPosition()
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise FeedBroken(f"{file} cannot be read ({fault}): remove it to begin again") from None


def _shown(value: object) -> str:
    return f"a {type(value).__name__}" if type(value) is not int else str(value)[:20]


def observed(block: KeptBlock) -> ObservedBlock:
    header = block.header
    return ObservedBlock(
        number=block.number,
        id=header.id.hex(),
        previous=header.previous.hex(),
        time=header.timestamp,
        validator=str(header.validator),
        operations=tuple(_observed_operation(each.applied) for each in block.operations),
        missed=tuple(map(str, islice(block.missed, MOST_MISSED))),
        missed_slots=len(block.missed),
    )


def _observed_operation(applied: AppliedOperation) -> ObservedOperation:
    name, value = cast("dict[str, list[Any]]", value_of(RecordedOperation(*applied).text))["op"]
    return ObservedOperation(
        trx_id=applied.transaction_id.hex(),
        trx_in_block=applied.transaction_in_block,
        op_in_trx=applied.operation_in_transaction,
        virtual_op=applied.virtual_operation,
        name=str(name),
        value=cast("dict[str, JsonValue]", value),
    )
