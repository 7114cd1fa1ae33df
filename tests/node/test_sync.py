"""A node as a process that is killed in the middle of its first sync, and goes on where it was."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from ledgerd.cli import main as ledgerd
from ledgerd.codec import codec_of
from ledgerd.p2p.wire.messages import GetBlockRange
from ledgerd.protocol.blocks.block import Block
from tests.node.processes import LOOPBACK, NodeProcess
from tests.p2p.socket_peers import SocketPeer, honest
from tests.patience import PATIENCE
from tests.recorded import recorded_blocks

HEIGHT, HELD_BACK = 500, 300


def test_a_sync_that_was_killed_goes_on_from_the_last_commit(tmp_path: Path) -> None:
    packed = recorded_blocks("open-1")[:HEIGHT]
    last = codec_of(Block).decode(packed[-1])

    async def main() -> None:
        rest = asyncio.Event()

        async def first_part(peer: SocketPeer, request: GetBlockRange) -> bytes:
            """The rest only later, so that the node stands in the middle until then."""
            if request.start_block_num > HELD_BACK:
                await rest.wait()
            return await honest(peer, request)

        peer = SocketPeer(1, packed, first_part)
        endpoint = await peer.start()
        seed = f"--p2p-seed-node={endpoint.host}:{endpoint.port}"
        words = ("--data-dir", str(tmp_path), "--chain=testnet", "--plugin=database_api", seed, *LOOPBACK)

        def killed() -> None:
            with NodeProcess(*words) as node:
                node.port()
                while node.head < HELD_BACK // 2:
                    assert node.process.poll() is None
                assert node.stop(signal.SIGKILL) == -signal.SIGKILL

        await asyncio.wait_for(asyncio.to_thread(killed), PATIENCE)
        peer.asked.clear()
        rest.set()

        def restarted() -> str:
            with NodeProcess(*words) as node:
                node.port()
                node.wait_for(f"SYNC -> FORWARD at block {HEIGHT}")
                assert node.call("database_api", "get_block", HEIGHT)["validator_signature"] == (
                    last.validator_signature.hex()
                )
                assert node.stop() == 0
                return node.log

        log = await asyncio.wait_for(asyncio.to_thread(restarted), PATIENCE)
        assert "Started on blockchain with 0 blocks" not in log
        assert min(peer.asked) >= HELD_BACK // 2
        await peer.stop()

    asyncio.run(main())
    assert ledgerd(["check", "--data-dir", str(tmp_path), "--chain", "testnet"]) == 0
