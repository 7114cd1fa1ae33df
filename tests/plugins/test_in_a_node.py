"""Plugins in real nodes: whatever becomes of them, the chain goes on, and no observer has a hole."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from ledgerd.node.part_table import PARTS
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.beside import PluginsPart
from tests.node.processes import NodeProcess
from tests.node.test_history import dev_words
from tests.node.test_history_feed import ready, wait_until
from tests.plugins.distributions import made_distribution

WATCHERS = """
import os, time
from pathlib import Path
from ledgerd.plugins import ApiPlugin, ObserverPlugin, PluginObserver

class Diary(PluginObserver):
    def __init__(self, folder):
        super().__init__(folder)
        self.file = open(folder / "diary", "a", buffering=1)
        self.file.write(f"process {os.getpid()}\\n")
    def applied(self, block):
        self.file.write(f"{block.number} {block.id} {block.previous} {len(block.operations)}\\n")
    def undone(self, number):
        self.file.write(f"undone {number}\\n")

class Stuck(Diary):
    def applied(self, block):
        super().applied(block)
        if block.number == 3:
            time.sleep(3600)

class Picky(PluginObserver):
    def applied(self, block):
        raise ValueError("no blocks, please")

class Liar(PluginObserver):
    def position(self):
        return 10 ** 6

class Late(PluginObserver):
    async def applied(self, block):
        pass

diary = ObserverPlugin("Writes all down.", Diary, api_version="1.0", start=1)
stuck = ObserverPlugin("Takes its time.", Stuck, api_version="1.0", start=1)
picky = ObserverPlugin("Raises.", Picky, api_version="1.0", start=1)
liar = ObserverPlugin("Lies.", Liar, api_version="1.0", start=1)
late = ObserverPlugin("Would let blocks go by.", Late, api_version="1.0", start=1)
node_api = ApiPlugin("An impostor.", api_version="1.0")
"""
NAMES = ("diary", "stuck", "picky", "liar", "late", "node_api")


def diary(folder: Path, name: str = "diary") -> list[list[str]]:
    """What an observer has written, a line each."""
    file = folder / "plugins" / name / "diary"
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def blocks(folder: Path, name: str = "diary") -> list[list[str]]:
    return [line for line in diary(folder, name) if line[0].isdecimal()]


def require_no_hole(written: list[list[str]], head: int) -> None:
    """Each block follows on one that was written before, and all are there."""
    known = {1: written[0][2]}
    for number, block, previous, _ in written:
        assert known.get(int(number) - 1, known[1]) == previous
        known[int(number)] = block
    assert sorted(known) == list(range(1, head + 1))


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    site = made_distribution(tmp_path / "site", "watchers", WATCHERS, *NAMES)
    made_distribution(site, "unmade", "import nothing_of_this_name", "unmade")
    monkeypatch.setenv("PYTHONPATH", str(site))
    return *dev_words(tmp_path / "data"), *(f"--plugin={name}" for name in (*NAMES, "unmade"))


def test_the_chain_goes_on_whatever_observers_do_and_none_has_a_hole(words: tuple[str, ...], tmp_path: Path) -> None:
    data = tmp_path / "data"
    with NodeProcess(*words) as node:
        head = node.call("dev_api", "mine_blocks", 20)["head_block_number"]
        wait_until(lambda: len(blocks(data)) == head)
        wait_until(lambda: len(blocks(data, "stuck")) == 3)
        node.wait_for("the plugin picky is down: its applied() has failed at block 1: ValueError: no blocks, please")
        node.wait_for("the plugin unmade is parked until the node is started again: it cannot be imported: ModuleNot")
        node.wait_for("the plugin liar is parked until the node is started again: its position() returns 1000000")
        node.wait_for("the plugin late is parked until the node is started again: its applied() is asynchronous")
        node.wait_for("the plugin node_api is parked until the node is started again: its name is that of an API")
        assert ready(node)["ready"] is True
        assert "the plugin unmade is parked" in ready(node)["warning"]
        assert "head" in node.call("node_api", "follow_status")

        os.kill(int(diary(data)[0][1]), signal.SIGKILL)
        node.wait_for("the plugin diary is down: its process has ended with code -9, next start in 1 s")
        head = node.call("dev_api", "mine_blocks", 20)["head_block_number"]
        assert len(blocks(data, "stuck")) == 3
        wait_until(lambda: int(blocks(data)[-1][0]) == head)
        assert node.stop(signal.SIGKILL) == -signal.SIGKILL
    require_no_hole(blocks(data), head)

    with NodeProcess(*dev_words(data), "--plugin=diary") as node:
        head = node.call("dev_api", "mine_blocks", 5)["head_block_number"]
        wait_until(lambda: int(blocks(data)[-1][0]) == head)
        require_no_hole(blocks(data), head)
        assert node.call("operation_history", "get_ops_in_block", head, False)
        assert len(node.call("operation_history", "get_ops_in_block", head, False)) == int(blocks(data)[-1][3])

        kept = node.call("dev_api", "snapshot")
        node.call("dev_api", "mine_blocks", 3)
        wait_until(lambda: int(blocks(data)[-1][0]) == head + 3)
        node.call("dev_api", "revert", kept)
        head = node.call("dev_api", "mine_blocks", 4)["head_block_number"]
        wait_until(lambda: int(blocks(data)[-1][0]) == head)
        require_no_hole(blocks(data), head)
        left = [int(line[1]) for line in diary(data) if line[0] == "process"][-1]
        assert node.stop() == 0
    wait_until(lambda: not Path(f"/proc/{left}").exists())
    position: Any = json.loads((data / "plugins" / "diary" / "position.json").read_bytes())
    assert position["next_block"] == head + 1


def test_nothing_of_plugins_runs_on_the_thread_of_the_chain() -> None:
    (spec,) = (spec for spec in PARTS if spec.kind is PluginsPart)
    assert ChainPart not in spec.needs
    assert not spec.makes_unready
