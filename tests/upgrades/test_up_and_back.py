"""A node goes to the next version and back, as docs/upgrading.md says: real processes on what a release has kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.lifecycle import FATAL, STOPPED
from scripts.keep_release import HEAD
from tests.docs.guides import Reader, steps_of
from tests.node.processes import NodeProcess, run_to_end
from tests.upgrades.kept_releases import RELEASES, unpack
from tests.upgrades.next_version import HISTORY, STATE, next_version

STORES = {"state": STATE, "state/projections": STATE, "history": HISTORY}


@pytest.fixture
def node(tmp_path: Path) -> Path:
    unpack(RELEASES[-1], tmp_path)
    return tmp_path / "node"


def test_a_node_goes_up_and_comes_back(node: Path, tmp_path: Path) -> None:
    with NodeProcess("--data-dir", str(node), program=next_version(tmp_path / "next"), folder=node) as later:
        assert later.head == HEAD
        assert later.stop() == STOPPED
    for store, number in STORES.items():
        assert f"{node / store} is converted from format {number} to {number + 1}: it takes about 1 s and" in later.log
        assert (node / store / f"format-{number}" / "data.mdb").exists()
    assert "begins after block" not in later.log

    refused = run_to_end("--data-dir", str(node), folder=node)
    assert refused.returncode == FATAL
    assert f"has format {STATE + 1}, and this program knows {STATE}" in refused.stderr

    with Reader(tmp_path) as reader:
        (back,) = (each for each in steps_of("upgrading.md", {}) if each.kind == "sh")
        reader.take(back)
    with NodeProcess("--data-dir", str(node), folder=node) as earlier:
        assert earlier.head == HEAD
        assert earlier.stop() == STOPPED
    assert "begins after block" not in earlier.log
    assert not [*node.glob("*.damaged")]
