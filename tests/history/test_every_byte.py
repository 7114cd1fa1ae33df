"""Bytes of a small history are changed in turn, in the file itself: whoever asks gets the same answer as before or
hears of the damage, and a check of the history finds it.

A usual run changes every fifth byte; `EVERY_BYTE=1 scripts/test tests/history/test_every_byte.py` changes each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import lmdb
import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import HistoryView, TransactionPlace, Wanted
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.tables import Tables
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.files.disk import DATA_FILE, MAX_DATABASES
from tests.history.histories import HISTORY_FOLDER
from tests.history.made_blocks import NAMES, Plan
from tests.history.test_against_model import Teller

PLANS: tuple[Plan, ...] = ([[1]], [], [range(16)], [[3], [8, 9]])
STEP = 1 if "EVERY_BYTE" in os.environ else 5
"""From one changed byte to the next; odd, so that each of the eight bits of a byte has its turn."""

KEPT = 1
"""So many of the newest blocks are not in the log."""

Place = tuple[str, int]
"""A table, and an offset in the file."""


Question = Callable[[HistoryView], object]


class Damaged:
    """What is answered of what is damaged."""


DAMAGED = Damaged()


class Small:
    """A small history, as bytes of its file, and what is answered of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with Teller(folder, HistorySettings()) as teller:
            for plan in PLANS:
                teller.block(plan)
            teller.advance(KEPT)
            teller.commit()
            teller.store.environment.copy(str(self._made("compact")), compact=True)
        self.blocks = teller.trunk
        self.file = folder / HISTORY_FOLDER / DATA_FILE
        self.raw = (folder / "compact" / DATA_FILE).read_bytes()
        self.write(self.file, self.raw)
        self.sound = self.answers()

    def _made(self, name: str) -> Path:
        (self.folder / name).mkdir()
        return self.folder / name

    def write(self, path: Path, raw: bytes) -> None:
        """Write a file in its place."""
        path.write_bytes(raw)

    def places(self) -> Iterator[Place]:
        """Where in the file the keys and values of all tables stand."""
        with lmdb.Environment(str(self.folder / "compact"), max_dbs=MAX_DATABASES, readonly=True) as environment:
            tables = Tables.open(environment, None, create=False)
            with environment.begin() as transaction:
                for name, table in zip(Tables._fields, tables, strict=True):
                    for key, value in transaction.cursor(table):
                        entry = key + value if key + value in self.raw else value  # several of one key follow it
                        start = self.raw.index(entry)
                        yield from ((name, at) for at in range(start, start + len(entry)))

    def _opened(self) -> EmbeddedHistory:
        return EmbeddedHistory.open(self.folder / HISTORY_FOLDER, self.folder / STATE_FOLDER, HistorySettings())

    def answers(self) -> list[object]:
        """Every answer, or `DAMAGED` in its place."""
        with self._opened() as history:
            return [answered(history, ask) for ask in self._questions()]

    def _questions(self) -> Iterator[Question]:
        head = len(self.blocks)
        for number in range(head + 2):
            yield partial(operations, block=number)
            yield partial(kinds, block=number)
            yield partial(offsets, block=number)
            yield partial(first_block, time=self.blocks[min(number, head) - 1].timestamp if number else 0)
        for name in (*NAMES, AccountName("nobody")):
            yield partial(entries, name=name)
        yield marks
        for first, last in ((1, head), (head, 1), (2, 2)):
            yield partial(found, first=first, last=last)
        for block in self.blocks:
            for transaction in block.transactions:
                yield partial(place, identifier=transaction.id)

    def faults(self) -> list[str]:
        """What a check finds."""
        try:
            with self._opened() as history:
                return list(history.faults(self.packed))
        except HistoryDamaged as problem:
            return [str(problem)]

    def packed(self, number: int) -> bytes | None:
        """A block of the chain."""
        return self.blocks[number - 1].packed if 0 < number <= len(self.blocks) else None


def operations(view: HistoryView, block: int) -> object:
    return view.operations_of(block)


def kinds(view: HistoryView, block: int) -> object:
    return sorted(view.kinds_of(block))


def offsets(view: HistoryView, block: int) -> object:
    return view.offsets_of(TransactionPlace(block, 0))


def first_block(view: HistoryView, time: int) -> object:
    return view.first_block_since(time)


def entries(view: HistoryView, name: AccountName) -> object:
    found = view.range_of(name)
    return found and (found, view.entries_of(name, *found))


def marks(view: HistoryView) -> object:
    return view.head_number, view.irreversible_number


def found(view: HistoryView, first: int, last: int) -> object:
    return view.find_operations(first, last, Wanted(), 1000)


def place(view: HistoryView, identifier: TransactionId) -> object:
    return view.place_of(identifier)


def answered(history: EmbeddedHistory, ask: Question) -> object:
    try:
        with history.reading() as view:
            return ask(view)
    except HistoryDamaged:
        return DAMAGED


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    return Small(tmp_path_factory.mktemp("small"))


def changed(raw: bytes, at: int) -> bytes:
    return raw[:at] + bytes((raw[at] ^ 1 << at % 8,)) + raw[at + 1 :]


def test_a_small_history_is_sound(small: Small) -> None:
    assert DAMAGED not in small.sound
    assert small.faults() == []


def test_a_changed_byte_of_a_history_is_found_and_never_another_answer(small: Small) -> None:
    """A transaction is not found where its id does not stand in the table of ids; a check says which one that is."""
    count = 0
    for table, at in islice(small.places(), 0, None, STEP):
        small.write(small.file, changed(small.raw, at))
        for now, before in zip(small.answers(), small.sound, strict=True):
            assert now in (DAMAGED, before) or (table == "transactions" and now is None), (table, at)
        assert small.faults(), (table, at)
        count += 1
    small.write(small.file, small.raw)
    assert count > 1000 // STEP


@pytest.mark.parametrize("name", ["block_log", "block_log.index"])
def test_a_changed_byte_of_the_log_is_the_same_answer_or_damage(small: Small, name: str) -> None:
    path, hits = small.folder / STATE_FOLDER / name, 0
    raw = path.read_bytes()
    for at in range(0, len(raw), STEP):
        small.write(path, changed(raw, at))
        answers = small.answers()
        assert all(now in (DAMAGED, before) for now, before in zip(answers, small.sound, strict=True)), at
        hits += DAMAGED in answers
    small.write(path, raw)
    assert hits
