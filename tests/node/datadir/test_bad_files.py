"""A node is started on files that no node has left: pipes, and pages that the database cannot read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import lmdb
import pytest

from ledgerd.node.datadir.origin import StateOrigin
from ledgerd.protocol.errors import OperatorError
from tests.node.datadir.test_opening import Directory


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    return Directory(tmp_path)


@pytest.mark.parametrize("name", ["state/data.mdb", "state/writer.lock", "state/block_log.sums", "history/data.mdb"])
def test_a_pipe_in_the_place_of_a_file_is_named_and_not_waited_for(directory: Directory, name: str) -> None:
    directory.put_log(20)
    (directory.folder / name).parent.mkdir(exist_ok=True)
    (directory.folder / name).unlink(missing_ok=True)
    os.mkfifo(directory.folder / name)
    with pytest.raises(OperatorError, match=f"{name} is a pipe or a device, and no file: remove it"):
        directory.started()


@pytest.mark.parametrize("met", ["node.datadir.state_files.Store.open", "node.parts.chain.Chain.open"])
def test_damage_that_the_database_meets_while_it_is_opened_is_damage_too(
    directory: Directory, met: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory.put_log(160)
    directory.started()

    def meet_it(*_: object, **__: object) -> NoReturn:
        monkeypatch.undo()
        raise lmdb.CorruptedError("mdb_get: MDB_CORRUPTED: Located page was wrong type")

    monkeypatch.setattr(f"ledgerd.{met}", meet_it)
    directory.started()
    assert directory.started() == (160, StateOrigin.PRESENT)
