"""A replica as a process of its own: what it cannot follow is told before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica.copies.state_copy import StateCopy
from ledgerd.replica.process import run
from tests.chain.replays import copy_replayed


def test_what_cannot_be_followed_is_told(tmp_path: Path) -> None:
    assert "neither unix:/PATH nor tcp://HOST:PORT" in (run(["http://a:1", str(tmp_path)]) or "")
    assert "an address of this machine" in (run(["tcp://192.0.2.1:1", str(tmp_path)]) or "")


def test_the_directory_of_a_node_is_refused(tmp_path: Path) -> None:
    copy_replayed("open-2", 330, tmp_path)
    with pytest.raises(OperatorError, match="holds the state of a node"):
        StateCopy(tmp_path / STATE_FOLDER)
