"""The table of the trusted peers: one of each kind that there can be."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import ChainId
from ledgerd.snapshot.exchange import client
from ledgerd.snapshot.exchange.peer_table import Status, probe, table
from ledgerd.snapshot.exchange.server import ServedSnapshot, SnapshotServer
from ledgerd.snapshot.exchange.server_session import AdmissionControl
from ledgerd.snapshot.file.directory import name_of
from ledgerd.snapshot.file.read import Snapshot
from tests.snapshot.recorded import recorded_file

HOST = "127.0.0.1"


def test_every_peer_has_a_row_that_says_how_it_does(tmp_path: Path) -> None:
    whole, garbage = tmp_path / "whole", tmp_path / "garbage"
    file = recorded_file("open-2-120")
    for folder, content in ((whole, file), (garbage, bytes(3 << 20))):
        folder.mkdir()
        (folder / name_of(55)).write_bytes(content)
    chain_id = Snapshot.from_bytes(file).chain_id

    async def main() -> str:
        clock = asyncio.get_running_loop().time
        servers = [
            SnapshotServer(ServedSnapshot(whole), AdmissionControl()),
            SnapshotServer(ServedSnapshot(tmp_path / "none"), AdmissionControl()),
            SnapshotServer(ServedSnapshot(whole), AdmissionControl(frozenset())),
            SnapshotServer(ServedSnapshot(garbage), AdmissionControl()),
        ]
        peers = [Endpoint(HOST, await server.start(HOST, 0)) for server in servers]
        closed = await asyncio.start_server(lambda *_: None, HOST, 0)
        peers.append(Endpoint(HOST, closed.sockets[0].getsockname()[1]))
        closed.close()
        await closed.wait_closed()
        results = [await probe(peer, chain_id, clock) for peer in peers]
        results.append(await probe(peers[0], ChainId(bytes(32)), clock))
        for server in servers:
            await server.stop()
        assert [each.status for each in results] == [
            Status.REACHABLE,
            Status.NO_SNAPSHOT,
            Status.DENIED,
            Status.ERROR,
            Status.ERROR,
            Status.ERROR,
        ]
        return table(results)

    lines = asyncio.run(asyncio.wait_for(main(), 60)).splitlines()

    assert lines[0].split()[:3] == ["peer", "status", "block"]
    assert lines[2].split()[1:4] == ["REACHABLE", "55", "0.2"]
    assert "trusts alone" in lines[4]
    assert "the snapshot is damaged" in lines[5]
    assert lines[7].split()[1:3] == ["ERROR", "55"]
    assert "its snapshot is of another chain, " in lines[7]
    assert lines[-1] == "1 of 6 trusted peers serve a snapshot"


def test_a_peer_that_does_not_answer_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.05)

    async def main() -> Status:
        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(hold, HOST, 0)
        peer = Endpoint(HOST, server.sockets[0].getsockname()[1])
        result = await probe(peer, ChainId(bytes(32)), asyncio.get_running_loop().time)
        server.close()
        return result.status

    assert asyncio.run(asyncio.wait_for(main(), 60)) is Status.TIMEOUT
