"""The table of the trusted peers: one of each kind that there can be."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.snapshot.exchange import client
from ledgerd.snapshot.exchange.peer_table import Status, probe, table
from ledgerd.snapshot.exchange.server import ServedSnapshot, SnapshotServer
from ledgerd.snapshot.exchange.serving import AdmissionControl
from ledgerd.snapshot.file.directory import name_of

HOST = "127.0.0.1"


def test_every_peer_has_a_row_that_says_how_it_does(tmp_path: Path) -> None:
    (tmp_path / name_of(55)).write_bytes(bytes(3 << 20))

    async def main() -> str:
        clock = asyncio.get_running_loop().time
        servers = [
            SnapshotServer(ServedSnapshot(tmp_path), AdmissionControl()),
            SnapshotServer(ServedSnapshot(tmp_path / "none"), AdmissionControl()),
            SnapshotServer(ServedSnapshot(tmp_path), AdmissionControl(frozenset())),
        ]
        peers = [Endpoint(HOST, await server.start(HOST, 0)) for server in servers]
        closed = await asyncio.start_server(lambda *_: None, HOST, 0)
        peers.append(Endpoint(HOST, closed.sockets[0].getsockname()[1]))
        closed.close()
        await closed.wait_closed()
        results = [await probe(peer, clock) for peer in peers]
        for server in servers:
            await server.stop()
        assert [each.status for each in results] == [
            Status.REACHABLE,
            Status.NO_SNAPSHOT,
            Status.DENIED,
            Status.ERROR,
        ]
        return table(results)

    lines = asyncio.run(asyncio.wait_for(main(), 60)).splitlines()

    assert lines[0].split()[:3] == ["peer", "status", "block"]
    assert lines[2].split()[1:4] == ["REACHABLE", "55", "3.0"]
    assert "trusts alone" in lines[4]
    assert lines[-1] == "1 of 4 trusted peers serve a snapshot"


def test_a_peer_that_does_not_answer_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.05)

    async def main() -> Status:
        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(hold, HOST, 0)
        peer = Endpoint(HOST, server.sockets[0].getsockname()[1])
        result = await probe(peer, asyncio.get_running_loop().time)
        server.close()
        return result.status

    assert asyncio.run(asyncio.wait_for(main(), 60)) is Status.TIMEOUT
