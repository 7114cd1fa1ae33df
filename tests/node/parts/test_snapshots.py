"""Snapshots between nodes, as processes: one makes blocks and serves its state, another imports it and follows."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ledgerd.chain.ledger.events import BlockApplied
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.snapshots import SnapshotsPart
from ledgerd.snapshot.file.directory import name_of
from tests.node.contexts import context_of
from tests.node.processes import LOOPBACK, NodeProcess, in_haste, words_of_testnet
from tests.patience import PATIENCE
from tests.ports import free_port

LISTENS = re.compile(r"Snapshot TCP server listening on 127\.0\.0\.1:(\d+)")


def snapshot_port(node: NodeProcess) -> int:
    node.wait_for("Snapshot TCP server listening")
    return next(int(found[1]) for line in node.lines if (found := LISTENS.search(line)))


def server_words(folder: Path, port: int) -> list[str]:
    words = words_of_testnet(
        folder,
        in_haste(folder.parent),
        "--allow-snapshot-serving",
        "--snapshot-serve-endpoint=127.0.0.1:0",
        "--snapshot-at-block=1",
    )
    return [f"--p2p-endpoint=127.0.0.1:{port}" if "p2p" in word else word for word in words]


def follower_words(folder: Path, peers: list[int], seed: int | None = None, *more: str) -> list[str]:
    return [
        "--data-dir",
        str(folder),
        in_haste(folder.parent),
        "--plugin=snapshot database_api account_history",
        "--sync-snapshot-from-trusted-peer",
        *(f"--trusted-snapshot-peer=127.0.0.1:{port}" for port in peers),
        *(() if seed is None else (f"--p2p-seed-node=127.0.0.1:{seed}",)),
        *LOOPBACK,
        *more,
    ]


def reach(node: NodeProcess, number: int) -> int:
    """Wait until a node's head is at a block; where it is."""
    deadline = time.monotonic() + PATIENCE
    while (head := node.head) < number:
        assert time.monotonic() < deadline, node.log
        time.sleep(0.1)
    return head


def state_of(path: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(zlib.decompress(path.read_bytes()))["state"]
    return state


def test_a_node_begins_with_a_snapshot_and_follows_block_by_block(tmp_path: Path) -> None:
    seed = free_port()
    with NodeProcess(*server_words(tmp_path / "1", seed)) as maker:
        served = snapshot_port(maker)
        maker.wait_for("Snapshot created successfully")
        words = follower_words(tmp_path / "2", [free_port(), served], seed)
        with NodeProcess(*words) as follower:
            follower.wait_for("Started on blockchain with ")
            assert "(from P2P snapshot sync)" in follower.log
            begun = state_of(next((tmp_path / "2" / "snapshots").iterdir()))["dynamic_global_property"][0]
            first = begun["head_block_number"]
            assert first >= 1
            head = reach(follower, first + 1)
            for number in range(first, head + 1):
                block = follower.call("database_api", "get_block", number)
                assert block == maker.call("database_api", "get_block", number), number
            assert follower.call("database_api", "get_block", first - 1) is None
            follower.stop(signal.SIGKILL)
        with NodeProcess(*words) as follower:
            reach(follower, head + 1)
            assert "asking 2 trusted peers" not in follower.log
            assert follower.call("database_api", "get_accounts", ["viz"])[0]["name"] == "viz"
            assert follower.stop() == 0
        assert maker.stop() == 0
        assert "Traceback" not in maker.log + follower.log


def test_a_node_whose_peers_have_nothing_yet_answers_and_can_be_stopped(tmp_path: Path) -> None:
    with NodeProcess(*follower_words(tmp_path, [free_port()])) as node:
        assert node.head == 0
        assert "they are asked again in 5 minutes" in node.log
        assert (
            "name others that you trust with trusted-snapshot-peer, or begin with a file: --snapshot FILE" in node.log
        )
        assert node.stop() == 0


def test_blocks_that_come_before_the_writing_has_begun_ask_for_no_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As those of a sync do, which come faster than a task begins; the log begins above our newest snapshot."""
    written, has_begun = list[int](), asyncio.Event()

    async def write(_part: SnapshotsPart, number: int) -> None:
        written.append(number)
        has_begun.set()

    async def attach(observe: Callable[[object], None]) -> None:
        observe(chain)

    monkeypatch.setattr(SnapshotsPart, "_write", write)
    monkeypatch.setattr(SnapshotsPart, "_our_slot", lambda *_: None)
    log = SimpleNamespace(first_number=23)
    chain = SimpleNamespace(is_rolling=True, block_log=log, assumption=None, observe=lambda _: None)

    async def main() -> None:
        words = {"data-dir": [str(tmp_path)], "snapshot-every-n-blocks": ["1000"]}
        context = context_of(SnapshotsPart, read_configuration(words, tmp_path))
        holder = SimpleNamespace(attach=attach, chain=chain)
        part = SnapshotsPart(context, cast("ChainPart", holder), cast("PeersPart", None))
        await part.start()
        now = int(time.time())
        for number in range(24, 40):
            part.applied(cast("BlockApplied", SimpleNamespace(block=SimpleNamespace(number=number, timestamp=now))))
        await has_begun.wait()
        await part.stop()

    asyncio.run(main())
    assert written == [24]
    assert "another one is being written" not in caplog.text


def test_a_snapshot_is_written_at_a_block(tmp_path: Path) -> None:
    words = words_of_testnet(
        tmp_path,
        in_haste(tmp_path),
        "--snapshot-at-block=2",
        "--plugin=snapshot",
        f"--snapshot-dir={tmp_path / 'kept'}",
    )
    with NodeProcess(*words) as node:
        node.wait_for("Snapshot created successfully")
        node.stop()

    state = state_of(tmp_path / "kept" / name_of(2))
    first = state["dynamic_global_property"][0]["head_block_number"]
    assert first >= 2
    assert state["fork_db_head_block"]["previous"][:8] == f"{first - 1:08x}"
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [name_of(2)]


def test_the_trusted_peers_are_tried_and_the_node_does_not_start(tmp_path: Path) -> None:
    with NodeProcess(*follower_words(tmp_path, [free_port()], None, "--test-trusted-seeds")) as node:
        assert node.wait() == 0

    assert "0 of 1 trusted peers serve a snapshot" in node.log
    assert "STARTING" not in node.log
