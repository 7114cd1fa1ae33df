"""Headers to be signed, and keys to sign them with."""

from __future__ import annotations

from ledgerd.producer.signing.signing_frames import SigningQuestion
from ledgerd.protocol.blocks.block import Block, BlockHeader
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.signer.rule import SECOND, ClockReading, SigningRule

KEY, OTHER_KEY, STRANGE_KEY = (PrivateKey(bytes((number,)) * 32) for number in (1, 2, 3))
NAME = "alice"
NOW = 1_800_000_000
"""A slot begins then."""


def header_of(slot: int, variant: int = 0, name: str = NAME, parent: int = 100) -> BlockHeader:
    """A header for a slot; those of other variants have other transactions."""
    return BlockHeader(
        BlockId(parent.to_bytes(4, "big") + bytes(16)), slot, name, MerkleRoot(variant.to_bytes(20, "big")), ()
    )


def question_of(slot: int, variant: int = 0, number: int = 1, key: PrivateKey = KEY) -> SigningQuestion:
    return SigningQuestion(number, key.public, header_of(slot, variant))


def at(second: float, doubt: str = "") -> ClockReading:
    return ClockReading(int(second * SECOND), doubt)


class Memory:
    """A record that is not on a disk."""

    def __init__(self, block: Block | None = None) -> None:
        self.block = block

    def record(self, block: Block) -> None:
        self.block = block


def rule_of(record: Memory | None = None, *, is_ready: bool = True) -> SigningRule:
    """A rule for `alice`, with two keys; ready to sign, or as after an unclean stop."""
    keys = {key.public: key for key in (KEY, OTHER_KEY)}
    return SigningRule(keys, [NAME], record or Memory(), has_stopped_cleanly=is_ready)
