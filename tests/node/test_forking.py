"""A copy of the loaded node is a process as any other: its words, folder, environment, streams, ends and signals."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from ledgerd.cli.arguments.node_arguments import WRONG_CONFIGURATION
from tests.node.processes import LOOPBACK, NodeProcess


def test_a_copy_has_words_a_folder_and_an_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.ini").write_text("chain = testnet\n")
    monkeypatch.setenv("NODE_SEED_NODES", "nowhere")

    with NodeProcess("--config-file=own.ini", "--environment", folder=tmp_path) as node:
        assert node.wait() == WRONG_CONFIGURATION

    assert "nowhere" in node.log
    monkeypatch.delenv("NODE_SEED_NODES")
    with NodeProcess("--data-dir=data", "--chain=testnet", *LOOPBACK, folder=tmp_path) as node:
        node.port()
        assert node.stop() == 0
    assert (tmp_path / "data").is_dir()


def test_a_copy_that_is_killed_says_so_and_no_other_one_ends(tmp_path: Path) -> None:
    words = ("--chain=testnet", *LOOPBACK)
    with (
        NodeProcess("--data-dir", str(tmp_path / "one"), *words) as one,
        NodeProcess("--data-dir", str(tmp_path / "other"), *words) as other,
    ):
        for node in (one, other):
            node.port()
        with pytest.raises(subprocess.TimeoutExpired):
            one.process.wait(0.0)
        assert one.stop(signal.SIGKILL) == -signal.SIGKILL
        assert other.process.poll() is None
        assert other.stop() == 0
