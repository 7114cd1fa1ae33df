"""Files that cannot be used: damaged, foreign, of another layout, or in use. What is said, and what survives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ledgerd.state import Store
from ledgerd.state.errors import StoreCorrupt, StoreLocked, StoreOutdated
from ledgerd.state.files import disk
from tests.state.blocks import check_blocks, make_block
from tests.state.items import ITEMS, TABLES, Item


def data_file(path: Path) -> Path:
    return path / disk.DATA_FILE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A state of some hundred objects."""
    with Store.open(tmp_path, TABLES) as store:
        for number in range(300):
            store.create(ITEMS, Item(name=f"item{number}"))
        store.commit()
    return tmp_path


def cut_in_half(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as data:
        data.truncate(size // 2 // 4096 * 4096)


def cut_to_the_head(file: Path) -> None:
    with file.open("r+b") as data:
        data.truncate(8192)


def overwrite(file: Path) -> None:
    file.write_bytes(b"no database" * 5000)


def overwrite_the_head(file: Path) -> None:
    with file.open("r+b") as data:
        data.write(b"\0" * 8192)


@pytest.mark.parametrize("harm", [cut_in_half, cut_to_the_head, overwrite, overwrite_the_head])
def test_a_damaged_file_is_found_when_it_is_opened(folder: Path, harm: Callable[[Path], None]) -> None:
    harm(data_file(folder))

    with pytest.raises(StoreCorrupt, match="remove its folder, then replay the block log or import a snapshot"):
        Store.open(folder, TABLES)


def test_a_file_that_lacks_only_unused_pages_is_sound(folder: Path) -> None:
    """What was cut off here is free: the file was longer once."""
    with Store.open(folder, TABLES) as store:
        store.set_meta("large", b"x" * (1 << 20))
        store.commit()
        store.set_meta("large", b"")
        store.commit()
    file = data_file(folder)
    size = file.stat().st_size
    with file.open("r+b") as data:
        data.truncate(size - (1 << 19))

    with Store.open(folder, TABLES) as store:
        assert store.verify() == []
    assert file.stat().st_size == size


def test_an_empty_file_is_a_new_state(tmp_path: Path) -> None:
    data_file(tmp_path).touch()

    with Store.open(tmp_path, TABLES) as store:
        make_block(store)
        store.commit()
        check_blocks(store)


def test_a_folder_can_be_opened_again_after_a_failure(folder: Path) -> None:
    with pytest.raises(StoreOutdated):
        Store.open(folder, TABLES[:1])

    with Store.open(folder, TABLES), pytest.raises(StoreLocked):
        Store.open(folder, TABLES)
    Store.open(folder, TABLES).close()
