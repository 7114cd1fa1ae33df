"""Snapshots of several trusted peers: which is taken, and what is refused where they differ. Over loopback."""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path

import pytest

from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.snapshot.exchange.agreement import COMPARED, Agreed, RefusedSources, fetch_agreed
from ledgerd.snapshot.file.directory import name_of
from tests.node.parts.test_bootstrap import HOST, serving
from tests.sim.poison import Poison, poisoned
from tests.snapshot.recorded import packed, small_state


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Directories of peers: two honest ones with other texts of one state, a forger, and one that is behind."""
    state = small_state()
    honest = packed(state)
    state["dynamic_global_property"][0]["last_irreversible_block_num"] -= 3
    files = {"ann": honest, "ben": packed(state), "mal": poisoned(honest, Poison.MOVED), "twin": honest}
    folders: dict[str, Path] = {}
    for name, file in files.items():
        folders[name] = tmp_path_factory.mktemp(name)
        (folders[name] / name_of(120)).write_bytes(file)
    folders["old"] = tmp_path_factory.mktemp("old")
    (folders["old"] / name_of(100)).write_bytes(honest)
    return folders


def fetched(folder: Path, refused: RefusedSources, *shelves: Path) -> tuple[Agreed | None, list[Endpoint]]:
    async def main() -> tuple[Agreed | None, list[Endpoint]]:
        async with asyncio.timeout(60), serving(*shelves) as ports:
            peers = [Endpoint(HOST, port) for port in ports]
            return await fetch_agreed(peers, folder, "testnet", refused=refused, pause=0), peers

    return asyncio.run(main())


def test_two_that_serve_the_same_records_agree(
    shelves: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    agreed, _ = fetched(tmp_path, RefusedSources.none(), shelves["ann"], shelves["ben"])
    assert agreed is not None
    assert agreed.sources == 2
    assert "serve the same state of block 120" in caplog.text
    assert [path.name for path in tmp_path.iterdir()] == [name_of(120)]


def test_the_same_file_is_not_downloaded_twice(
    shelves: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    agreed, _ = fetched(tmp_path, RefusedSources.none(), shelves["ann"], shelves["twin"])
    assert agreed is not None
    assert agreed.sources == 2
    assert caplog.text.count("downloading") == 1


def test_one_alone_is_taken_and_it_is_said(
    shelves: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agreed, peers = fetched(tmp_path, RefusedSources.none(), shelves["ann"], shelves["old"])
    assert agreed is not None
    assert agreed.sources == 1
    assert f"from {peers[0]} alone" in caplog.text


def test_where_two_differ_neither_is_taken(
    shelves: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refused = RefusedSources.none()
    agreed, peers = fetched(tmp_path, refused, shelves["ann"], shelves["mal"])
    assert agreed is None
    assert refused.peers == set(peers)
    assert len(refused.checksums) == 2
    assert "have other records of block 120 in: account" in caplog.text
    assert "none is taken" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_where_two_differ_a_third_peer_is_asked_for_an_older_one(shelves: dict[str, Path], tmp_path: Path) -> None:
    refused = RefusedSources.none()
    agreed, peers = fetched(tmp_path, refused, shelves["ann"], shelves["mal"], shelves["old"])
    assert agreed is None or agreed.fetched.peer == peers[2]
    assert refused.peers >= set(peers[:2])


@pytest.mark.parametrize("order", [("mal", "ann", "ben"), ("ann", "mal", "ben"), ("ann", "ben", "mal")])
def test_two_against_one_are_believed(
    shelves: dict[str, Path], tmp_path: Path, order: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    refused = RefusedSources.none()
    agreed, peers = fetched(tmp_path, refused, *(shelves[name] for name in order))
    forger = peers[order.index("mal")]
    assert agreed is not None
    assert agreed.sources == 2
    assert agreed.fetched.path.read_bytes() != (shelves["mal"] / name_of(120)).read_bytes()
    assert agreed.fetched.path == tmp_path / name_of(120)
    assert not (tmp_path / COMPARED).exists()
    if order[2] != "mal":
        assert refused.peers == {forger}
        assert f"{forger} serves another state of block 120 than two others" in caplog.text


def test_who_has_served_a_refused_file_is_not_asked_again(shelves: dict[str, Path], tmp_path: Path) -> None:
    refused = RefusedSources.none()
    agreed, _ = fetched(tmp_path, refused, shelves["ann"])
    assert agreed is not None
    refused.add(agreed.fetched)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()

    async def main() -> None:
        async with serving(shelves["ben"]) as ports:
            peer = Endpoint(HOST, ports[0])
            again = RefusedSources(set(), {peer})
            assert await fetch_agreed([peer], tmp_path, "testnet", refused=again, pause=0) is None

    asyncio.run(main())
