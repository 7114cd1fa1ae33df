"""What is not committed, laid over a reader's snapshot: it reads as the writer's store does."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.state import StateReader, Store, View
from ledgerd.state.tables.records import Row
from ledgerd.state.views import overlay as overlay_module
from ledgerd.state.views.overlay import Overlay
from tests.state.items import (
    COUNTERS,
    ITEM_BY_NAME,
    ITEM_BY_OPEN_TIME,
    ITEM_BY_TIME,
    ITEM_BY_WEIGHT,
    ITEMS,
    TABLES,
    Counter,
    Item,
)

SOURCES = (ITEMS, ITEM_BY_TIME, ITEM_BY_WEIGHT, ITEM_BY_NAME, ITEM_BY_OPEN_TIME)
NAMES = [f"item{number}" for number in range(16)]

Change = tuple[str, int, int]
changes = st.lists(
    st.tuples(st.sampled_from(("create", "remove", "move", "rename")), st.integers(0, 11), st.integers(0, 3)),
    max_size=14,
)


def fill(store: Store) -> None:
    for number in range(8):
        store.create(ITEMS, Item(name=NAMES[number], time=number % 3, weight=number % 2, is_open=number % 2 == 0))
    store.set_revision(7)
    store.commit()


def change(store: Store, what: Change) -> None:
    kind, number, value = what
    item = store.find(ITEMS, number)
    free = [name for name in NAMES if store.lookup(ITEM_BY_NAME, name) is None]
    if kind == "create" and free:
        store.create(ITEMS, Item(name=free[value % len(free)], time=value, weight=value, is_open=True))
    elif item is None:
        return
    elif kind == "remove":
        store.remove(item)
    else:
        with store.editing(item):
            if kind == "move":
                item.time, item.weight = value, -value
            elif free:
                item.name = free[value % len(free)]


def answers(view: View) -> list[str]:
    """All that can be asked of the items, as it is now: the store's own objects go on changing."""
    items = list(view.scan(ITEMS))
    found: list[Any] = [items, view.count(ITEMS), view.count(COUNTERS)]
    for source in SOURCES:
        bounds = ((), (1,)) if source is not ITEM_BY_NAME else ((), ("item1",))
        found += [
            list(view.scan(source, lower=each, upper=each, reverse=reverse))
            for each in bounds
            for reverse in (False, True)
        ]
        found += [list(view.scan(source, after=item)) for item in items]
        found += [list(view.scan(source, after=item, reverse=True)) for item in items]
        found += [view.position(source, item) for item in items]
    found += [(item.name, item.time) for item in view.scan_fields(ITEMS, "name", "time")]
    found += [(view.lookup(ITEM_BY_NAME, name), view.has(ITEM_BY_NAME, name)) for name in NAMES]
    found += [view.derived(lambda item: (item.id, item.time), ITEM_BY_NAME, name) for name in NAMES]
    return [repr(each) for each in found]


@settings(max_examples=60, deadline=None)
@given(st.lists(changes, min_size=1, max_size=3))
def test_a_snapshot_with_what_is_not_committed_reads_as_the_store_does(sessions: list[list[Change]]) -> None:
    """Laid session by session, with questions in between; a process has a database open once, so the reader waits."""
    with TemporaryDirectory() as folder:
        steps: list[tuple[list[Row], list[str]]] = []
        with Store.open(Path(folder), TABLES) as store:
            fill(store)
            below = store.begin()
            for each in sessions:
                session = store.begin()
                for what in each:
                    change(store, what)
                rows = store.changed_rows(session)
                session.squash()
                steps.append((rows, answers(store)))
            below.undo()
        overlay = Overlay(TABLES)
        with StateReader.open(Path(folder), TABLES) as reader, reader.snapshot() as snapshot:
            for rows, wanted in steps:
                overlay.add(7, rows)
                assert answers(overlay.over(snapshot)) == wanted


def row(object_id: int) -> Row:
    return COUNTERS.number, object_id, COUNTERS.codec.encode(Counter(object_id))


def counted(folder: Path, overlay: Overlay) -> int:
    with StateReader.open(folder, TABLES) as reader, reader.snapshot() as snapshot:
        return overlay.over(snapshot).count(COUNTERS)


def test_what_was_changed_over_another_revision_is_not_shown(tmp_path: Path) -> None:
    with Store.open(tmp_path, TABLES) as store:
        fill(store)
    overlay = Overlay(TABLES)

    overlay.add(6, [row(0)])
    assert counted(tmp_path, overlay) == 0

    overlay.add(7, [row(1)])
    assert counted(tmp_path, overlay) == 1

    overlay.clear()
    assert counted(tmp_path, overlay) == 0


def test_an_overlay_that_is_full_shows_what_is_committed(tmp_path: Path, monkeypatch: Any) -> None:
    with Store.open(tmp_path, TABLES) as store:
        fill(store)
    monkeypatch.setattr(overlay_module, "MOST_ROWS", 2)
    overlay = Overlay(TABLES)

    overlay.add(7, [row(0), row(1)])
    assert counted(tmp_path, overlay) == 2

    overlay.add(7, [row(2)])
    assert counted(tmp_path, overlay) == 0
