"""Peers that claim to be far ahead, and show blocks that they have made up themselves."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from ledgerd.p2p.sync.survey import FAR_BLOCKS
from ledgerd.p2p.wire.messages import ForkStatus, GapFillReply, GapFillRequest, Hello, Message
from ledgerd.protocol.blocks.block import Block, BlockHeader, sign_block
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import OTHERS, VIZ
from tests.sim.strangers import Lore, Stranger

NAMES: tuple[AccountName, ...] = (*OTHERS, VIZ)


class Braggart(Stranger):
    """Says that it is far ahead, more so each time, and answers with blocks in the names of all validators."""

    def __init__(self, name: str, victims: tuple[str, ...], lore: Lore, random: Random) -> None:
        super().__init__(name, victims, lore, random)
        self._key = PrivateKey(random.randbytes(32))
        self.claims = self.head.number + 2 * FAR_BLOCKS
        self.shown = 0
        """Blocks that it was asked for and has made up."""

    def hello(self) -> Hello:
        return replace(super().hello(), head_block_num=self.claims, dlt_latest_block=self.claims)

    def act(self, peer: int) -> None:
        self.claims += 2
        block_id = BlockId(self.claims.to_bytes(4, "big") + bytes(16))
        self.say(peer, ForkStatus(0, block_id, self.claims, block_id, self.claims - 20, 1, self.claims, 1))

    def hear(self, peer: int, message: Message) -> None:
        if isinstance(message, GapFillRequest):
            blocks = self._made_up(message.block_nums[0], len(message.block_nums))
            self.shown += len(blocks)
            self.say(peer, GapFillReply(blocks))

    def _made_up(self, first: int, count: int) -> tuple[Block, ...]:
        blocks: list[Block] = []
        previous = BlockId((first - 1).to_bytes(4, "big") + self.random.randbytes(16))
        for place in range(count):
            when = self.head.timestamp + 3 * (first + place - self.head.number)
            name = NAMES[place % len(NAMES)]
            blocks.append(sign_block(BlockHeader(previous, when, name, MerkleRoot(bytes(20)), ()), (), self._key))
            previous = blocks[-1].id
        return tuple(blocks)
