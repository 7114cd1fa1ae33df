"""A node of ours beside one that serves what a reference node has written: real processes, files and sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ledgerd.cli.debug.difference import AS_OURS
from ledgerd.cli.main import main
from ledgerd.node.workers.beside.shadow_snapshots import starter
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.shadow.settings import SnapshotTask
from ledgerd.shadow.snapshots.doubts import EXPIRED_BLOCKS
from ledgerd.shadow.snapshots.turns import SnapshotTurns
from ledgerd.snapshot.exchange.server import ServedSnapshot, SnapshotServer
from ledgerd.snapshot.exchange.server_session import AdmissionControl
from ledgerd.snapshot.file.directory import name_of
from tests.chain.recorded_chains import network_of, recorded_state
from tests.chain.replays import copy_replayed
from tests.patience import PATIENCE
from tests.shadow.world import Played
from tests.snapshot.recorded import packed

CHAIN, EARLY, LATE = "open-1", 200, 1_800
HOST = "127.0.0.1"

Change = Callable[[dict[str, Any]], None]


def serve(folder: Path, number: int, change: Change = lambda _: None) -> None:
    """The file that the reference has written of this block."""
    state = recorded_state(CHAIN, number)
    change(state)
    (folder / name_of(number)).write_bytes(packed(state, chain_id=network_of(CHAIN).chain_id.hex()))


def another_vote(state: dict[str, Any]) -> None:
    """Since when an account votes for its validator: a record of which no method tells, and no block touches it."""
    state["validator_vote"][0]["vote_created_block"] += 1


class Scene:
    """Our node at the last block, and the turns of its shadow."""

    def __init__(self, folder: Path, peer: Endpoint) -> None:
        self.data, self.now = folder / "ours", 1_000_000.0
        copy_replayed(CHAIN, LATE, self.data)
        (self.data / "config.ini").write_text("chain = testnet\nshared-file-size = 64M\n")
        self.played = Played(1, folder)
        self.record = self.played.record
        self.record.ours.url, self.record.theirs.url = "http://ours", "http://theirs"
        self.record.chain_id = network_of(CHAIN).chain_id.hex()
        self.warned: list[str] = []
        task = SnapshotTask(str(peer), str(self.data / "snapshots"), {"data-dir": [str(self.data)]}, processor=100.0)
        finder = self.played.shadow._finder  # noqa: SLF001 - that of this record
        self.turns = SnapshotTurns(
            task, folder / "record-1.json", self.record, finder, starter("text"), lambda: self.now, self.warned.append
        )

    def turn(self) -> None:
        """One comparison, to its end."""
        self.now += 86_400
        self.turns.step()
        child = self.turns._child  # noqa: SLF001 - its process
        assert child is not None
        assert child.wait(PATIENCE) == 0
        self.turns.step()


def test_a_record_that_nothing_asks_about_is_found_in_the_snapshots(tmp_path: Path, capsys: Any) -> None:
    served = tmp_path / "served"
    served.mkdir()

    async def play() -> Scene:
        server = SnapshotServer(ServedSnapshot(served), AdmissionControl())
        scene = Scene(tmp_path, Endpoint(HOST, await server.start(HOST, 0)))
        for number in (EARLY, LATE):
            serve(served, number, another_vote)
            await asyncio.to_thread(scene.turn)
            assert scene.warned == []
            assert scene.record.snapshots.block == number
            assert len(scene.played.told) == (number - EARLY >= EXPIRED_BLOCKS)
        await server.stop()
        return scene

    scene = asyncio.run(play())
    counts = scene.record.snapshots
    assert (counts.compared, counts.equal, counts.doubtful) == (2, 0, 1), "a reference's state is ours but for that"
    assert counts.records > 100_000
    assert not list(tmp_path.glob("*.work"))
    assert scene.record.first is not None
    file = scene.record.first.file
    capsys.readouterr()
    words = ["--data-dir", str(scene.data), "--work", str(tmp_path)]
    assert main(["debug", "difference", file, *words]) == AS_OURS
    told = capsys.readouterr().out
    assert "http://ours has said the same" in told
    assert "vote_created_block: " in told
