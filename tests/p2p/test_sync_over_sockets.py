"""A fresh node syncs a recorded chain over real sockets from three peers, of which one stalls and one lies."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from random import Random

import pytest

from ledgerd.codec import codec_of
from ledgerd.p2p.driver import Driver
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.messages import NodeId
from ledgerd.protocol.blocks.block import Block
from tests.chain.recorded_chains import open_chain
from tests.p2p.socket_peers import SocketPeer, honest, lying, stalling
from tests.p2p.test_driver import reached
from tests.patience import PATIENCE
from tests.recorded import recorded_blocks

BLOCKS = 330


def test_a_stalling_peer_and_a_lying_one_do_not_delay_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.p2p.sync.range_sync.RANGE_BLOCKS", 20)
    monkeypatch.setattr("ledgerd.p2p.sync.range_sync.IMPATIENT_SECONDS", 0.2)
    monkeypatch.setattr("ledgerd.p2p.driver.SYNC_SECONDS", 0.1)
    packed = recorded_blocks("open-2")[:BLOCKS]
    last = codec_of(Block).decode(packed[-1])

    async def main() -> None:
        peers = [SocketPeer(number, packed, kind) for number, kind in enumerate((stalling, lying, honest), 1)]
        seeds = tuple([await peer.start() for peer in peers])
        with open_chain("open-2", tmp_path) as chain:
            random, start = Random(1), time.time()  # noqa: S311 - the same in every run
            state = NetworkState(ChainAccess(chain, start), Settings(seeds=seeds), NodeId(bytes(33)), random, start)
            driver = Driver(state, time.time)
            synced = reached(chain, BLOCKS)
            await driver.start(None)
            await asyncio.wait_for(synced.wait(), PATIENCE)
            assert chain.head_id == last.id
            assert all(peer.asked for peer in peers)
            await driver.stop()
        for peer in peers:
            await peer.stop()

    asyncio.run(main())
