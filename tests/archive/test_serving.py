"""A node that began with a snapshot fetches its past from a peer while it runs, and serves it to clients and peers."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledgerd.archive.errors import SourceFault
from ledgerd.archive.known import known_blocks
from ledgerd.archive.peers import PeerArchive
from ledgerd.archive.sealed import SealedFile, sealed_files
from ledgerd.protocol.types.endpoint import Endpoint
from tests.archive.files import served, without_past
from tests.chain.replays import copy_replayed
from tests.node.processes import LOOK_SECONDS, LOOPBACK, NodeProcess, run_to_end
from tests.patience import PATIENCE
from tests.ports import free_port

API = "--plugin=database_api"
ARCHIVE = "block-archive"
CHAIN, HEAD, FIRST = "open-1", 2718, 2601


def running(folder: Path, peer: int, *words: str) -> NodeProcess:
    others = [each for each in LOOPBACK if "p2p-endpoint" not in each]
    return NodeProcess(
        "--data-dir", str(folder), "--chain", "testnet", *others, f"--p2p-endpoint=127.0.0.1:{peer}", API, *words
    )


def archive(folder: Path, *words: str) -> tuple[int, list[str]]:
    """The exit code of a command, and what it prints."""
    ended = run_to_end("archive", *words, "--data-dir", str(folder), "--chain", "testnet", folder=folder)
    assert "Traceback" not in ended.stderr
    return ended.returncode, [*ended.stdout.splitlines(), *ended.stderr.splitlines()]


def fetch(folder: Path, port: int, *words: str) -> tuple[int, list[str]]:
    code, lines = archive(folder, "fetch", f"127.0.0.1:{port}", *words)
    return code, [line for line in lines if "fetching" not in line]


def test_the_past_goes_from_a_peer_to_a_node_and_from_that_to_the_next(tmp_path: Path) -> None:
    whole, ours, third = (tmp_path / name for name in ("whole", "ours", "third"))
    copy_replayed(CHAIN, HEAD, whole)
    for folder in (ours, third):
        without_past(folder, CHAIN, HEAD, FIRST)
        (folder / "config.ini").write_text("block-archive-range = 500\n")
    with (third / "config.ini").open("a") as configuration:
        configuration.write("plugin = block_archive\n")
    ports = free_port(), free_port()
    writing = ("--plugin=block_archive", "--block-archive-range=1000")
    with running(whole, ports[0], *writing) as peer, running(ours, ports[1]) as node:
        peer.port()
        node.port()
        assert node.call("database_api", "get_block", 2_600) is None
        hint = "blocks that the log drops will be missing: add plugin = block_archive"
        assert fetch(ours, ports[0]) == (0, [f"every block from 1 to {HEAD} is there", hint])
        assert sealed_files(ours / ARCHIVE)[0] == SealedFile(1, 499)
        wait_until_served(node, 2_600)
        for number in (1, 499, 500, 2_600, 2_601):
            assert node.call("database_api", "get_block", number) == peer.call("database_api", "get_block", number)
        assert fetch(third, ports[1], "--from", "600") == (0, [f"every block from 500 to {HEAD} is there"])
        with gone(ours / ARCHIVE, SealedFile(1_000, 1_499)):
            assert is_served(node) == {999: True, 1_000: False, 1_499: False, 1_500: True, HEAD + 1: False}
            shutil.rmtree(third / ARCHIVE)
            lines = [f"every block from 1500 to {HEAD} is there", f"127.0.0.1:{ports[1]} does not have block 1499"]
            assert fetch(third, ports[1]) == (1, lines)
        wait_for_files(whole / ARCHIVE, [SealedFile(1, 999), SealedFile(1_000, 1_999)])
        assert node.stop() == peer.stop() == 0
    assert archive(ours, "check")[1][0] == f"every block from 1 to {HEAD} is proven"
    assert archive(ours, "list")[1][-1] == "blocks 1 to 2600"
    flip(ours / ARCHIVE / SealedFile(500, 999).name)
    code, lines = archive(ours, "check")
    assert code == 1
    assert "blocks-0000000500-0000000999.log is refused" in lines[0]


def wait_until_served(node: NodeProcess, number: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while node.call("database_api", "get_block", number) is None:
        assert time.monotonic() < deadline, "the answer from before the fetch is given for ever"
        time.sleep(LOOK_SECONDS / 10)


def is_served(node: NodeProcess) -> dict[int, bool]:
    """Which blocks beside a gap the node has; for others it says null, as the reference does."""
    found = {}
    for number in (999, 1_000, 1_499, 1_500, HEAD + 1):
        answers = [
            node.call("database_api", method, number)
            for method in ("get_block", "get_block_header", "get_irreversible_block", "get_irreversible_block_header")
        ]
        assert answers == [None] * 4 or None not in answers
        found[number] = answers[0] is not None
    return found


@contextmanager
def gone(folder: Path, file: SealedFile) -> Iterator[None]:
    """A file is not in the archive within the block."""
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    paths = [*folder.glob(f"{file.name}*")]
    assert len(paths) == 3
    for path in paths:
        path.rename(elsewhere / path.name)
    yield
    for path in paths:
        (elsewhere / path.name).rename(path)


def test_what_cannot_be_fetched_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    without_past(folder)
    for source, said in (
        ("ftp://example.org", "neither the address of a web server nor HOST:PORT of a peer"),
        ("http://", "is no address of a web server"),
        (f"http://127.0.0.1:{free_port()}", "does not answer: .*refused"),
    ):
        code, lines = archive(folder, "fetch", source)
        assert code == 1
        assert re.search(said, lines[-1])
    assert archive(folder, "fetch", "http://127.0.0.1", "--from", "0")[1][-1].endswith(
        "is no number from 1 to 4294967295"
    )
    (folder / ARCHIVE).write_text("no folder")
    with served(tmp_path) as server:
        assert "cannot be written: Not a directory" in archive(folder, "fetch", server.url)[1][-1]
    ended = run_to_end("history", "extend", "--data-dir", str(folder), "--chain", "testnet", folder=folder)
    assert "there is no history in" in ended.stderr
    missing = tmp_path / "missing"
    missing.mkdir()
    assert "begin it with a snapshot first" in archive(missing, "fetch", "http://127.0.0.1")[1][-1]


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
