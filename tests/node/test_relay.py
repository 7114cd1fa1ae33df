"""Nodes as processes: what clients send to one that makes no blocks is in the blocks of its only peer, and no client is
told that a transaction was taken of which nobody hears.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from ledgerd.codec import codec_of
from ledgerd.node.testnet.plan import free_ports
from ledgerd.p2p.wire.messages import GetBlockRange, range_reply_frame
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import BlockId, TransactionId
from ledgerd.protocol.types.time_text import parse_time_text
from tests.chain.networks import VIZ, VIZ_KEY, Network
from tests.node.processes import LOOPBACK, NodeProcess, words_of_testnet
from tests.p2p.socket_peers import SocketPeer
from tests.patience import PATIENCE

BURST, CLIENTS = 300, 16
LIFETIME = 600
HEIGHT, HELD_BACK = 40, 20
"""Of the chain that a node catches up with, and of the blocks that it gets."""


class Clients:
    """Clients of a node: every third one leaves as soon as it has sent its request."""

    def __init__(self, node: NodeProcess) -> None:
        self.node = node
        self.accepted: set[TransactionId] = set()
        self._numbers = count()

    def burst(self) -> None:
        """So many transactions, by many connections at a time."""
        with ThreadPoolExecutor(CLIENTS) as clients:
            for transaction, is_accepted in clients.map(self._send, enumerate(self._signed())):
                if is_accepted:
                    self.accepted.add(transaction.id)

    def _signed(self) -> Iterator[Transaction]:
        facts = self.node.call("database_api", "get_dynamic_global_properties")
        head, until = BlockId(bytes.fromhex(facts["head_block_id"])), parse_time_text(facts["time"]) + LIFETIME
        for _ in range(BURST):
            gift = Transfer(VIZ, VIZ, tokens(1), f"gift {next(self._numbers)}")
            yield unsigned_transaction(head, until, [gift]).signed(TESTNET.chain_id, [VIZ_KEY])

    def _send(self, numbered: tuple[int, Transaction]) -> tuple[Transaction, bool]:
        number, transaction = numbered
        fields = json.loads(codec_of(Transaction).to_json(transaction))
        if number % 3:
            return transaction, self.node.call("network_broadcast_api", "broadcast_transaction", fields) == {}
        request = {"method": "call", "params": ["network_broadcast_api", "broadcast_transaction", [fields]], "id": 1}
        body = json.dumps({"jsonrpc": "2.0", **request}).encode()
        with closing(socket.create_connection(("127.0.0.1", self.node.port()))) as plug:
            plug.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        return transaction, False

    def wait_for_blocks_of(self, maker: NodeProcess) -> None:
        """Return when blocks have all that was accepted, and nothing is left of those who left either."""
        status, deadline = self.node.call("node_api", "follow_status", 0), time.monotonic() + PATIENCE
        missing, looked_at = set(self.accepted), 0
        while missing or status["pool"]["relayed"]:
            assert time.monotonic() < deadline, f"{len(missing)} are in no block, {status['pool']}"
            status = self.node.call("node_api", "follow_status", status["number"])
            for number in range(looked_at + 1, status["head"] + 1):
                block = maker.call("database_api", "get_block", number)
                missing -= {codec_of(Transaction).from_json(each).id for each in block["transactions"]}
            looked_at = status["head"]


def test_the_only_peer_gets_every_transaction_of_clients(tmp_path: Path) -> None:
    """The node and its peer have each other as a seed: the peer dials again after its blocks, and is a duplicate. The
    first burst comes while it says that it syncs, which is so until it has met somebody; the second just before it is
    killed, and the third while it starts again.
    """
    ports = free_ports(2)

    def words_with(words: tuple[str, ...], number: int) -> list[str]:
        own, other = ports[number], ports[1 - number]
        rest = [each for each in words if "p2p-endpoint" not in each]
        return [*rest, f"--p2p-endpoint=127.0.0.1:{own}", f"--p2p-seed-node=127.0.0.1:{other}"]

    maker_words = words_with(tuple(words_of_testnet(tmp_path / "maker")), 0)
    plugins = ("--plugin=database_api", "--plugin=network_broadcast_api", "--chain=testnet")
    node_words = words_with(("--data-dir", str(tmp_path / "node"), *plugins, *LOOPBACK), 1)
    with NodeProcess(*maker_words) as maker:
        maker.wait_for("Validated block #2 ")
        with NodeProcess(*node_words) as node:
            clients = Clients(node)
            node.wait_for("SYNC -> FORWARD")
            clients.burst()
            clients.burst()
            maker.stop(signal.SIGKILL)
            with NodeProcess(*maker_words) as again:
                clients.burst()
                assert len(clients.accepted) == 3 * BURST * 2 // 3
                clients.wait_for_blocks_of(again)
                assert again.stop() == 0
            assert node.stop() == 0


@pytest.mark.parametrize("option", ["true", "false"])
def test_a_node_that_catches_up_takes_or_refuses_transactions_as_it_is_told(tmp_path: Path, option: str) -> None:
    past = Network(tmp_path / "past", genesis=int(time.time()) // 3 * 3 - 100_000)
    past.start()
    past.produce(HELD_BACK - past.chain.head_number)
    transaction = past.signed(Transfer(VIZ, VIZ, tokens(1), ""))
    past.produce(HEIGHT - HELD_BACK)
    packed = [block.packed for block in past.blocks()]
    past.chain.close()

    async def first_blocks(peer: SocketPeer, request: GetBlockRange) -> bytes | None:
        if request.start_block_num > HELD_BACK:
            return None
        return range_reply_frame(peer.reply(request)[:HELD_BACK], HELD_BACK + 1, is_last=False)

    def answer(seed: Endpoint) -> object:
        """Of the node that has the first blocks and is asking for the others."""
        words = [f"--p2p-seed-node={seed}", f"--webserver-broadcast-while-syncing={option}", "--plugin=database_api"]
        words += ["--data-dir", str(tmp_path / "node"), "--chain=testnet", "--plugin=network_broadcast_api", *LOOPBACK]
        with NodeProcess(*words) as node:
            while node.head < HELD_BACK:
                assert node.process.poll() is None
            fields = json.loads(codec_of(Transaction).to_json(transaction))
            return node.call("network_broadcast_api", "broadcast_transaction", fields)

    async def main() -> object:
        peer = SocketPeer(1, packed, first_blocks)
        try:
            return await asyncio.wait_for(asyncio.to_thread(answer, await peer.start()), PATIENCE)
        finally:
            await peer.stop()

    answered = asyncio.run(main())
    refused = f"This node is catching up, and takes no transactions: it has block {HELD_BACK} of {HEIGHT}"
    assert answered == {} if option == "true" else refused in str(answered), answered
