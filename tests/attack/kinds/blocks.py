"""Peers that push blocks which nobody signed, and transactions whose signatures nobody made."""

from __future__ import annotations

from functools import cache

from ledgerd.p2p.wire.frames import pack_frame
from ledgerd.p2p.wire.messages import BlockReply, TransactionMessage
from tests.attack.aim import Aim
from tests.attack.forging import block_frame, forged_branch, large_block, overloaded
from tests.attack.kind import PeerKind

NEAR, FAR = 80, 90_000
MANY_SIGNATURES = 900


class Branches(PeerKind):
    """Branches of six blocks from an irreversible block up, in short connections."""

    name, row = "branches", "1"
    branches = 90

    def prepare(self) -> None:
        """All branches, which the connections share."""
        self._made = forged_branches(self.aim, self.branches)

    def frames(self) -> list[bytes]:
        """Another one with each connection."""
        return self._made[(self.number * 7 + self.rounds) % len(self._made)]


@cache
def forged_branches(aim: Aim, count: int) -> list[list[bytes]]:
    """Branches, each as its frames."""
    return [[block_frame(block) for block in forged_branch(aim, salt)] for salt in range(count)]


class Unlinked(PeerKind):
    """Large blocks whose parents nobody has, ten a connection."""

    name, row = "unlinked", "2"
    blocks = 60

    def prepare(self) -> None:
        """Blocks a little above the head."""
        self._made = unlinked_blocks(self.aim, self.blocks)

    def frames(self) -> list[bytes]:
        """Ten others with each connection."""
        first = 10 * (self.number + self.rounds) % len(self._made)
        return self._made[first : first + 10]


@cache
def unlinked_blocks(aim: Aim, count: int) -> list[bytes]:
    """Blocks of 40 KB."""
    return [block_frame(large_block(aim, aim.head_number + 5 + salt % NEAR, salt, 15)) for salt in range(count)]


class FarBlocks(PeerKind):
    """Pushed blocks of almost two megabytes, far above the head."""

    name, row = "far-blocks", "4"

    def prepare(self) -> None:
        """One, which is sent again and again."""
        self._made = far_block(self.aim)

    def frames(self) -> list[bytes]:
        """Two a connection: four megabytes."""
        return [self._made] * 2


@cache
def far_block(aim: Aim) -> bytes:
    """A block of 1.6 MB."""
    return block_frame(large_block(aim, aim.head_number + FAR, 1, 600))


class Signatures(PeerKind):
    """Transactions of 900 random signatures, 60 KB each."""

    name, row = "signatures", "3"

    def prepare(self) -> None:
        """Ten for each attacker."""
        salts = range(10 * self.number, 10 * self.number + 10)
        self._made = [TransactionMessage(overloaded(self.aim, MANY_SIGNATURES, salt)).frame for salt in salts]

    def frames(self) -> list[bytes]:
        """All of them."""
        return self._made


class FewSignatures(PeerKind):
    """Transactions that ask for one key and have a false signature: each is a key to recover."""

    name, row = "few-signatures", "3"

    def prepare(self) -> None:
        """Two hundred for each attacker."""
        salts = range(200 * self.number, 200 * self.number + 200)
        self._made = [TransactionMessage(overloaded(self.aim, 1, salt)).frame for salt in salts]

    def frames(self) -> list[bytes]:
        """All of them."""
        return self._made


class Closes(PeerKind):
    """Connect, one message that cannot be read, close."""

    name, row, pause, stays = "closes", "12", 0.02, 0.05

    def frames(self) -> list[bytes]:
        """A block that is one byte."""
        return [pack_frame(BlockReply.NUMBER, b"\1")]
