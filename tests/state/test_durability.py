"""What is on the disk: whole blocks or nothing, through restarts, kills, growth and a full disk."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.state import Store
from ledgerd.state.errors import StorageError
from ledgerd.state.files import disk
from tests.state.blocks import SMALL, check_blocks, content, expected, make_block
from tests.state.items import COUNTERS, ITEMS, TABLES, Item


def open_store(path: Path) -> Store:
    return Store.open(path, TABLES, space=SMALL)


def test_a_reopened_state_is_that_of_the_last_commit(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for _ in range(8):
            make_block(store)
        store.set_meta("head", b"8")
        store.commit()
        make_block(store)
        store.set_meta("head", b"9")

    with open_store(tmp_path) as store:
        assert (store.revision, store.undoable, store.meta("head")) == (8, 3, b"8")
        check_blocks(store)


def test_the_undo_of_blocks_can_be_committed_too(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for _ in range(8):
            make_block(store)
        store.commit()
        store.undo()
        store.commit()
        store.undo()
        store.commit()

    with open_store(tmp_path) as store:
        assert (store.revision, store.undoable) == (6, 1)
        make_block(store)
        store.commit()
        check_blocks(store)


def test_blocks_made_after_a_restart_can_be_undone_with_those_before(tmp_path: Path) -> None:
    for restart in range(6):
        with open_store(tmp_path) as store:
            assert content(store) == expected(restart)
            make_block(store)
            store.commit()

    with open_store(tmp_path) as store:
        check_blocks(store)


def test_changes_outside_of_blocks_are_undone_with_the_block_below(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        session = store.begin()
        store.create(ITEMS, Item(name="in the block"))
        session.push()
        store.commit()
        store.create(ITEMS, Item(name="after it"))
        store.commit()

    with open_store(tmp_path) as store:
        store.undo()
        assert list(store.scan(ITEMS)) == []


def test_nothing_is_left_of_a_block_that_was_undone_before_the_commit(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        make_block(store)
        store.commit()
        make_block(store)
        list(store.scan(ITEMS))
        store.undo()
        store.commit()

    with open_store(tmp_path) as store:
        check_blocks(store)


@pytest.mark.parametrize(("batch", "lines"), [(1, 1), (1, 7), (1, 30), (4, 2), (4, 11), (50, 1)])
def test_a_killed_writer_leaves_whole_blocks(tmp_path: Path, batch: int, lines: int) -> None:
    command = [sys.executable, "-m", "tests.state.blocks", str(tmp_path), str(batch), "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:  # noqa: S603 - our own code
        assert writer.stdout is not None
        seen = [int(writer.stdout.readline()) for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)

    with open_store(tmp_path) as store:
        assert store.revision >= seen[-1]
        assert store.revision % batch == 0
        assert content(store) == expected(store.revision)
        make_block(store)
        check_blocks(store)


def test_the_file_grows_while_it_is_written(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for number in range(8000):
            store.create(ITEMS, Item(name=f"item{number}", time=number % 10))
            if number == 6000:
                assert store.verify() == []
        store.commit()
        assert (tmp_path / disk.DATA_FILE).stat().st_size > SMALL.initial

    with open_store(tmp_path) as store:
        assert store.verify() == []
        assert sum(1 for _ in store.scan(ITEMS)) == 8000


def test_one_commit_may_need_more_room_than_there_is(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for number in range(300):
            store.create(ITEMS, Item(name=f"{number}-{'x' * 24}"))
            with store.editing(store.get(ITEMS, number)):
                store.get(ITEMS, number).weight = number
        store.set_meta("large", b"x" * (3 << 20))
        store.commit()

    with open_store(tmp_path) as store:
        assert store.verify() == []
        assert store.get(ITEMS, 299).weight == 299
        assert len(store.meta("large") or b"") == 3 << 20


FULL_DISK = """
import resource, sys
from pathlib import Path
from ledgerd.state.errors import StorageError
from tests.state.blocks import SMALL, check_blocks, make_block
from tests.state.items import TABLES
from ledgerd.state import Store

path = Path(sys.argv[1])
store = Store.open(path, TABLES, space=SMALL)
for _ in range(7):
    make_block(store)
store.commit()
size = (path / "data.mdb").stat().st_size
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
store.set_meta("large", b"x" * (1 << 20))
make_block(store)
try:
    store.commit()
except StorageError as error:
    print(error)
if sys.argv[2] == "retry":
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    make_block(store)
    store.commit()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
@pytest.mark.parametrize(("then", "revision"), [("stop", 7), ("retry", 9)])
def test_a_full_disk_leaves_the_last_commit(tmp_path: Path, then: str, revision: int) -> None:
    said = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", FULL_DISK, str(tmp_path), then], check=True, capture_output=True, text=True
    ).stdout

    assert "the state is that of the last commit" in said
    with open_store(tmp_path) as store:
        assert store.revision == revision
        check_blocks(store)


def test_what_failed_to_be_written_can_be_committed_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path) as store:
        make_block(store)

        def refuse(*_: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(store, "_write", refuse)
            with pytest.raises(StorageError, match="no room left"):
                store.commit()
        assert store.get(COUNTERS, 0).value == 1
        store.commit()

    with open_store(tmp_path) as store:
        check_blocks(store)
