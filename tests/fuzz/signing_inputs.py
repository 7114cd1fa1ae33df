"""Damaged records of the last signed block: they are refused, or say what they said before."""

from __future__ import annotations

from pathlib import Path
from random import Random

from ledgerd.codec import codec_of
from ledgerd.producer.signing.double_sign import FILE, LastSigned
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import TESTNET
from tests.fuzz.mutations import damaged
from tests.fuzz.target import Broken
from tests.recorded import recorded_blocks

WORDS = (
    b'"',
    b",",
    b":",
    b"{",
    b"}",
    b"1",
    b"2",
    b"0",
    b"null",
    b"-1",
    b'"checksum":""',
    b'"format":1,',
    b"\x00",
    b"9" * 30,
)


class SigningRecords:
    """The file of a data directory."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._block = codec_of(Block).decode(recorded_blocks("open-2")[119])
        LastSigned(folder, TESTNET.chain_id).record(self._block)
        self._sound = self._path.read_bytes()

    def make(self, random: Random) -> bytes:
        data, kind = self._sound, random.random()
        if kind < 0.1:
            return data
        if kind < 0.4:
            at = int(random.random() * 60)
            return damaged(random, data[:at], WORDS) + data[at:]
        return damaged(random, data, WORDS)

    def survive(self, given: bytes) -> bool:
        self._path.write_bytes(given)
        block = self._block
        try:
            signed = LastSigned(self._path.parent, TESTNET.chain_id)
            told = signed.unapplied(block.previous, block.timestamp - 3)
        except OperatorError:
            return False
        if (signed.time, told) != (block.timestamp, block):
            raise Broken(f"slot {signed.time} with {told!r:.100} was read from a damaged record")
        if not signed.refusal(signed.time, block.timestamp):
            raise Broken(f"slot {signed.time} may be signed twice")
        return True
