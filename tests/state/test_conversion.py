"""A state of a former version is converted in place, in steps; whatever stops it, the next start goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ledgerd.codec.numbers import Int64, UInt32
from ledgerd.state import Entity, Space, StateReader, Store, StoreOutdated, Table, conversion, ordered, unique
from ledgerd.state.disk import Disk
from ledgerd.state.former import Change, Former, added_fields
from ledgerd.state.header import UNDER_CONVERSION
from ledgerd.state.keys import INT64, NAME_TEXT, TIME
from ledgerd.state.tables import layout
from tests.state.items import COUNTERS, ITEM_BY_OPEN_TIME, ITEM_BY_TIME, ITEM_BY_WEIGHT, ITEMS, TABLES, Counter
from tests.state.items import Item as TodaysItem

SMALL = Space(1 << 20, 1 << 16, 1 << 17)
COUNT = 60
FULL = 5_000
"""Items that are much more than the first room of a small state."""


class Item(Entity):
    """As it was: it could not be closed, and had no order of weights."""

    name: str = ""
    time: UInt32 = 0
    weight: Int64 = 0


FORMER_ITEMS = Table(Item, number=1)
unique(FORMER_ITEMS, "by_name", key=lambda item: (item.name,), order=(NAME_TEXT,))
ordered(FORMER_ITEMS, "by_class", key=lambda item: (item.weight % 3,), order=(INT64,))
ordered(FORMER_ITEMS, "by_time", key=lambda item: (item.time,), order=(TIME,))
FORMER_TABLES = (FORMER_ITEMS,)

FORMER = Former(
    "the version of this test",
    hashlib.sha256(layout(FORMER_TABLES).encode()).hexdigest(),
    {ITEMS: Change(partial(added_fields, TodaysItem, "is_open"), {ITEM_BY_WEIGHT.title: "Item.by_class"})},
)

open_today: Callable[[Path], Store] = partial(Store.open, tables=TABLES, space=SMALL, formers=[FORMER])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixty items, of which the newest session has changed, removed and made some."""
    with Store.open(tmp_path, FORMER_TABLES, space=SMALL) as store:
        for number in range(COUNT):
            store.create(FORMER_ITEMS, Item(name=f"item{number}", time=number % 4, weight=number % 5))
        store.set_meta("chain", b"viz")
        store.set_revision(7)
        store.commit()
        with store.begin() as session:
            for number in range(0, COUNT, 7):
                changed = store.get(FORMER_ITEMS, number)
                with store.editing(changed):
                    changed.weight, changed.time = 9 + number % 3, 2
            store.remove(store.get(FORMER_ITEMS, 7))
            store.remove(store.get(FORMER_ITEMS, 8))
            store.create(FORMER_ITEMS, Item(name="last", time=1, weight=1))
            session.push()
        store.commit()
    return tmp_path


def former_orders(folder: Path, *, undone: bool) -> dict[str, list[int]]:
    """What the former version says of its orders; of weights there was none."""
    with Store.open(folder, FORMER_TABLES, space=SMALL) as store:
        if undone:
            store.undo()
        by_time = [item.id for item in store.scan(FORMER_ITEMS.indexes[2])]
        by_class = [item.id for item in store.scan(FORMER_ITEMS.indexes[1])]
        weights = {item.id: item.weight for item in store.scan(FORMER_ITEMS)}
    rank = {each: place for place, each in enumerate(by_class)}
    by_weight = sorted(weights, key=lambda each: (-weights[each], rank[each]))
    return {"by_time": by_time, "by_weight": by_weight}


def todays_orders(store: Store) -> dict[str, list[int]]:
    return {
        "by_time": [item.id for item in store.scan(ITEM_BY_TIME)],
        "by_weight": [item.id for item in store.scan(ITEM_BY_WEIGHT)],
    }


@pytest.mark.parametrize("undone", [False, True])
def test_objects_orders_and_the_journal_are_those_of_before(folder: Path, *, undone: bool) -> None:
    expected = former_orders(folder, undone=undone)
    with open_today(folder) as store:
        assert (store.revision, store.undoable, store.meta("chain")) == (8, 1, b"viz")
        if undone:
            store.undo()
        assert todays_orders(store) == expected
        assert store.verify() == []
        assert not any(item.is_open for item in store.scan(ITEMS))
        assert [item.id for item in store.scan(ITEM_BY_OPEN_TIME)] == sorted(
            expected["by_time"], key=lambda each: (store.get(ITEMS, each).time, each)
        )
        assert store.next_id(ITEMS) == COUNT + (not undone)
        assert store.create(COUNTERS, Counter(value=5)).id == 0
        store.commit()
    with Store.open(folder, TABLES, space=SMALL) as store:
        assert store.verify() == []


def assert_not_read_by_halves(folder: Path) -> None:
    """A reader sees the state as a whole or not at all, and so does the former version."""
    try:
        with StateReader.open(folder, TABLES) as reader, reader.snapshot() as view:
            assert view.count(ITEMS) == COUNT - 1
            assert len(list(view.scan(ITEM_BY_OPEN_TIME))) == COUNT - 1
    except StoreOutdated:
        pass
    try:
        with StateReader.open(folder, FORMER_TABLES) as reader, reader.snapshot() as view:
            assert len(list(view.scan(FORMER_ITEMS.indexes[1]))) == COUNT - 1
    except StoreOutdated:
        pass


class Killed(Exception):
    """The process is no more."""


@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after"])
def test_it_goes_on_wherever_it_was_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch, *, is_late: bool) -> None:
    """Killed at every commit in turn, before or after it."""
    monkeypatch.setattr(conversion, "ROWS_A_STEP", 7)
    expected, commit = former_orders(folder, undone=False), Disk.commit
    allowed = 0

    def killed_at(disk: Disk) -> None:
        nonlocal allowed
        if not allowed and not is_late:
            raise Killed
        commit(disk)
        if not allowed:
            raise Killed
        allowed -= 1

    starts = 0
    with monkeypatch.context() as patched:
        patched.setattr(Disk, "commit", killed_at)
        while True:
            starts += 1
            allowed = 2  # that of the sub-databases, and one of the conversion
            try:
                open_today(folder).close()
                break
            except Killed:
                assert_not_read_by_halves(folder)
    assert starts >= 8
    with open_today(folder) as store:
        assert todays_orders(store) == expected
        assert store.verify() == []
        store.undo()
        assert store.verify() == []


def test_a_full_map_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "ROWS_A_STEP", FULL * 2 // 3)
    with Store.open(tmp_path, FORMER_TABLES) as store:
        for number in range(FULL):
            store.create(FORMER_ITEMS, Item(name=f"item{number}", time=number, weight=number))
        store.commit()
    with Store.open(tmp_path, TABLES, space=Space(1 << 12, 1 << 17, 1 << 16), formers=[FORMER]) as store:
        assert store.verify() == []
        assert store.count(ITEMS) == FULL


def test_the_state_of_an_unknown_version_is_left_as_it_is(folder: Path) -> None:
    unknown = FORMER._replace(digest="0" * 64)
    with pytest.raises(StoreOutdated):
        Store.open(folder, TABLES, space=SMALL, formers=[unknown])
    with Store.open(folder, FORMER_TABLES, space=SMALL) as store:
        assert store.verify() == []


def test_a_new_state_is_converted_from_nothing(tmp_path: Path) -> None:
    with open_today(tmp_path) as store:
        assert store.count(ITEMS) == 0
    assert not UNDER_CONVERSION.startswith("0")


def test_progress_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(conversion, "ROWS_A_STEP", 30)
    with caplog.at_level("INFO"):
        open_today(folder).close()
    assert "written by the version of this test" in caplog.text
    assert "Item: 30 of 59 converted" in caplog.text
