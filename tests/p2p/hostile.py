"""Peers that say anything at all: sound messages out of place, damaged ones, garbage, in pieces of any size.

Whatever they do, no error leaves the state machine, nothing grows beyond its bounds, and an honest peer is served.
`scripts/fuzz_peers 1000000` says a million frames.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from ledgerd.chain.chain import Chain
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.talk.contacts import CONTACTS
from ledgerd.p2p.wire.endpoints import WireEndpoint
from ledgerd.p2p.wire.frames import HEADER, MAX_PAYLOAD
from ledgerd.p2p.wire.messages import (
    BlockRangeReply,
    BlockReply,
    ForkStatus,
    GapFillReply,
    GapFillRequest,
    GetBlock,
    GetBlockRange,
    Hello,
    HelloReply,
    KnownPeer,
    Message,
    NodeId,
    NotAvailable,
    PeerExchangeRateLimited,
    PeerExchangeReply,
    PeerExchangeRequest,
    RangeReply,
    RangeRequest,
    SoftBan,
    TransactionMessage,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.types.identifiers import BlockId
from tests.chain.networks import SEVEN, SMALL, start_seven
from tests.p2p.receiving import receive_all
from tests.p2p.scripted_talk import Talk

PEERS = 12
LIMIT = 1 << 32


class Hostile:
    """Sends generated messages to a node, and checks it after each."""

    def __init__(self, chain: Chain, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - the seed is the point
        self.talk = Talk(chain, Settings(max_connections=PEERS))
        self.blocks: list[Block] = []
        for number in range(1, chain.head_number + 1):
            block = chain.block_at(number)
            assert block is not None
            self.blocks.append(block)
        self.transactions: list[Transaction] = [each for block in self.blocks for each in block.transactions]
        self.frames = 0

    def go_on(self) -> None:
        """One thing more that may happen."""
        talk, random = self.talk, self.random
        peers = [peer.id for peer in talk.network.core.peers() if peer.is_connected]
        what = random.random()
        if not peers or (what < 0.02 and len(peers) < PEERS):
            peer = talk.accept()
            if peer is not None and random.random() < 0.9:
                talk.say(peer, self._message(Hello))
            if peer is None:
                talk.wait(5)
        elif what < 0.03:
            talk.network.lost(talk.now, random.choice(peers))
        elif what < 0.06:
            talk.wait(random.choice((1, 5, 40)))
        else:
            self.frames += 1
            self._send(random.choice(peers), self._frame())
        talk.sent.clear()
        talk.closed.clear()
        self.check()

    def check(self) -> None:
        """What holds whatever is said."""
        network = self.talk.network
        intake = network.intake
        assert network.core.connections <= PEERS
        assert len(network.contacts) <= CONTACTS
        assert len(intake.admission) <= 64
        assert len(intake.ranges) <= 64
        assert len(self.talk.chain.parts.forks) < 3_000
        assert intake.mempool.size <= network.core.settings.mempool_max_bytes
        for peer in network.core.peers():
            assert peer.buffered <= HEADER.size + MAX_PAYLOAD

    def _send(self, peer: int, data: bytes) -> None:
        cut = self.random.randrange(len(data) + 1)
        for piece in (data[:cut], data[cut:]) if self.random.random() < 0.3 else (data,):
            receive_all(self.talk.network, self.talk.now, peer, piece)
        self.talk.run_actions()

    def _frame(self) -> bytes:
        random = self.random
        frame = bytearray(self._message(random.choice(KINDS)).frame)
        damage = random.random()
        if damage < 0.25:
            first = 0 if random.random() < 0.1 or len(frame) == HEADER.size else HEADER.size
            for _ in range(random.randint(1, 4)):
                frame[random.randrange(first, len(frame))] = random.randrange(256)
        elif damage < 0.3:
            del frame[random.randrange(len(frame)) :]
        elif damage < 0.33:
            frame[:4] = random.choice((0, 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, LIMIT - 1)).to_bytes(4, "little")
        return bytes(frame)

    def _number(self) -> int:
        random, head = self.random, self.talk.chain.head_number
        near = head + random.randint(-5, 120)
        return random.choice((0, 1, near, near, random.randrange(LIMIT), LIMIT - 1)) % LIMIT

    def _id(self) -> BlockId:
        if self.random.random() < 0.5:
            return self.random.choice(self.blocks).id
        return BlockId((self._number()).to_bytes(4, "big") + self.random.randbytes(16))

    def _block(self) -> Block:
        """A block of the chain, or one that claims to be of another place, time or maker."""
        random, block = self.random, self.random.choice(self.blocks)
        if random.random() < 0.2:
            return block
        previous = random.choice((self.talk.chain.head_id, self._id()))
        when = self.talk.chain.head_time + 3 * random.randint(-3, 3)
        signature = bytes([random.randint(27, 34)]) + random.randbytes(64)
        transactions = tuple(random.choices(self.transactions, k=random.randint(0, 2)))
        root = block.transaction_merkle_root
        return Block(previous, when, block.validator, root, (), signature, transactions)  # type: ignore[arg-type]

    def _message(self, kind: type[Message]) -> Message:
        random, number, block_id = self.random, self._number, self._id
        flag, mode = random.random() < 0.5, random.randrange(3)
        node = NodeId(bytes([random.randrange(4)]) * 33)
        if kind is Hello:
            heights = (block_id(), number(), block_id(), number(), number(), number())
            return Hello(1, *heights, flag, flag, mode, mode, NodeId(random.randbytes(33)) if flag else node)
        if kind is HelloReply:
            return HelloReply(flag, flag, block_id(), block_id(), number(), number(), mode, mode)
        if kind is ForkStatus:
            return ForkStatus(mode, block_id(), number(), block_id(), number(), number(), number(), mode)
        if kind in (BlockRangeReply, BlockReply, GapFillReply):
            blocks = tuple(self._block() for _ in range(random.randint(0, 3)))
            made: dict[type[Message], Message] = {
                BlockRangeReply: BlockRangeReply(blocks, number(), flag),
                BlockReply: BlockReply(self._block(), number(), flag),
                GapFillReply: GapFillReply(blocks),
            }
            return made[kind]
        known = tuple(
            KnownPeer(WireEndpoint(random.randrange(LIMIT), random.randrange(65536)), node)
            for _ in range(random.choice((0, 1, 50)))
        )
        others: dict[type[Message], Message] = {
            RangeRequest: RangeRequest(number(), block_id()),
            RangeReply: RangeReply(number(), number(), flag),
            GetBlockRange: GetBlockRange(number(), number(), block_id()),
            GetBlock: GetBlock(number(), block_id()),
            NotAvailable: NotAvailable(number()),
            PeerExchangeRequest: PeerExchangeRequest(),
            PeerExchangeReply: PeerExchangeReply(known),
            PeerExchangeRateLimited: PeerExchangeRateLimited(number()),
            TransactionMessage: TransactionMessage(random.choice(self.transactions)),
            SoftBan: SoftBan(number(), random.choice(("", "why\n\x1b[31m", "x" * 5000))),
            GapFillRequest: GapFillRequest(tuple(number() for _ in range(random.choice((0, 1, 5, 101))))),
        }
        return others[kind]


KINDS: tuple[type[Message], ...] = (
    *(Hello, HelloReply, RangeRequest, RangeReply, GetBlockRange, BlockRangeReply, GetBlock, BlockReply, BlockReply),
    *(NotAvailable, ForkStatus, PeerExchangeRequest, PeerExchangeReply, PeerExchangeRateLimited),
    *(TransactionMessage, GapFillRequest, GapFillReply, GapFillReply),
)
"""What is said; a `SoftBan` ends the conversation, so it is left to damage and chance."""


def main() -> None:
    """Say as many frames as the first argument says; the second is the seed."""
    logging.disable()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        start_seven(Path(folder)).chain.close()
        with Chain.open(Path(folder), SEVEN, clock=lambda: 0.0, space=SMALL) as chain:
            hostile = Hostile(chain, seed)
            while hostile.frames < count:
                hostile.go_on()
    sys.stdout.write(f"{count} frames of seed {seed} in {time.monotonic() - started:.0f} s\n")


if __name__ == "__main__":
    main()
