"""Two nodes as processes: one makes blocks, the other follows it over loopback."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import MagicMock, patch

import pytest

from ledgerd.node.parts.peers import PeersPart
from tests.node.configurations import read
from tests.node.contexts import context_of
from tests.node.processes import LOOPBACK, NodeProcess, words_of_testnet
from tests.ports import free_port


def test_a_second_node_follows_the_first(tmp_path: Path) -> None:
    port = free_port()
    words = [f"--p2p-endpoint=127.0.0.1:{port}" if "p2p" in word else word for word in words_of_testnet(tmp_path / "1")]
    with NodeProcess(*words) as maker:
        maker.wait_for("Validated block #3 ")
        follower_words = [
            "--data-dir",
            str(tmp_path / "2"),
            "--chain=testnet",
            "--plugin=database_api",
            f"--p2p-seed-node=127.0.0.1:{port}",
            *LOOPBACK,
        ]
        with NodeProcess(*follower_words) as follower:
            follower.port()
            maker.wait_for("Validated block #6 ")
            assert follower.head >= 4
            assert follower.call("database_api", "get_block", 3) == maker.call("database_api", "get_block", 3)
            follower.wait_for("Got block #6 with 0 transaction(s) validated by viz [127.0.0.1:")
            standing = follower.call("node_api", "network")
            assert (standing["peers"], standing["connections"], standing["fork_status"]) == (1, 1, "normal")
            assert standing["mode"] in {"sync", "forward"}
            status = follower.call("node_api", "follow_status", 0)
            assert status["peers"]["connections"] == 1
            assert status["peers"]["ahead"] + status["peers"]["level"] + status["peers"]["behind"] == 1
            assert status["peers"]["highest"] >= 5
            later = follower.call("node_api", "follow_status", status["number"])
            assert later["number"] > status["number"]
            assert follower.stop() == 0
        assert maker.stop() == 0

    assert f"DLT P2P listening on 127.0.0.1:{port}" in maker.log
    assert "DLT P2P node started, connecting to 1 seed nodes" in follower.log
    assert "DLT P2P Plugin started" in follower.log


@pytest.mark.parametrize(("free", "is_enough"), [(1 << 20, False), (1 << 40, True)])
def test_a_sync_looks_for_room_before_it_fetches_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, free: int, is_enough: bool
) -> None:
    chain = MagicMock(folder=tmp_path)
    chain.chain.globals.average_block_size = 800
    chain.files.space.min_free = 0
    part = PeersPart(context_of(PeersPart, read(tmp_path, "")), chain, MagicMock())
    asked: list[Path] = []

    def usage(folder: Path) -> MagicMock:
        asked.append(folder)
        return MagicMock(free=free)

    monkeypatch.setattr("ledgerd.node.parts.peers.shutil.disk_usage", usage)
    part.check_room(1_000_000)
    assert asked == [tmp_path]
    assert ("1000000 blocks of 800 bytes are missing, which takes 762 MB; 1 MB are free" in caplog.text) != is_enough


@pytest.mark.parametrize("isolated", ["true", "false"])
@pytest.mark.parametrize(("connections", "dials"), [(0, True), (1, True), (2, False)])
def test_a_producer_with_few_peers_dials_its_seeds_after_each_block(
    tmp_path: Path, isolated: str, connections: int, *, dials: bool
) -> None:
    configuration = read(tmp_path, f"p2p-seed-node = 127.0.0.1:9\np2p-isolated-peers = {isolated}")
    driver = MagicMock()
    driver.network.core.connections = connections
    part = PeersPart(context_of(PeersPart, configuration), MagicMock(), MagicMock())
    with patch.object(part, "driver", driver):
        part.broadcast_block(MagicMock())

    assert driver.network.reconnect_seeds.called is dials


@pytest.mark.parametrize(("incoming", "has"), [((), False), ((False,), False), ((False, True), True)])
def test_a_peer_that_has_dialled_us_is_told_from_one_that_we_have(
    tmp_path: Path, incoming: tuple[bool, ...], *, has: bool
) -> None:
    driver = MagicMock()
    driver.network.core.live.return_value = [MagicMock(is_incoming=each) for each in incoming]
    part = PeersPart(context_of(PeersPart, read(tmp_path, "")), MagicMock(), MagicMock())
    assert not part.has_inbound
    with patch.object(part, "driver", driver):
        assert part.has_inbound is has
