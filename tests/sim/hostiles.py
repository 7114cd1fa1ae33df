"""Peers that mean ill, each in a way of its own. None of them may cost a correct node its service."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from ledgerd.p2p.shared.actions import Action, Send
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
    Message,
    NotAvailable,
    PeerExchangeRequest,
    RangeReply,
    RangeRequest,
    block_frame,
)
from ledgerd.protocol.blocks.block import Block, BlockHeader, merkle_root, sign_block
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, MerkleRoot
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import OTHERS, SEVEN, VIZ, VIZ_KEY
from tests.sim.node import Node
from tests.sim.strangers import Lore, Stranger

LIMIT = 1 << 32
STORMS = 0.2
"""How often a flooder floods: what each storm costs is shown here, how many are too many where budgets are tested."""


class Staller(Stranger):
    """Claims to be ahead, takes every request, and never answers."""

    def hello(self) -> Hello:
        ahead = self.head.number + 15
        return replace(super().hello(), head_block_num=ahead, dlt_latest_block=ahead, head_block_id=BlockId(b"\7" * 20))


class Liar(Stranger):
    """Says another height each time, and answers requests with something else than was asked for."""

    def act(self, peer: int) -> None:
        self.say(peer, self._status())

    def _status(self) -> ForkStatus:
        number = self.random.choice((0, 1, self.head.number + self.random.randint(-20, 60), LIMIT - 1))
        block_id = BlockId(number.to_bytes(4, "big") + self.random.randbytes(16))
        lib = self.random.choice((0, number, self.head.number, LIMIT - 1))
        return ForkStatus(self.random.randrange(3), block_id, number, block_id, lib, number, number, 1)

    def hear(self, peer: int, message: Message) -> None:
        blocks = tuple(self.random.sample(self.lore.trunk, self.random.randint(0, 5)))
        if isinstance(message, GetBlockRange):
            self.say(peer, BlockRangeReply(blocks, self.random.randrange(1000), self.random.random() < 0.5))
        elif isinstance(message, GapFillRequest):
            self.say(peer, GapFillReply(blocks))
        elif isinstance(message, GetBlock):
            self.say(peer, NotAvailable(message.block_num), RangeReply(1, LIMIT - 1, True))


class Flooder(Stranger):
    """Asks for everything, without a pause."""

    def act(self, peer: int) -> None:
        number = self.random.randrange(200)
        storm: tuple[Message, ...] = (
            GetBlockRange(0, LIMIT - 1, NO_BLOCK),
            GapFillRequest(tuple(range(number, number + 100))),
            GetBlock(number, NO_BLOCK),
            RangeRequest(number, NO_BLOCK),
            PeerExchangeRequest(),
            self.hello(),
            BlockReply(self.random.choice(self.lore.trunk), 0, True),
        )
        if self.random.random() < STORMS:
            self.say(peer, *self.random.sample(storm, len(storm)), *storm)


class Garbler(Stranger):
    """Sends bytes that are no messages, or too many, or never the rest of them."""

    def act(self, peer: int) -> None:
        garbage = self.random.randbytes(self.random.randrange(200))
        kind, size = self.random.randrange(5095, 5120), self.random.choice((0, 1, 500, MAX_PAYLOAD, LIMIT - 1))
        self.shout(peer, HEADER.pack(size, kind) + garbage)


class Forger(Stranger):
    """Serves a branch that is long dead, and blocks on the head that nobody with a right to it has signed."""

    def __init__(self, name: str, victims: tuple[str, ...], lore: Lore, random: Random) -> None:
        super().__init__(name, victims, lore, random)
        self._key = PrivateKey(random.randbytes(32))
        self._served = {block.number: block for block in (*lore.trunk, *lore.dead)}

    def hello(self) -> Hello:
        tip = self.lore.dead[-1]
        return replace(super().hello(), head_block_id=tip.id, head_block_num=max(tip.number, self.head.number + 10))

    def act(self, peer: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.say(peer, BlockReply(self._forged(), 0, True))

    def _forged(self) -> Block:
        """A block of the next slots, in the name of a validator whose key it has not.

        Out of turn nobody signs here: of validators that do, a switch accepts blocks, and turns the schedule of this
        node alone (spec 03, section 9.6, quirk), so that nodes part by the rules.
        """
        previous = self.random.choice((self.head.id, self.random.choice(self.lore.dead).id, self._nowhere()))
        name = self.random.choice((*OTHERS, VIZ))
        when = self.head.timestamp + 3 * self.random.randint(1, 8)
        return sign_block(BlockHeader(previous, when, name, MerkleRoot(bytes(20)), ()), (), self._key)

    def _nowhere(self) -> BlockId:
        number = self.head.number + self.random.randint(-5, 90)
        return BlockId(max(1, number).to_bytes(4, "big") + self.random.randbytes(16))

    def hear(self, peer: int, message: Message) -> None:
        dead = self._served
        if isinstance(message, GetBlockRange):
            wanted = range(message.start_block_num, min(message.end_block_num, message.start_block_num + 199) + 1)
            self.say(peer, BlockRangeReply(tuple(dead[n] for n in wanted if n in dead), 0, True))
        elif isinstance(message, GapFillRequest):
            found = tuple(dead[n] for n in message.block_nums if n in dead)
            self.say(peer, GapFillReply((*found, self._forged())))
        elif isinstance(message, GetBlock):
            self.say(peer, BlockReply(dead.get(message.block_num, self._forged()), 0, True))


class Brancher(Stranger):
    """In short connections sends branches that leave the trunk some blocks below the head, longer than it, in the names
    of validators, signed by nobody.
    """

    def __init__(self, name: str, victims: tuple[str, ...], lore: Lore, random: Random) -> None:
        super().__init__(name, victims, lore, random)
        self._recent = list(lore.trunk[-6:])
        self.sent = 0

    def act(self, peer: int) -> None:
        for _ in range(3):
            base = self._recent[0]
            names = self.random.sample((*OTHERS, VIZ), 7)
            length = self._recent[-1].number - base.number + 2
            previous = base.id
            for place in range(length):
                when = base.timestamp + 3 * (place + 1) + 30
                header = BlockHeader(previous, when, names[place % 7], MerkleRoot(bytes(20)), ())
                block = sign_block(header, (), PrivateKey(self.random.randbytes(32)))
                self.say(peer, BlockReply(block, 0, True))
                previous = block.id
            self.sent += 1
        self.leave(peer)

    def hear(self, peer: int, message: Message) -> None:
        _ = peer
        if isinstance(message, BlockReply) and message.block.previous == self._recent[-1].id:
            self._recent = [*self._recent[1:], message.block]


HOSTILES: tuple[type[Stranger], ...] = (Staller, Liar, Flooder, Garbler, Forger, Brancher)


class Equivocator(Node):
    """A validator that signs two blocks for each of its slots, and sends one to some and the other to others."""

    def start(self) -> None:
        self._twins: dict[bytes, bytes] = {}
        super().start()

    def broadcast_block(self, block: Block) -> None:
        self._twins[_pushed(block)] = _pushed(self._twin(block))
        super().broadcast_block(block)

    def actions(self) -> list[Action]:
        return [self._turned(action) for action in super().actions()]

    def _turned(self, action: Action) -> Action:
        if isinstance(action, Send) and action.peer % 2 and action.frame in self._twins:
            return action._replace(frame=self._twins[action.frame])
        return action

    def _twin(self, block: Block) -> Block:
        """The same slot once more, with something in it."""
        gift = Transfer(VIZ, VIZ, tokens(1 + block.number), "twin")
        draft = unsigned_transaction(block.previous, block.timestamp + 60, [gift])
        transactions = (draft.signed(SEVEN.chain_id, [VIZ_KEY]),)
        root = merkle_root([each.merkle_digest for each in transactions])
        header = BlockHeader(block.previous, block.timestamp, block.validator, root, block.extensions)
        return sign_block(header, transactions, self.keys[AccountName(block.validator)])


def _pushed(block: Block) -> bytes:
    return block_frame(block.packed, 0, is_last=True)
