"""Commits with a log of changes: what it holds makes one state of another, whatever was abandoned on the way."""

from __future__ import annotations

from pathlib import Path

import lmdb
import pytest

from ledgerd.basics.framing.frames import FrameBuffer
from ledgerd.state import Space, Store
from ledgerd.state.errors import StoreFull
from ledgerd.state.files.change_frames import MOST_FRAME, read_part
from ledgerd.state.files.change_frames import opened as opened_frame
from ledgerd.state.files.change_log import POSITION_VALUE, ChangeLog, ChangeLogReader, LogGap, digest_of_layout
from ledgerd.state.files.header import database_names
from ledgerd.state.tables.tables import layout
from tests.state.items import ITEMS, Item

RUNS = iter(range(1_000))
Contents = dict[str, dict[bytes, bytes]]


def opened(folder: Path, *, logs: bool = True) -> Store:
    log = ChangeLog(folder / "changes", next(RUNS).to_bytes(8, "big")) if logs else None
    return Store.open(folder, [ITEMS], space=Space(1 << 16, 0, 1 << 16, changes=log))


def contents(folder: Path) -> Contents:
    with lmdb.Environment(str(folder), readonly=True, max_dbs=64) as environment, environment.begin() as read:
        names = database_names((ITEMS,))
        return {name: dict(read.cursor(environment.open_db(name.encode(), txn=read, create=False))) for name in names}


def position_of(folder: Path) -> bytes:
    return contents(folder)["header"].get(b"value:" + POSITION_VALUE.encode(), b"")


def with_changes(state: Contents, folder: Path, until: bytes) -> Contents:
    """A state with the changes applied that the log has behind its position."""
    reader, names = ChangeLogReader(folder / "changes", digest_of_layout(layout((ITEMS,)))), [*state]
    position = state["header"][b"value:" + POSITION_VALUE.encode()]
    place = reader.place_of(position)
    while position != until:
        head, parts = reader.record_at(place)
        for frame in FrameBuffer(MOST_FRAME).frames_in(b"".join(reader.bytes_at(parts, head.size, 1 << 20))):
            for number, entries in read_part(opened_frame(frame)[1]).items():
                for key, value in entries.items():
                    if value is None:
                        state[names[number]].pop(key, None)
                    else:
                        state[names[number]][key] = value
        place, position = parts._replace(offset=parts.offset + head.size), head.after
    reader.close()
    return state


def add(store: Store, count: int) -> None:
    for _ in range(count):
        store.create(ITEMS, Item(name=f"item {store.next_id(ITEMS)}"))


def test_the_log_makes_each_later_state_of_an_earlier_one(tmp_path: Path) -> None:
    """Over a map that has to grow, which loses the transaction, undone sessions, a store beside, and a restart."""
    with opened(tmp_path) as store:
        add(store, 5)
        store.commit()
    before = contents(tmp_path)
    with opened(tmp_path) as store:
        with store.begin() as session:
            add(store, 2_000)
            list(store.scan(ITEMS.indexes[0]))
            session.push()
        with store.beside() as other:
            add(other, 3)
            list(other.scan(ITEMS.indexes[0]))
        store.commit()
        store.undo()
        with store.editing(item := store.get(ITEMS, 1)):
            item.name = "renamed"
        store.remove(store.get(ITEMS, 2))
        store.commit()
    after = contents(tmp_path)
    assert with_changes(before, tmp_path, position_of(tmp_path)) == after


def test_what_is_committed_without_the_log_ends_its_use(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        add(store, 1)
        store.commit()
    earlier = position_of(tmp_path)
    with opened(tmp_path, logs=False) as store:
        add(store, 1)
        store.commit()
    assert position_of(tmp_path) == b""
    with opened(tmp_path) as store:
        add(store, 1)
        store.commit()
    with pytest.raises(LogGap):
        ChangeLogReader(tmp_path / "changes", digest_of_layout(layout((ITEMS,)))).place_of(earlier)


def test_a_commit_that_failed_is_in_the_log_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as store:
        add(store, 1)
        store.commit()
    before = contents(tmp_path)
    with opened(tmp_path) as store:
        add(store, 1)

        def full(_disk: object) -> None:
            raise StoreFull("no room")

        with monkeypatch.context() as patched:
            patched.setattr("ledgerd.state.files.disk.Disk.commit", full)
            with pytest.raises(StoreFull):
                store.commit()
        add(store, 1)
        store.commit()
    assert with_changes(before, tmp_path, position_of(tmp_path)) == contents(tmp_path)
