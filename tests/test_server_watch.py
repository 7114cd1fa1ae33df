"""A PostgreSQL server of a run ends with the last process that uses it, also when that one is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.patience import PATIENCE
from tests.postgres import SharedServer, new_folder
from tests.server_watch import ROOT, begin_watch, use, watch

USER = """
import signal, sys
from pathlib import Path
from tests.server_watch import use
held = use(Path(sys.argv[1]))
print("used", flush=True)
signal.pause()
"""


@pytest.fixture
def folder(postgres_server: SharedServer) -> Path:  # noqa: ARG001 - whether there is one at all
    """Where a server might be: the script that stops it says that there is none."""
    return new_folder()


def is_gone(folder: Path) -> bool:
    """Wait for the end of a folder."""
    ends = monotonic() + PATIENCE
    while folder.exists() and monotonic() < ends:
        sleep(0.02)
    return not folder.exists()


def test_a_server_goes_with_its_last_user_though_that_one_was_killed(folder: Path, tmp_path: Path) -> None:
    lock = tmp_path / "users"
    with use(lock):
        words = [sys.executable, "-c", USER, str(lock)]
        user = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE)  # noqa: S603 - ourselves
        assert user.stdout is not None
        assert user.stdout.readline() == b"used\n"
        begin_watch(folder, lock)
    assert folder.exists()
    user.send_signal(signal.SIGKILL)
    user.communicate()
    assert is_gone(folder)


def test_its_note_goes_first(folder: Path, tmp_path: Path) -> None:
    note = tmp_path / "note"
    note.write_text(str(folder))
    watch(folder, tmp_path / "users", [note])
    assert not note.exists()
    assert not folder.exists()
