"""Damaged records of the last signed block: they are refused, or say what they said before."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec
from msgspec.structs import replace

from ledgerd.codec import codec_of
from ledgerd.producer.double_sign import FILE, WITHOUT_CHECKSUM, LastSigned, SignedBlockRecord
from ledgerd.protocol.block import Block
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.parameters import TESTNET
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
    """The file of a data directory, as this release writes it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._block = codec_of(Block).decode(recorded_blocks("open-2")[119])
        LastSigned(folder, TESTNET.chain_id).record(self._block)
        self._sound = self._path.read_bytes()
        record = msgspec.json.decode(self._sound, type=SignedBlockRecord)
        self._former = msgspec.json.encode(replace(record, format=WITHOUT_CHECKSUM, checksum=""))

    def make(self, random: Random) -> tuple[bool, bytes]:
        """Whether it was written by this release, and the damaged file."""
        is_sealed = random.random() < 0.8
        data = self._sound if is_sealed else self._former
        if random.random() < 0.3:
            at = int(random.random() * 60)
            return is_sealed, damaged(random, data[:at], WORDS) + data[at:]
        return is_sealed, damaged(random, data, WORDS)

    def survive(self, given: tuple[bool, bytes]) -> bool:
        is_sealed, data = given
        self._path.write_bytes(data)
        block = self._block
        try:
            signed = LastSigned(self._path.parent, TESTNET.chain_id)
            told = signed.unapplied(block.previous, block.timestamp - 3)
        except OperatorError:
            return False
        if is_sealed and (signed.time, told) != (block.timestamp, block):
            raise Broken(f"slot {signed.time} with {told!r:.100} was read from a damaged record")
        if signed.time > 0 and not signed.refusal(signed.time, block.timestamp):
            raise Broken(f"slot {signed.time} may be signed twice")
        return True
