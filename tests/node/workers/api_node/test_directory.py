"""The state of a directory that is missing, made, committed to, replaced and damaged, as an API node sees it."""

from __future__ import annotations

import shutil
from pathlib import Path

import lmdb
import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.workers.api_node.directory import NO_STATE, OUTDATED, REPLACED, UNREADABLE, DirectoryState
from ledgerd.rpc.call.errors import PlainError
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.files.lock import swapping
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from tests.chain.replays import copy_replayed

CHAIN, LOW, HIGH = "open-2", 200, 330


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of the states at two heights."""
    folders = [tmp_path_factory.mktemp(f"at-{height}") for height in (LOW, HIGH)]
    for height, folder in zip((LOW, HIGH), folders, strict=True):
        copy_replayed(CHAIN, height, folder)
    return folders[0] / STATE_FOLDER, folders[1] / STATE_FOLDER


def head_in(state: DirectoryState) -> int:
    with state.snapshot() as view:
        return view.get(DYNAMIC_GLOBAL_PROPERTIES, 0).head_block_number


def reason_of(state: DirectoryState) -> str:
    with pytest.raises(PlainError) as refused, state.snapshot():
        pass
    return refused.value.message


def test_a_directory_that_is_not_there_yet_is_opened_when_it_is(tmp_path: Path, states: tuple[Path, Path]) -> None:
    state = DirectoryState(tmp_path / "state", STORED_TABLES)
    assert state.refresh() is False
    assert reason_of(state) == NO_STATE
    (tmp_path / "state").mkdir()
    assert state.refresh() is False
    shutil.copyfile(states[0] / DATA_FILE, tmp_path / "state" / DATA_FILE)
    assert state.refresh() is True
    assert head_in(state) == LOW
    assert state.refresh() is False
    state.close()


def test_another_state_is_never_opened_while_its_files_are_put_in_place(
    tmp_path: Path, states: tuple[Path, Path]
) -> None:
    folder = tmp_path / "state"
    shutil.copytree(states[0], folder)
    state = DirectoryState(folder, STORED_TABLES)
    state.refresh()
    assert head_in(state) == LOW
    with swapping(folder):
        (folder / "lock.mdb").unlink()
        assert state.refresh() is True
        assert reason_of(state) == REPLACED
        shutil.copyfile(states[1] / DATA_FILE, tmp_path / "new")
        (tmp_path / "new").replace(folder / DATA_FILE)
        state.refresh()
        assert reason_of(state) == REPLACED
        assert not (folder / "lock.mdb").exists()
    assert state.refresh() is True
    assert head_in(state) == HIGH
    (folder / DATA_FILE).unlink()
    assert state.refresh() is True
    assert reason_of(state) == NO_STATE
    state.close()


@pytest.mark.parametrize("damage", ["zeros", "half", "short", "empty", "other"])
def test_files_that_are_no_state_are_refused_until_there_is_one(
    damage: str, tmp_path: Path, states: tuple[Path, Path]
) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    whole = (states[0] / DATA_FILE).read_bytes()
    said = {
        "zeros": bytes(len(whole)),
        "half": whole[: len(whole) // 2],
        "short": whole[:100],
        "empty": b"",
        "other": b"no state" * 4096,
    }[damage]
    (folder / DATA_FILE).write_bytes(said)
    state = DirectoryState(folder, STORED_TABLES)
    state.refresh()
    assert reason_of(state) in {UNREADABLE, NO_STATE}
    (folder / "new").write_bytes(whole)
    (folder / "new").replace(folder / DATA_FILE)
    state.refresh()
    state.refresh()
    assert head_in(state) == LOW
    state.close()


def test_a_state_of_another_version_is_refused(tmp_path: Path, states: tuple[Path, Path]) -> None:
    shutil.copytree(states[0], tmp_path / "state")
    state = DirectoryState(tmp_path / "state", STORED_TABLES[:-1])
    state.refresh()
    assert reason_of(state) == OUTDATED


@pytest.mark.parametrize("garbage", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\xff" * 300])
def test_a_followed_state_with_objects_that_no_node_writes_is_refused_until_there_is_another(
    garbage: bytes, tmp_path: Path, states: tuple[Path, Path]
) -> None:
    """A replica does not decode what it is sent: a node that lies to it can send such objects."""
    folder = tmp_path / "state"
    shutil.copytree(states[0], folder)
    honest = write_globals(folder, garbage)
    state = DirectoryState(folder, STORED_TABLES)
    state.refresh()
    assert reason_of(state) == UNREADABLE
    write_globals(folder, honest)  # the reader has been closed
    assert state.refresh() is True
    assert head_in(state) == LOW
    state.close()


def write_globals(folder: Path, value: bytes) -> bytes:
    """Write the global properties as these bytes, and return what was there."""
    with lmdb.Environment(str(folder), max_dbs=512) as environment, environment.begin(write=True) as write:
        database = environment.open_db(DYNAMIC_GLOBAL_PROPERTIES.title.encode(), txn=write, create=False)
        [(key, before)] = write.cursor(database)
        write.put(key, value, db=database)
        return before
