"""Worker processes: shared ports, exits, hangs, and the stop (real processes, on free ports of this machine)."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.listeners import ACCEPTED_AT_ONCE, BACKLOG, accept_on, listen, resolve
from ledgerd.rpc.link.link import HEAD, STOP
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import ClientEndpoint, Workers
from ledgerd.supervision.work import Work
from tests.attack.measure import private_bytes
from tests.backlog import backlog_of
from tests.house.source_tree import ROOT
from tests.rpc.loopback import Client, Server, clients_of, play, until
from tests.rpc.sample_api import request

ANY = ClientEndpoint("127.0.0.1", 0, Speech.BOTH)
PROCESS = json.dumps(request("process")).encode()
LIMITS = Limits(stop_seconds=2)


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers find the modules of the tests from where they start."""
    monkeypatch.chdir(ROOT)


async def nothing(payload: bytes) -> bytes:
    return payload


@asynccontextmanager
async def working(
    count: int, board: Switchboard | None = None, silent_seconds: float = 20.0
) -> AsyncIterator[tuple[Workers, Server]]:
    board, parts = board or Switchboard({}), "tests.rpc.sample_api:parts"
    running = Workers(board, [ANY], parts, None, count=count, limits=LIMITS, work=Work("webserver"))
    running.silent_seconds = silent_seconds
    await running.start()
    try:
        async with clients_of(running.addresses[0][1]) as server:
            yield running, server
    finally:
        await running.stop()


async def worker_of(client: Client) -> int:
    return int(json.loads(await client.ask(PROCESS))["result"])


async def client_of(server: Server, process: int) -> Client:
    """A connection that this worker has taken."""
    while True:
        client = await server.connect()
        if await worker_of(client) == process:
            return client


def test_workers_share_a_port_reach_the_node_and_end_with_it() -> None:
    async def scene() -> list[int]:
        board = Switchboard({"broadcast": nothing})
        async with working(2, board) as (running, server):
            first, second = running.processes
            clients = [await client_of(server, each) for each in (first, second)]
            call = json.dumps(request("broadcast", "a", api="network_broadcast_api")).encode()
            for client in clients:
                assert await client.ask(call) == b'{"jsonrpc":"2.0","result":{},"id":1}'
            follow = json.dumps(request("follow", "blocks", api="network_broadcast_api")).encode()
            waiting = [asyncio.ensure_future(client.ask(follow)) for client in clients]
            await until(lambda: sum("blocks" in link.topics for link in board._links) == 2)  # noqa: SLF001 - who listens
            board.publish(HEAD, b"")
            board.publish("blocks", b"1")
            assert await asyncio.gather(*waiting) == [b'{"jsonrpc":"2.0","result":"1","id":1}'] * 2
        return [first, second]

    for process in play(scene):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_worker_that_is_asked_to_stop_before_it_listens_ends_all_the_same() -> None:
    """Else a node that is stopped in its first moments waits for it in vain, and kills it."""

    async def scene() -> int | None:
        board, parts, work = Switchboard({}), "tests.rpc.sample_api:parts", Work("webserver")
        running = Workers(board, [ANY], parts, None, count=1, limits=LIMITS, work=work)
        starting = asyncio.ensure_future(running.start())
        await until(lambda: board._links)  # noqa: SLF001 - its process has been started, and has read nothing yet
        board.publish(STOP, b"")
        child = running.slots[0].process
        code = None if child is None else await child.ended()
        starting.cancel()
        await running.stop()
        return code

    assert play(scene) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell the limit")
def test_connections_wait_for_a_busy_worker_in_large_numbers() -> None:
    async def scene() -> list[int]:
        async with working(2) as (running, _):
            return [backlog_of(plug) for slot in running.slots for plug, _ in slot.sockets]

    assert play(scene) == [BACKLOG, BACKLOG]


def test_many_connections_are_accepted_in_a_round_of_the_loop() -> None:
    async def scene() -> int:
        made = list[asyncio.BaseTransport]()

        class Counted(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                made.append(transport)

        [plug] = listen("127.0.0.1", 0, 1)
        address, rounds = plug.getsockname(), 0
        servers = await accept_on(plug, Counted)
        clients = [socket.create_connection(address) for _ in range(3 * ACCEPTED_AT_ONCE)]
        while len(made) < len(clients):
            await asyncio.sleep(0)
            rounds += 1
        for server in servers:
            server.close()
        for transport in made:
            transport.close()
        for client in clients:
            client.close()
        return rounds

    assert play(scene) < ACCEPTED_AT_ONCE


def test_a_killed_worker_is_replaced_and_no_other_connection_loses_a_request() -> None:
    async def scene() -> None:
        async with working(2) as (running, server):
            victim, other = running.processes
            bystander, unlucky = await client_of(server, other), await client_of(server, victim)
            os.kill(victim, signal.SIGKILL)
            assert await unlucky.rest() == b""
            # These arrive while nobody accepts at the victim's socket: they wait for its successor.
            newcomers = [await server.connect() for _ in range(16)]
            answers = await asyncio.gather(*(worker_of(each) for each in newcomers), worker_of(bystander))
            assert answers[-1] == other
            assert victim not in answers
            assert len(set(answers)) == 2
            assert set(answers) == set(running.processes)

    play(scene)


def test_a_worker_that_hangs_is_killed_and_replaced() -> None:
    async def scene() -> None:
        async with working(1, silent_seconds=5.0) as (running, server):
            [hanging] = running.processes
            os.kill(hanging, signal.SIGSTOP)
            client = await server.connect()
            assert await worker_of(client) != hanging

    play(scene)


def test_workers_that_cannot_start_are_reported(capfd: pytest.CaptureFixture[str]) -> None:
    async def scene() -> None:
        parts, work = "tests.rpc.sample_api:no_such_parts", Work("webserver")
        running = Workers(Switchboard({}), [ANY], parts, None, count=1, limits=LIMITS, work=work)
        with pytest.raises(OperatorError, match="do not start"):
            await running.start()

    play(scene)

    assert "no_such_parts" in capfd.readouterr().err


def test_a_port_that_is_taken_is_reported_and_not_shared() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = f"cannot listen on 127.0.0.1:{port}: .*: choose another address for --listen, or stop the program that"
        with pytest.raises(OperatorError, match=said):
            listen("127.0.0.1", port, 2, "--listen")
    sockets = listen("127.0.0.1", 0, 2)
    try:
        with pytest.raises(OperatorError, match="cannot listen"):
            listen("127.0.0.1", sockets[0].getsockname()[1], 2)
    finally:
        for each in sockets:
            each.close()


def test_a_host_without_an_address_is_reported() -> None:
    with pytest.raises(OperatorError, match="no address to listen on"):
        resolve("256.0.0.1", 80)


def test_workers_serve_ipv6() -> None:
    async def scene() -> bytes:
        parts, endpoint = "tests.rpc.sample_api:parts", ClientEndpoint("::1", 0, Speech.BOTH)
        running = Workers(Switchboard({}), [endpoint], parts, None, count=2, limits=LIMITS, work=Work("webserver"))
        await running.start()
        try:
            host, port = running.addresses[0]
            client = Client(*await asyncio.open_connection(host, port))
            answer = await client.ask(PROCESS)
            await client.close()
            assert int(json.loads(answer)["result"]) in running.processes
            return answer
        finally:
            await running.stop()

    assert play(scene)


@pytest.mark.parametrize(("host", "other"), [("::", "0.0.0.0"), ("::1", "127.0.0.1")])  # noqa: S104 - free for a moment
def test_an_address_of_ipv6_is_listened_on_apart_from_ipv4(host: str, other: str) -> None:
    for _ in range(20):  # another program may have the port of IPv4
        sockets = listen(host, 0, 1)
        try:
            sockets += listen(other, sockets[0].getsockname()[1], 1)
        except OperatorError:
            continue
        finally:
            for each in sockets:
                each.close()
        return
    pytest.fail("the port of IPv4 is never free")


ANSWERS_UNTIL_FREED = 1_000
FREED_BUT = 16_000_000
"""Bytes more than before."""


def test_a_worker_gives_the_memory_of_large_requests_back() -> None:
    large = json.dumps(request("echo", ["1f" + "ab" * 64] * 200_000)).encode()

    async def scene() -> bool:
        async with working(1) as (running, server):
            [worker] = running.processes
            client = await server.connect()
            await worker_of(client)
            before = private_bytes(worker)
            for _ in range(2):
                assert b"webserver-max-names" in await client.ask(large)
            # The thread that has read a request lets go of it a moment after the answer.
            for _ in range(ANSWERS_UNTIL_FREED):
                await worker_of(client)
                if private_bytes(worker) - before < FREED_BUT:
                    return True
            return False

    assert play(scene)


def test_the_end_of_a_worker_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        async with working(1) as (running, server):
            [victim] = running.processes
            os.kill(victim, signal.SIGKILL)
            assert await worker_of(await server.connect()) != victim

    with caplog.at_level(logging.WARNING):
        play(scene)

    assert "webserver: API worker 0 ended (exit code -9), next start in 1 s" in caplog.text
