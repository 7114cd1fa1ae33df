"""Two nodes over real sockets on this machine: they find one another, sync, push, and let go."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.events import BlockApplied, Event
from ledgerd.p2p.driver import BACKLOG, QUEUED_BYTES, Driver
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.shared.actions import Batch, Origin
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Peer
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.messages import FORWARD, Hello, Message, NodeId, NotAvailable, TransactionMessage
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.endpoint import Endpoint
from tests.backlog import backlog_of
from tests.chain.networks import GENESIS, SEVEN, SMALL, VIZ, Network
from tests.chain.observing import observe
from tests.patience import PATIENCE
from tests.ports import free_port


def drive(chain: Chain, name: int, *seeds: Endpoint) -> Driver:
    """A node with this chain; its clock is that of the event loop, set to the time of the chain's network."""
    start = asyncio.get_running_loop().time()

    def clock() -> float:
        return GENESIS + 400 + asyncio.get_running_loop().time() - start

    random = Random(name)  # noqa: S311 - the same in every run
    node_id = NodeId(bytes([2]) + bytes(31) + bytes([name]))
    settings = Settings(seeds=seeds)
    return Driver(NetworkState(ChainAccess(chain, clock()), settings, node_id, random, clock()), clock)


def reached(chain: Chain, height: int) -> asyncio.Event:
    """Set when a chain has a block of this height."""
    event = asyncio.Event()

    def look(happened: Event) -> None:
        if isinstance(happened, BlockApplied) and happened.block.number >= height:
            event.set()

    observe(chain, look)
    return event


def run(main: Callable[[], object]) -> None:
    asyncio.run(main())  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_fresh_node_syncs_over_a_socket_and_is_pushed_what_is_new(others: Network, tmp_path: Path, host: str) -> None:
    async def main() -> None:
        fresh = Chain.open(tmp_path / "fresh", SEVEN, clock=lambda: 0.0, genesis_time=GENESIS, space=SMALL)
        first = drive(others.chain, 1)
        await first.start(Endpoint("127.0.0.1", free_port()))
        second = drive(fresh, 2, Endpoint(host, first.port))
        synced, pushed = reached(fresh, others.chain.head_number), reached(fresh, others.chain.head_number + 1)
        await second.start(None)
        await asyncio.wait_for(synced.wait(), PATIENCE)
        assert fresh.head_id == others.chain.head_id

        for block in others.produce():
            first.network.broadcast_block(GENESIS + 400, block)
        first.run_actions()
        await asyncio.wait_for(pushed.wait(), PATIENCE)
        assert fresh.head_id == others.chain.head_id
        assert second.network.core.mode is Mode.FORWARD

        await second.stop()
        await first.stop()
        fresh.close()

    run(main)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell the limit")
def test_connections_wait_for_a_busy_node_in_large_numbers(others: Network) -> None:
    async def main() -> int:
        node = drive(others.chain, 1)
        await node.start(Endpoint("127.0.0.1", free_port()))
        try:
            assert node.listening is not None
            return backlog_of(node.listening.sockets[0])
        finally:
            await node.stop()

    assert asyncio.run(main()) == BACKLOG


def test_a_peer_that_sends_garbage_is_closed_and_another_is_served(others: Network) -> None:
    async def main() -> None:
        driver = drive(others.chain, 1)
        await driver.start(Endpoint("127.0.0.1", free_port()))
        bad_reader, bad_writer = await asyncio.open_connection("127.0.0.1", driver.port)
        good_reader, good_writer = await asyncio.open_connection("127.0.0.1", driver.port)
        bad_writer.write(b"\xff" * 100)
        await asyncio.wait_for(bad_reader.read(), PATIENCE)

        good_writer.write(Hello(node_id=NodeId(bytes(32) + b"\7")).frame)
        hello = await asyncio.wait_for(good_reader.readexactly(103), PATIENCE)
        reply = await asyncio.wait_for(good_reader.readexactly(60), PATIENCE)
        assert (hello[4:6], reply[4:6]) == (b"\xec\x13", b"\xed\x13")

        for writer in (bad_writer, good_writer):
            writer.close()
        await driver.stop()

    run(main)


def test_a_read_of_very_many_messages_is_heard_in_turns(others: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two of them the loop does what else waits, which is where our own slots have their turn."""
    monkeypatch.setattr("ledgerd.p2p.driver.TURN_SECONDS", -1.0)
    messages = 500

    async def main() -> None:
        driver, loop = drive(others.chain, 1), asyncio.get_running_loop()
        await driver.start(Endpoint("127.0.0.1", free_port()))
        heard: list[int] = []
        rounds = 0
        all_heard = asyncio.Event()

        def count() -> None:
            nonlocal rounds
            rounds += 1
            if not all_heard.is_set():
                loop.call_soon(count)

        def hear(peer: Peer, message: Message) -> None:
            original(peer, message)
            heard.append(rounds)
            if len(heard) == messages + 1:
                all_heard.set()

        original = driver.network.dialogue.handle
        driver.network.dialogue.handle = hear  # type: ignore[method-assign]  # which goes on to hear
        loop.call_soon(count)
        _, writer = await asyncio.open_connection("127.0.0.1", driver.port)
        writer.write(Hello(node_id=NodeId(bytes(32) + b"\7")).frame + NotAvailable(1).frame * messages)
        writer.close()
        await asyncio.wait_for(all_heard.wait(), PATIENCE)
        assert heard == sorted(set(heard)), "what came before the end is heard, one message a turn"
        await driver.stop()

    run(main)


def test_a_peer_that_does_not_read_is_disconnected(others: Network) -> None:
    async def main() -> None:
        driver = drive(others.chain, 1)
        await driver.start(Endpoint("127.0.0.1", free_port()))
        reader, writer = await asyncio.open_connection("127.0.0.1", driver.port, limit=1024)
        writer.write(Hello(node_id=NodeId(bytes(32) + b"\7")).frame)
        await asyncio.wait_for(reader.readexactly(103), PATIENCE)
        peer = driver.network.core.peers()[0]

        sent = 0
        while driver.network.core.find(peer.id) is not None and sent < 100 * QUEUED_BYTES:
            driver.network.core.send_frame(peer, 5105, bytes(1 << 20))
            driver.run_actions()
            sent += 1 << 20
            await asyncio.sleep(0)
        assert driver.network.core.find(peer.id) is None
        assert sent < 4 * QUEUED_BYTES

        writer.close()
        await driver.stop()

    run(main)


def test_many_peers_that_do_not_read_are_disconnected_sooner(others: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 6 << 20
    monkeypatch.setattr("ledgerd.p2p.driver.ALL_QUEUED_BYTES", limit)

    async def main() -> None:
        driver = drive(others.chain, 1)
        await driver.start(Endpoint("127.0.0.1", free_port()))
        writers = []
        for name in range(4):
            reader, writer = await asyncio.open_connection("127.0.0.1", driver.port, limit=1024)
            writer.write(Hello(node_id=NodeId(bytes(32) + bytes([10 + name]))).frame)
            await asyncio.wait_for(reader.readexactly(103), PATIENCE)
            writers.append(writer)
        peers = driver.network.core.peers()
        for _ in range(20):
            for peer in peers:
                driver.network.core.send_frame(peer, 5105, bytes(1 << 20))
            driver.run_actions()
            assert driver.queued <= limit + (1 << 20)
            await asyncio.sleep(0)
        assert len(driver.network.core.peers()) < len(peers)
        for writer in writers:
            writer.close()
        await driver.stop()

    run(main)


def test_a_transaction_that_a_full_send_buffer_does_not_take_is_sent_when_it_is_empty(others: Network) -> None:
    async def main() -> None:
        driver = drive(others.chain, 1)
        await driver.start(Endpoint("127.0.0.1", free_port()))
        reader, writer = await asyncio.open_connection("127.0.0.1", driver.port, limit=1024)
        hello = Hello(node_id=NodeId(bytes(32) + b"\7"), node_status=FORWARD)
        writer.write(hello.frame)
        await asyncio.wait_for(reader.readexactly(103 + 60), PATIENCE)
        core = driver.network.core
        peer = core.peers()[0]
        written = 0
        while core.room(peer.id) > 0:
            core.send_frame(peer, 5105, bytes(1 << 20))
            driver.run_actions()
            written += 1 << 20
        transaction = others.send(Transfer(VIZ, VIZ, tokens(1), ""))
        driver.network.broadcast_transaction(GENESIS + 400, transaction)
        driver.run_actions()

        await asyncio.wait_for(reader.readexactly(written), PATIENCE)
        driver.network.tick(GENESIS + 405)
        driver.run_actions()
        expected = TransactionMessage(transaction).frame
        assert await asyncio.wait_for(reader.readexactly(len(expected)), PATIENCE) == expected

        writer.close()
        await driver.stop()

    run(main)


def test_what_was_applied_is_durable_when_a_syncing_node_stops(
    others: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        first = drive(others.chain, 1)
        await first.start(Endpoint("127.0.0.1", free_port()))
        fresh = Chain.open(tmp_path / "fresh", SEVEN, clock=lambda: 0.0, genesis_time=GENESIS, space=SMALL)
        second = drive(fresh, 2, Endpoint("127.0.0.1", first.port))
        applied = asyncio.Event()
        work = second.network.work

        def look(now: float) -> bool:
            is_more = work(now)
            if fresh.head_number >= 30:
                applied.set()
                return False
            return is_more

        monkeypatch.setattr(second.network, "work", look)
        await second.start(None)
        await asyncio.wait_for(applied.wait(), PATIENCE)
        await second.stop()
        height = fresh.head_number
        fresh.close()
        with Chain.open(tmp_path / "fresh", SEVEN, clock=lambda: 0.0, space=SMALL) as again:
            assert again.head_number == height >= 30
        await first.stop()

    run(main)


def test_a_failure_of_the_node_itself_is_raised_to_its_runner(others: Network) -> None:
    async def main() -> None:
        driver = drive(others.chain, 1)
        await driver.start(None)
        driver.network.work = fail  # type: ignore[method-assign]
        driver.network.intake.enqueue(Batch(Origin.EARLY, 0, ()))
        driver.run_actions()
        with pytest.raises(OSError, match="no space"):
            await asyncio.wait_for(driver.ended(), PATIENCE)
        await driver.stop()

    run(main)


def fail(now: float) -> bool:
    raise OSError(f"no space left at {now:.0f}")
