"""A process with `assume-valid`: provisional, through a kill, until the chain has the block; or it goes back."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ledgerd.cli import main as ledgerd
from ledgerd.codec import codec_of
from ledgerd.p2p.wire.frames import FrameReader
from ledgerd.p2p.wire.messages import BlockRangeReply, GetBlockRange, Hello, HelloReply, Message, NodeId, read_message
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.node.processes import LOOPBACK, NodeProcess
from tests.p2p.socket_peers import SocketPeer, honest
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.recorded import recorded_blocks

HEIGHT, ASSUMED, HELD_BACK = 500, 400, 300
IS_OVER = "not provisional any more"


def id_at(number: int) -> str:
    return codec_of(Block).decode(recorded_blocks("open-1")[number - 1]).id.hex()


def words(folder: Path, seed: str, block_id: str, port: int) -> tuple[str, ...]:
    return (
        *("--data-dir", str(folder), "--chain=testnet", "--plugin=database_api", f"--p2p-seed-node={seed}"),
        *(f"--assume-valid={ASSUMED}:{block_id}", f"--p2p-endpoint=127.0.0.1:{port}"),
        *(word for word in LOOPBACK if "p2p-endpoint" not in word),
    )


def readiness(node: NodeProcess) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", node.port(), timeout=PATIENCE)
    try:
        connection.request("GET", "/ready")
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def until_head(node: NodeProcess, number: int) -> None:
    """Return when the node has come so far; it has so long for it."""
    deadline = time.monotonic() + PATIENCE
    while node.head < number:
        assert node.process.poll() is None, node.log
        assert time.monotonic() < deadline, f"the head is {node.head}:\n{node.log}"
        time.sleep(0.02)


async def served_blocks(port: int) -> int:
    """How many blocks a node gives a peer that asks for a range."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    frames = FrameReader()

    async def until(kind: type[Message]) -> Message:
        while True:
            while (frame := frames.next_frame(0)) is not None:
                message = read_message(frame)
                if isinstance(message, kind):
                    return message
            frames.receive(await reader.read(1 << 16), 0)

    try:
        writer.write(Hello(node_id=NodeId(b"\3" + bytes([7] * 32))).frame)
        await until(HelloReply)
        writer.write(GetBlockRange(1, 50, NO_BLOCK).frame)
        reply = await until(BlockRangeReply)
        assert isinstance(reply, BlockRangeReply)
        return len(reply.blocks)
    finally:
        writer.close()


def with_peer(work: Callable[[str, Callable[[], object], Callable[[int], int]], None]) -> SocketPeer:
    """Do something in a thread while a peer serves the chain, its end only when told to."""

    async def main() -> SocketPeer:
        rest, loop = asyncio.Event(), asyncio.get_running_loop()

        async def first_part(peer: SocketPeer, request: GetBlockRange) -> bytes:
            if request.start_block_num > HELD_BACK:
                await rest.wait()
            return await honest(peer, request)

        def served(port: int) -> int:
            return asyncio.run_coroutine_threadsafe(served_blocks(port), loop).result(PATIENCE)

        peer = SocketPeer(1, recorded_blocks("open-1")[:HEIGHT], first_part)
        endpoint = await peer.start()
        let_go = partial(loop.call_soon_threadsafe, rest.set)
        await asyncio.wait_for(asyncio.to_thread(work, f"{endpoint.host}:{endpoint.port}", let_go, served), PATIENCE)
        await peer.stop()
        return peer

    return asyncio.run(main())


def test_the_state_is_provisional_until_the_chain_has_the_block(tmp_path: Path) -> None:
    def work(seed: str, let_go: Callable[[], object], served: Callable[[int], int]) -> None:
        port = free_port()
        for _ in range(2):  # killed in between
            with NodeProcess(*words(tmp_path, seed, id_at(ASSUMED), port)) as node:
                node.port()
                until_head(node, HELD_BACK // 2)
                status, page = readiness(node)
                assert status == 503
                assert "the state is provisional" in node.log
                assert page["ready"] is False
                assert served(port) == 0
                node.stop(signal.SIGKILL)
        let_go()
        with NodeProcess(*words(tmp_path, seed, id_at(ASSUMED), port)) as node:
            node.port()
            node.wait_for(IS_OVER)
            node.wait_for(f"SYNC -> FORWARD at block {HEIGHT}")
            assert served(port) == 50
            assert node.stop() == 0

    with_peer(work)
    assert ledgerd(["check", "--data-dir", str(tmp_path), "--chain", "testnet"]) == 0


def test_another_block_there_takes_the_node_back(tmp_path: Path) -> None:
    def work(seed: str, let_go: Callable[[], object], _served: Callable[[int], int]) -> None:
        let_go()
        other = id_at(ASSUMED)[:8] + "ab" * 16
        with NodeProcess(*words(tmp_path, seed, other, free_port())) as node:
            node.wait_for("the state is that of the last verified block 0 again")
            assert f"banned: block {ASSUMED} is not the one that is assumed to be valid" in node.log
            assert IS_OVER not in node.log
            node.stop(signal.SIGKILL)

    with_peer(work)
