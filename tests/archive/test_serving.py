"""A node that began with a snapshot fetches its past from a peer while it runs, and serves it to clients and peers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ledgerd.archive.errors import SourceFault
from ledgerd.archive.known import known_blocks
from ledgerd.archive.peers import PeerArchive
from ledgerd.archive.sealed import SealedFile, sealed_files
from ledgerd.cli.main import main
from ledgerd.protocol.endpoint import Endpoint
from tests.archive.files import without_past
from tests.chain.replays import copy_replayed
from tests.node.processes import LOOK_SECONDS, LOOPBACK, PATIENCE, NodeProcess
from tests.ports import free_port

API = "--plugin=database_api"
CHAIN, HEAD, FIRST = "open-1", 2718, 2601


def running(folder: Path, peer: int, *words: str) -> NodeProcess:
    others = [each for each in LOOPBACK if "p2p-endpoint" not in each]
    return NodeProcess(
        "--data-dir", str(folder), "--chain", "testnet", *others, f"--p2p-endpoint=127.0.0.1:{peer}", API, *words
    )


def fetch(folder: Path, port: int, *words: str) -> int:
    return main(["archive", "fetch", f"127.0.0.1:{port}", "--data-dir", str(folder), "--chain", "testnet", *words])


def test_the_past_goes_from_a_peer_to_a_node_and_from_that_to_the_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, ours, third = (tmp_path / name for name in ("whole", "ours", "third"))
    copy_replayed(CHAIN, HEAD, whole)
    for folder in (ours, third):
        without_past(folder, CHAIN, HEAD, FIRST)
        (folder / "config.ini").write_text("block-archive-range = 500\n")
    ports = free_port(), free_port()
    writing = ("--plugin=block_archive", "--block-archive-range=1000")
    with running(whole, ports[0], *writing) as peer, running(ours, ports[1]) as node:
        peer.port()
        node.port()
        assert node.call("database_api", "get_block", 2_600) is None
        assert fetch(ours, ports[0]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == f"every block from 1 to {HEAD} is there"
        assert sealed_files(ours / "block-archive")[0] == SealedFile(1, 499)
        deadline = time.monotonic() + PATIENCE
        while node.call("database_api", "get_block", 2_600) is None:
            assert time.monotonic() < deadline, "the answer from before the fetch is given for ever"
            time.sleep(LOOK_SECONDS / 10)
        for number in (1, 499, 500, 2_600, 2_601):
            assert node.call("database_api", "get_block", number) == peer.call("database_api", "get_block", number)
        assert fetch(third, ports[1], "--from", "600") == 0
        assert capsys.readouterr().out.splitlines()[-1] == f"every block from 500 to {HEAD} is there"
        wait_for_files(whole / "block-archive", [SealedFile(1, 999), SealedFile(1_000, 1_999)])
        assert node.stop() == peer.stop() == 0
    for action in ("check", "list"):
        assert main(["archive", action, "--data-dir", str(ours), "--chain", "testnet"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"every block from 1 to {HEAD} is proven"
    assert printed[-1] == "blocks 1 to 2600"
    flip(ours / "block-archive" / SealedFile(500, 999).name)
    assert main(["archive", "check", "--data-dir", str(ours), "--chain", "testnet"]) == 1
    assert "blocks-0000000500-0000000999.log is refused" in capsys.readouterr().out


def wait_for_files(archive: Path, files: list[SealedFile]) -> None:
    """Until the node has sealed them."""
    deadline = time.monotonic() + PATIENCE
    while sealed_files(archive) != files:
        assert time.monotonic() < deadline, sealed_files(archive)
        time.sleep(LOOK_SECONDS)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def test_a_peer_of_another_chain_and_one_that_is_not_there_are_said_so(tmp_path: Path) -> None:
    logs = without_past(tmp_path / "ours")
    copy_replayed(CHAIN, HEAD, tmp_path / "whole")
    port = free_port()
    with known_blocks(logs, logs, tmp_path / "block-archive") as known:
        with pytest.raises(SourceFault, match="cannot be reached"):
            PeerArchive(Endpoint("127.0.0.1", port), known, 100)
        with running(tmp_path / "whole", port) as peer:
            peer.port()
            with pytest.raises(SourceFault, match="another chain"):
                PeerArchive(Endpoint("127.0.0.1", port), known, 100)
            assert peer.stop() == 0
