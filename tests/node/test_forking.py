"""A copy of the loaded node is a process as any other: its words, folder, environment, streams, ends and signals; and
so is its API worker.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.cli.arguments.node_arguments import WRONG_CONFIGURATION
from tests.node.processes import LOOPBACK, NodeProcess
from tests.node.test_supervision import until


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


def test_the_api_worker_of_a_copy_is_one_too_and_ends_with_it(tmp_path: Path) -> None:
    with NodeProcess("--data-dir", str(tmp_path), "--chain=testnet", "--plugin=database_api", *LOOPBACK) as node:
        assert node.head == 0
        status = Path(f"/proc/{node.process.pid}/status").read_text(encoding="utf-8")
        copied = int(next(line.split()[1] for line in status.splitlines() if line.startswith("PPid")))
        assert children_of(copied) > {node.process.pid}
        assert children_of(node.process.pid) == set()
        node.stop(signal.SIGKILL)
        until(lambda: not children_of(copied), "the worker never ends")


RUN = """
import sys, time
from pathlib import Path
from tests.node.processes import LOOPBACK, NodeProcess

node = NodeProcess("--data-dir", sys.argv[1], "--chain=testnet", *LOOPBACK)
node.port()
print(node.process.pid, flush=True)
time.sleep(600)
"""


def test_copies_end_with_a_run_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", RUN, tmp_path], stdout=subprocess.PIPE, text=True) as run:  # noqa: S603 - ourselves
        assert run.stdout is not None
        node = int(run.stdout.readline())
        assert is_running(node)
        run.kill()
    until(lambda: not is_running(node), "the node goes on without its run")


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def children_of(process: int) -> set[int]:
    return set(map(int, Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()))
