"""The lock of the writer: one process at a time, and the next one as soon as that has ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from ledgerd.state import StateReader, Store
from ledgerd.state.errors import StoreLocked
from ledgerd.state.files.lock import LOCK_FILE, PAUSE_SECONDS, files_stay, holder_of, lock_writer, swapping
from tests.state.items import TABLES


def test_a_second_writer_is_refused_with_the_number_of_the_first(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.state.blocks", str(tmp_path), "1", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:  # noqa: S603 - our own code
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(StoreLocked, match=rf"\(process {writer.pid}\): stop that one"):
            Store.open(tmp_path, TABLES)
        writer.kill()

    with Store.open(tmp_path, TABLES) as store:
        assert store.revision > 0


def test_a_folder_is_free_again_when_the_file_is_closed(tmp_path: Path) -> None:
    held = lock_writer(tmp_path)
    with pytest.raises(StoreLocked, match="stop that one, or give this one another data directory"):
        lock_writer(tmp_path)
    held.close()

    lock_writer(tmp_path).close()


def test_a_lock_that_a_child_of_a_killed_writer_holds_for_a_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its start and its first instruction a child has the files of its parent open."""
    held, pauses = lock_writer(tmp_path), list[float]()

    def wait(_event: Event, seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            held.close()

    monkeypatch.setattr(Event, "wait", wait)
    lock_writer(tmp_path).close()
    assert pauses == [PAUSE_SECONDS] * 3


def test_what_an_earlier_writer_has_left_in_the_file_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).write_bytes(b"12345678901234567890")

    with lock_writer(tmp_path):
        assert int((tmp_path / LOCK_FILE).read_bytes()) > 0


def test_a_writer_does_not_keep_readers_out(tmp_path: Path) -> None:
    Store.open(tmp_path, TABLES).close()

    with lock_writer(tmp_path), StateReader.open(tmp_path, TABLES) as reader, reader.snapshot() as view:
        assert view.revision == 0


def test_whoever_asks_for_the_holder_learns_its_number_and_takes_nothing(tmp_path: Path) -> None:
    assert holder_of(tmp_path) is None
    with lock_writer(tmp_path):
        assert holder_of(tmp_path) == os.getpid()
        assert holder_of(tmp_path) == os.getpid()
    assert holder_of(tmp_path) is None

    lock_writer(tmp_path).close()
    assert (tmp_path / LOCK_FILE).read_text() == str(os.getpid())


def test_nobody_opens_files_that_are_being_replaced_and_a_replacement_waits_for_who_opens(tmp_path: Path) -> None:
    with swapping(tmp_path), pytest.raises(StoreLocked, match="are being replaced"), files_stay(tmp_path):
        pass
    waits = "import sys, pathlib; from ledgerd.state.files.lock import swapping\nprint(1, flush=True)\n"
    waits += f"with swapping(pathlib.Path({str(tmp_path)!r})):\n    print(2, flush=True)"
    with files_stay(tmp_path), files_stay(tmp_path):
        process = subprocess.Popen([sys.executable, "-c", waits], stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own code
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        (tmp_path / "still-open").touch()
        assert process.poll() is None
    assert process.stdout.readline() == "2\n"
    assert process.wait(60) == 0
    process.stdout.close()


def test_a_folder_that_is_missing_has_nothing_to_replace(tmp_path: Path) -> None:
    with swapping(tmp_path / "missing"):
        pass
    assert not (tmp_path / "missing").exists()
