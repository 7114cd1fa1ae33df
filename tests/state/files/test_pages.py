"""Pages that are missing from a file are found, wherever it was cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.state import Store
from ledgerd.state.errors import StoreCorrupt
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.files.pages import BRANCH, is_whole
from tests.state.items import ITEMS, TABLES, Item

PAGE = 4096


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A state with pages of every kind: branches, leaves, values of many pages."""
    with Store.open(tmp_path, TABLES) as store, store.loading() as rows:
        for number in range(2000):
            rows.add(ITEMS, Item(number, f"item{number:020}"))
    with Store.open(tmp_path, TABLES) as store:
        store.set_meta("large", b"x" * 20_000)
        store.commit()
    return tmp_path / DATA_FILE


def holds(file: Path, length: int) -> bool:
    with file.open("rb") as data:
        return is_whole(data, length, PAGE)


def test_a_file_as_it_was_written_is_whole(file: Path) -> None:
    assert holds(file, file.stat().st_size)


def test_wherever_a_file_is_cut_it_is_refused_or_still_has_all(file: Path, tmp_path: Path) -> None:
    raw = file.read_bytes()
    found = set()
    for length in range(len(raw) - PAGE, 0, -7 * PAGE):
        file.write_bytes(raw[:length])
        found.add(is_sound := holds(file, length))
        if not is_sound:
            with pytest.raises(StoreCorrupt):
                Store.open(tmp_path, TABLES)
            continue
        with Store.open(tmp_path, TABLES) as store:
            assert store.verify() == []
            assert store.meta("large") == b"x" * 20_000

    assert False in found


def test_zeros_in_the_place_of_a_page_in_use_are_found(file: Path) -> None:
    raw = file.read_bytes()
    found = []
    for start in range(2 * PAGE, len(raw), 5 * PAGE):
        file.write_bytes(raw[:start] + bytes(PAGE) + raw[start + PAGE :])
        found.append(holds(file, len(raw)))

    assert found.count(False) > len(found) // 2


def test_a_branch_that_leads_back_to_itself_is_found(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    branches = [start for start in range(2 * PAGE, len(raw), PAGE) if raw[start + 10] & BRANCH]
    for start in branches:
        first = start + int.from_bytes(raw[start + 16 : start + 18], "little")
        raw[first : first + 6] = (start // PAGE).to_bytes(6, "little")
    file.write_bytes(raw)

    assert branches
    assert not holds(file, len(raw))
