"""The store beside a naive model of the reference's, through every change, session, commit, crash and restart."""

from __future__ import annotations

import copy
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ledgerd.state import Space, Store
from ledgerd.state.errors import NotUnique
from ledgerd.state.memory import cache
from ledgerd.state.sessions.sessions import Session
from ledgerd.state.tables.tables import Index
from tests.state.items import ITEM_BY_NAME, ITEM_BY_OPEN_TIME, ITEM_BY_TIME, ITEM_BY_WEIGHT, ITEMS, TABLES, Item
from tests.state.multi_index import ModelTable

NAMES = st.sampled_from([*(f"name{number}" for number in range(9)), "name0\0one", "name0\0two", "name1\0one"])
TIMES = st.integers(0, 4)
WEIGHTS = st.integers(-2, 2)
PICKS = st.integers(0, 1 << 16)
SMALL = Space(initial=1 << 20, min_free=1 << 17, increment=1 << 16)


class StoreBesideModel(RuleBasedStateMachine):
    """Does the same to both, and compares them after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.model = ModelTable({"time": 1, "weight": -1}, "name")
        self.open_sessions: list[Session] = []
        self.pushed = 0
        self.remember_commit()
        self.store = self.open_store()

    def open_store(self) -> Store:
        return Store.open(self.path, TABLES, space=SMALL, cached=0)

    def remember_commit(self) -> None:
        self.committed = copy.deepcopy(self.model), self.pushed

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def pick(self, pick: int) -> int | None:
        ids = sorted(self.model.rows)
        return ids[pick % len(ids)] if ids else None

    # -- changes

    @initialize()
    def begin_empty(self) -> None:
        assert list(self.store.scan(ITEMS)) == []

    @rule(name=NAMES, time=TIMES, weight=WEIGHTS, is_open=st.booleans())
    def create(self, name: str, time: int, weight: int, is_open: bool) -> None:
        row: dict[str, Any] = {"name": name, "time": time, "weight": weight, "is_open": is_open, "note": 0}
        if self.model.is_taken(name):
            with pytest.raises(NotUnique):
                self.store.create(ITEMS, Item(0, **row))
        else:
            self.store.create(ITEMS, Item(0, **row))
            self.model.create(row)

    @rule(
        pick=PICKS,
        change=st.fixed_dictionaries(
            {}, optional={"name": NAMES, "time": TIMES, "weight": WEIGHTS, "is_open": st.booleans()}
        ),
    )
    def edit(self, pick: int, change: dict[str, Any]) -> None:
        row_id = self.pick(pick)
        if row_id is None:
            return
        item = self.store.get(ITEMS, row_id)
        if "name" in change and self.model.is_taken(change["name"], but=row_id):
            with pytest.raises(NotUnique), self.store.editing(item):
                assign(item, change)
        else:
            with self.store.editing(item):
                assign(item, change)
            self.model.edit(row_id, change)

    @rule(pick=PICKS, other=PICKS, times=st.tuples(TIMES, TIMES), weight=WEIGHTS)
    def edit_two_with_an_edit_inside(self, pick: int, other: int, times: tuple[int, int], weight: int) -> None:
        first, second = self.pick(pick), self.pick(other)
        if first is None or second is None or first == second:
            return
        one, two = self.store.get(ITEMS, first), self.store.get(ITEMS, second)
        with self.store.editing(one, two):
            two.weight = weight
            with self.store.editing(one):
                one.time = times[0]
            one.time = times[1]
        self.model.edit(first, {"time": times[0]})
        self.model.edit(first, {"time": times[1]})
        self.model.edit(second, {"weight": weight})

    @rule(pick=PICKS, time=TIMES, weight=WEIGHTS)
    def edit_and_fail(self, pick: int, time: int, weight: int) -> None:
        row_id = self.pick(pick)
        if row_id is None:
            return
        item = self.store.get(ITEMS, row_id)
        with pytest.raises(ZeroDivisionError):
            change_and_fail(self.store, item, time, weight)

    @rule(pick=PICKS, note=WEIGHTS, is_inside=st.booleans())
    def remember(self, pick: int, note: int, is_inside: bool) -> None:
        row_id = self.pick(pick)
        if row_id is None:
            return
        item = self.store.get(ITEMS, row_id)
        with self.store.editing(item) if is_inside else nullcontext():
            self.store.remember(item)
            item.note = note
        self.model.edit(row_id, {"note": note})

    @rule(pick=PICKS)
    def remove(self, pick: int) -> None:
        row_id = self.pick(pick)
        if row_id is not None:
            self.store.remove(self.store.get(ITEMS, row_id))
            self.model.remove(row_id)

    # -- sessions

    @precondition(lambda self: len(self.open_sessions) < 4)
    @rule(is_replayed=st.booleans())
    def begin(self, is_replayed: bool) -> None:
        is_replayed = is_replayed and bool(self.open_sessions)
        self.open_sessions.append(self.store.begin(replays_ties=is_replayed))
        self.model.begin(is_replayed=is_replayed)

    @precondition(lambda self: self.open_sessions)
    @rule()
    def undo(self) -> None:
        self.open_sessions.pop().undo()
        self.model.undo()

    @precondition(lambda self: self.open_sessions)
    @rule()
    def squash(self) -> None:
        self.open_sessions.pop().squash()
        self.model.squash()

    @precondition(lambda self: len(self.open_sessions) == 1)
    @rule()
    def push(self) -> None:
        self.open_sessions.pop().push()
        self.pushed += 1

    @precondition(lambda self: not self.open_sessions and self.pushed)
    @rule()
    def pop_block(self) -> None:
        self.store.undo()
        self.model.undo()
        self.pushed -= 1

    @precondition(lambda self: self.pushed)
    @rule(count=st.integers(1, 2))
    def make_irreversible(self, count: int) -> None:
        count = min(count, self.pushed)
        self.store.irreversible(self.store.revision - len(self.open_sessions) - self.pushed + count)
        del self.model.stack[:count]
        self.pushed -= count

    # -- the disk

    @precondition(lambda self: not self.open_sessions)
    @rule()
    def commit(self) -> None:
        self.store.commit()
        self.remember_commit()

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = self.open_store()
        model, self.pushed = self.committed
        self.model = copy.deepcopy(model)
        self.open_sessions = []

    # -- agreement

    @invariant()
    def orders_agree(self) -> None:
        model, store = self.model, self.store
        assert rows_of(store) == model.rows
        assert store.next_id(ITEMS) == model.next_id
        assert ids_in(store, ITEM_BY_TIME) == model.orders["time"]
        assert ids_in(store, ITEM_BY_WEIGHT) == model.orders["weight"]
        assert ids_in(store, ITEM_BY_WEIGHT, reverse=True) == model.orders["weight"][::-1]
        assert ids_in(store, ITEM_BY_OPEN_TIME) == sorted(
            model.rows, key=lambda row_id: (model.rows[row_id]["is_open"], model.rows[row_id]["time"], row_id)
        )

    @rule()
    def oldest_is_found(self) -> None:
        oldest = self.store.oldest(ITEMS)
        assert (None if oldest is None else oldest.id) == min(self.model.rows, default=None)

    @invariant()
    def names_are_found(self) -> None:
        for row_id, row in self.model.rows.items():
            assert self.store.at(ITEM_BY_NAME, row["name"]) is self.store.find(ITEMS, row_id)
        assert self.store.lookup(ITEM_BY_NAME, "nobody") is None

    @invariant()
    def store_is_sound(self) -> None:
        assert self.store.verify() == []
        assert self.store.undoable == len(self.model.stack)


def assign(item: Item, change: dict[str, Any]) -> None:
    for name, value in change.items():
        setattr(item, name, value)


def change_and_fail(store: Store, item: Item, time: int, weight: int) -> None:
    with store.editing(item):
        with store.editing(item):
            item.time = time
        item.weight = weight
        raise ZeroDivisionError


def rows_of(store: Store) -> dict[int, dict[str, Any]]:
    return {
        item.id: {
            "name": item.name,
            "time": item.time,
            "weight": item.weight,
            "is_open": item.is_open,
            "note": item.note,
        }
        for item in store.scan(ITEMS)
    }


def ids_in(store: Store, index: Index[Item], *, reverse: bool = False) -> list[int]:
    return [item.id for item in store.scan(index, reverse=reverse)]


@pytest.fixture(autouse=True)
def evict_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep nothing in memory over a commit, so that everything is read back."""
    monkeypatch.setattr(cache, "NEVER_EVICTED", 0)


StoreBesideModel.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestStoreBesideModel = StoreBesideModel.TestCase
