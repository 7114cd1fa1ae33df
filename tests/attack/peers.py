"""Attacks of peers on one node, each with what it cost: for `scripts/attack`.

The node is a real chain and a real state machine of the peers in this process; messages are made before the clock
runs. An honest peer of another address goes on sending it blocks of 20 operations a transaction.
"""

from __future__ import annotations

import logging
import resource
import sys
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.frames import pack_frame
from ledgerd.p2p.wire.messages import BlockReply, TransactionMessage
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.block import Block, BlockHeader, merkle_root, sign_block
from ledgerd.protocol.identifiers import BlockId, MerkleRoot
from ledgerd.protocol.keys import PrivateKey
from ledgerd.protocol.operations.transfers import Transfer
from ledgerd.protocol.signatures import Signature
from tests.chain.networks import OTHERS, VIZ, Network, start_seven
from tests.p2p.noise import noise
from tests.p2p.scripted_talk import Talk

ATTACKER = "62.7.7.7"
TRANSACTIONS, OPERATIONS = 60, 20
KEY = PrivateKey(bytes([9] * 32))


class Ground:
    """A node with loaded blocks, and the honest peer that makes them."""

    def __init__(self, folder: Path) -> None:
        self.others = start_seven(folder / "others")
        node = start_seven(folder / "node")
        self.talk = Talk(node.chain, Settings(max_connections=60))
        self.honest = self.talk.meet("62.1.1.1")
        self.node = node
        for _ in range(4):
            self.produce()
        chain = self.others.chain
        self.base = chain.id_at(chain.irreversible)
        self.start = chain.head_time

    def produce(self) -> None:
        """One more block with as many operations as fit."""
        for amount in range(TRANSACTIONS):
            self.others.send(*[Transfer(VIZ, VIZ, tokens(1 + amount + each), "") for each in range(OPERATIONS)])
        (block,) = self.others.produce()
        self.talk.now = float(block.timestamp)
        self.talk.say(self.honest, BlockReply(block, 0, True))
        assert self.talk.chain.head_id == block.id, "the honest block was not taken in"

    def send(self, frames: list[bytes], host: str) -> None:
        """Bytes in a short connection, where the node lets anybody in from there."""
        talk = self.talk
        number = talk.accept(host)
        if number is None:
            return
        talk.say(number, talk.hello(number))
        for frame in frames:
            talk.send_bytes(number, frame)
        talk.network.lost(talk.now, number)


def forged_branch(base: BlockId, start: int, salt: int) -> list[bytes]:
    """Six blocks in the names of validators, signed by nobody."""
    frames, previous = [], base
    for place, name in enumerate(OTHERS):
        header = BlockHeader(previous, start + 3 * (salt + place), name, MerkleRoot(bytes(20)), ())
        block = sign_block(header, (), KEY)
        frames.append(BlockReply(block, 0, True).frame)
        previous = block.id
    return frames


Sent = list[tuple[str, list[bytes]]]
"""What is sent in short connections: from which address, and which frames."""


def branches(ground: Ground) -> Sent:
    """Row 1: 90 branches of six blocks from below the head."""
    return [(ATTACKER, forged_branch(ground.base, ground.start - 60, salt)) for salt in range(90)]


def _large(ground: Ground, number: int, salt: int, size: int = 20) -> bytes:
    gifts = [Transfer(VIZ, VIZ, tokens(1), "x" * 100)] * 20
    transaction = ground.others.signed(*gifts)
    parent = BlockId(number.to_bytes(4, "big") + salt.to_bytes(16, "big"))
    root = merkle_root([transaction.merkle_digest] * size)
    block = Block(parent, int(ground.talk.now), VIZ, root, (), Signature(bytes(65)), (transaction,) * size)
    return BlockReply(block, 0, True).frame


def unlinked(ground: Ground) -> Sent:
    """Row 2: 300 large blocks whose parents nobody has, ten a connection."""
    head = ground.talk.chain.head_number
    made = [_large(ground, head + 5 + salt % 80, salt) for salt in range(300)]
    return [(ATTACKER, made[place : place + 10]) for place in range(0, len(made), 10)]


def signatures(ground: Ground) -> Sent:
    """Row 3: 20 peers, ten transactions of 900 random signatures each."""
    made = []
    for salt in range(200):
        draft = ground.others.signed(Transfer(VIZ, VIZ, tokens(1 + salt), ""), lifetime=100)
        made.append(TransactionMessage(replace(draft, signatures=noise(900, salt))).frame)
    return [(f"62.8.{place}.1", made[place * 10 : place * 10 + 10]) for place in range(20)]


def far(ground: Ground) -> Sent:
    """Row 4: 40 blocks of 1.6 MB far above the head."""
    made = [_large(ground, ground.talk.chain.head_number + 90_000, salt, 600) for salt in range(40)]
    return [(ATTACKER, made)]


def closes(_ground: Ground) -> Sent:
    """Row 12: 2,000 connections with a message that cannot be read."""
    frame = pack_frame(BlockReply.NUMBER, b"\1")
    return [(f"62.9.{place % 200}.{place // 200}", [frame]) for place in range(2_000)]


def silence(ground: Ground) -> Sent:
    """Row 14: all inbound places are taken by peers that say nothing; a minute later somebody else comes."""
    talk = ground.talk
    while (number := talk.accept()) is not None:
        talk.say(number, talk.hello(number))
    talk.wait(65)
    came = talk.accept("62.200.1.1")
    sys.stdout.write(f"    a newcomer is {'let in' if came is not None else 'turned away'}\n")
    return []


ATTACKS = {each.__name__: each for each in (branches, unlinked, signatures, far, closes, silence)}


class Lines(logging.Handler):
    """Counts what is logged at info or above."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.bytes = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.bytes += len(record.getMessage()) + 40


def play(name: str) -> None:
    """One attack on a node of its own."""
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(Path(folder))
        sent, lines = ATTACKS[name](ground), Lines()
        root = logging.getLogger("ledgerd")
        root.setLevel(logging.INFO)
        root.addHandler(lines)
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
        for host, frames in sent:
            ground.send(frames, host)
        took = time.monotonic() - began
        root.removeHandler(lines)
        chain = ground.talk.chain
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        sys.stdout.write(
            f"{name}: {took:.2f} s of the chain's thread, "
            f"{chain.parts.trunk.pops} own blocks undone, {grown:.0f} MB more memory, "
            f"{len(chain.parts.forks)} candidates, {lines.bytes / 1024:.0f} KB of log\n"
        )
        ground.produce()
        _close(ground.others, ground.node)


def _close(*networks: Network) -> None:
    for network in networks:
        network.chain.close()


if __name__ == "__main__":
    logging.getLogger().addHandler(logging.NullHandler())
    for each in sys.argv[1:] or ATTACKS:
        play(each)
