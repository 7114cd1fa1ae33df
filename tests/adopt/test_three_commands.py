"""From a directory of a `vizd` to a node that says the same as its peer: adopted, in step, compared equal.

The peer stands in for the `vizd`: a node of ours with the same history and some blocks more.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from ledgerd.cli.main import main
from tests.adopt.directories import born_of_a_snapshot, digests, with_full_log
from tests.node.processes import LOOPBACK, NodeProcess
from tests.patience import PATIENCE
from tests.ports import free_port

CHAIN = "testnet"
KILLS = int(os.environ.get("ADOPTION_KILLS", "0"))
"""Random moments; `ADOPTION_KILLS=20 scripts/test tests/adopt` tries some, of adoption and of the node after it.

`docs/test_moving.py` has `open-1` without them.
"""

SEED = 20261123
LONGEST_LIFE = 6.0
QUICK = ("--rate", "100000", "--seed", "7", "--reads", "10")


class Kind(NamedTuple):
    """A directory, and how many blocks it ends with."""

    make: Callable[[Path, int], Path]
    """In a folder, with so many blocks more."""
    held: int


KINDS = {
    "open-1": Kind(lambda folder, more: with_full_log(folder, "open-1", 150 + more, "blockchain"), 150),
    "open-up": Kind(lambda folder, more: born_of_a_snapshot(folder, 40 + more), 2_758),
}
MORE = 30
"""Blocks that the peer has and the directory does not."""


@contextmanager
def standing_in(source: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """A node that has all of a directory: where it listens for peers, and for requests."""
    assert main(["adopt", str(source), "--data-dir", str(folder), "--chain", CHAIN]) == 0
    port = free_port()
    words = [each for each in LOOPBACK if "p2p" not in each]
    with NodeProcess("--data-dir", str(folder), *words, f"--p2p-endpoint=127.0.0.1:{port}") as node:
        yield f"127.0.0.1:{port}", f"http://127.0.0.1:{node.port()}"


def is_unfinished(target: Path) -> bool:
    return not target.exists() or (target / "adoption.json").exists()


def words_of_adoption(source: Path, target: Path) -> Sequence[str]:
    return ("adopt", str(source), "--data-dir", str(target), "--chain", CHAIN)


def kill_somewhere(words: Sequence[str], moments: random.Random) -> None:
    """Begin a command, and kill it unless it ends before."""
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "ledgerd.cli", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(moments.uniform(0.1, LONGEST_LIFE))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)


def wait_for_head(node: NodeProcess, number: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while node.head < number:
        assert time.monotonic() < deadline, node.log


@pytest.mark.parametrize("kind", KINDS if KILLS else ["open-up"])
def test_adopted_in_step_and_equal(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    make, held = KINDS[kind]
    source, target = make(tmp_path / "vizd", 0), tmp_path / "ours"
    moments, before = random.Random(f"{SEED} {kind}"), digests(source)  # noqa: S311 - a fixed seed
    with standing_in(make(tmp_path / "whole", MORE), tmp_path / "peer") as (peer, url):
        run = ("--data-dir", str(target), *LOOPBACK, f"--p2p-seed-node={peer}")
        for _ in range(KILLS):
            kill_somewhere(words_of_adoption(source, target) if is_unfinished(target) else run, moments)

        if is_unfinished(target):
            assert main(words_of_adoption(source, target)) == 0
        with NodeProcess(*run) as node:
            wait_for_head(node, held + MORE)
            assert main(["compare", f"http://127.0.0.1:{node.port()}", url, *QUICK]) == 0
            assert node.stop() == 0

    assert digests(source) == before
    last = capsys.readouterr().out.splitlines()[-1]
    assert re.match(rf"equal at block {held + MORE} [0-9a-f]{{40}} \(", last)
