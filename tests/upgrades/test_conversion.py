"""A made-up next format: what was there is there after its conversion, and after one that was killed at any step."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ledgerd.state import Store
from ledgerd.state.conversion import PART, Conversion, convert_store, kept_name
from ledgerd.state.errors import StoreFull, StoreNewer, StoreOutdated
from ledgerd.state.files import header
from ledgerd.state.files.disk import DATA_FILE
from tests.house.source_tree import ROOT
from tests.node.processes import PATIENCE
from tests.state.blocks import SMALL, make_block
from tests.state.items import COUNTERS, ITEMS, TABLES
from tests.upgrades.next_tables import NEXT, NOTED_ITEMS, STEPS, convert, open_next

PRESENT = header.STATE.number
Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state of today, with blocks that can be undone."""
    folder = tmp_path_factory.mktemp("base") / "state"
    with Store.open(folder, TABLES, space=SMALL) as store:
        for _ in range(8):
            make_block(store)
        store.set_meta("head", b"8")
        store.commit()
    return folder


@pytest.fixture(scope="module")
def before(base: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Rows]:
    """What is in it, and below each block that is undone."""
    folder = Path(shutil.copytree(base, tmp_path_factory.mktemp("before") / "state"))
    with Store.open(folder, TABLES, space=SMALL) as store:
        return downwards(store, ITEMS)


@pytest.fixture
def folder(base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(base, tmp_path / "state"))


def downwards(store: Store, items: Any) -> list[Rows]:
    found = [rows(store, items)]
    while store.undoable:
        store.undo()
        found.append(rows(store, items))
    return found


def rows(store: Store, items: Any) -> Rows:
    """All objects, in the order of ids and in that of each index, with what both versions have of them."""
    orders = (items, *items.indexes, COUNTERS)
    return [tuple(getattr(each, name, None) for name in FIELDS) for order in orders for each in store.scan(order)]


FIELDS = ("id", "name", "time", "weight", "is_open", "value")


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has the made-up next format from here on."""
    monkeypatch.setattr(header, "STATE", NEXT)
    monkeypatch.setattr(header, "FORMAT", NEXT.text)


@pytest.mark.usefixtures("next_version")
def test_all_is_there_after_a_conversion_which_says_first_what_it_takes(
    folder: Path, before: list[Rows], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), open_next(folder) as store:
        assert store.verify() == []
        assert store.meta("head") == b"8"
        assert {each.note for each in store.scan(NOTED_ITEMS)} == {""}
        assert downwards(store, NOTED_ITEMS) == before

    said, done = caplog.messages
    assert said.startswith(f"{folder} is converted from format {PRESENT} to {NEXT.number}: it takes about 1 s and 1 MB")
    assert done == f"{folder} is converted"
    caplog.clear()
    open_next(folder).close()
    assert caplog.messages == []


def test_who_goes_back_finds_what_was_there_before(
    folder: Path, before: list[Rows], monkeypatch: pytest.MonkeyPatch
) -> None:
    convert(folder)
    with pytest.raises(StoreNewer, match=r"has format 2, and this program knows 1 .* Start version 1\.1\.0"):
        Store.open(folder, TABLES, space=SMALL)

    (folder / kept_name(PRESENT) / DATA_FILE).replace(folder / DATA_FILE)
    with Store.open(folder, TABLES, space=SMALL) as store:
        assert downwards(store, ITEMS) == before
    monkeypatch.setattr(header, "STATE", NEXT)
    monkeypatch.setattr(header, "FORMAT", NEXT.text)
    open_next(folder).close()


@pytest.mark.usefixtures("next_version")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_conversion_that_was_killed_at_any_step_is_done_again(base: Path, tmp_path: Path, before: list[Rows]) -> None:
    subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-m", "tests.upgrades.killed_conversions", str(base), str(tmp_path)],
        cwd=ROOT,
        check=True,
        timeout=PATIENCE,
    )

    killed = sorted(tmp_path.iterdir(), key=lambda each: int(each.name))[:-1]
    assert len(killed) > 20
    done = [header_is_next(each) for each in killed]
    assert done == sorted(done)  # first what was there, then what is to be
    assert {True, False} == {*done}
    for each in killed:
        with open_next(each) as store:
            assert store.verify() == []
            assert downwards(store, NOTED_ITEMS) == before
        assert not (each / PART).exists()


def header_is_next(folder: Path) -> bool:
    """Whether a folder has a whole store of the next format, or one of today's."""
    return NEXT.text in (folder / DATA_FILE).read_bytes()


@pytest.mark.usefixtures("next_version")
def test_without_room_on_the_disk_nothing_is_begun(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (folder / DATA_FILE).read_bytes()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))

    with pytest.raises(StoreFull, match=r"has no room for [0-9]+ MB, which the conversion to format 2 takes"):
        open_next(folder)
    assert (folder / DATA_FILE).read_bytes() == data
    assert not [path for path in folder.iterdir() if path.is_dir()]


@pytest.mark.usefixtures("next_version")
def test_what_no_step_leads_from_is_left_to_be_made_again(folder: Path) -> None:
    convert_store(folder, NEXT, [STEPS[0]._replace(number=NEXT.number + 1)])

    with pytest.raises(StoreOutdated):
        Store.open(folder, TABLES, space=SMALL)


def test_several_steps_are_taken_one_after_the_other(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    taken: list[int] = []
    later = NEXT._replace(number=PRESENT + 3)
    steps = [
        Conversion(number, lambda _, number=number: taken.append(number))  # type: ignore[misc]
        for number in range(PRESENT + 1, PRESENT + 5)
    ]

    convert_store(folder, later, steps)

    assert taken == [PRESENT + 1, PRESENT + 2, PRESENT + 3]
    assert f"from format {PRESENT} to {PRESENT + 3}" in caplog.text
