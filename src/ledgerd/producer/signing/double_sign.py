"""Double-sign protection: the last signed block is on the disk before it is sent. The block itself is kept: a node that
was stopped before it was applied applies the same, and needs no second signature.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from ledgerd.basics.durable import put_in_place, read_file
from ledgerd.basics.formats import FileFormat
from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.block import Block, BlockHeader, signed_block
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.time_text import time_text

FILE = "last_signed_block"
FORMAT = 2
LARGEST_RECORD = 16 << 20
"""Bytes: a block in hex digits is in it."""
Word = Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]


class SignedBlockRecord(msgspec.Struct, frozen=True):
    """The content of the file."""

    format: int
    chain: str
    time: Word
    number: Word
    id: str
    block: str
    checksum: str = ""
    """SHA-256 of all other fields."""

    def sealed(self) -> SignedBlockRecord:
        plain = msgspec.json.encode(replace(self, checksum=""))
        return replace(self, checksum=sha256(plain).hexdigest())


class NewerRecord(OperatorError):
    """A newer version of this program has signed: what it signed is not known here, so nothing may be."""


class SignedSlot(NamedTuple):
    """The block that was signed last."""

    time: int
    digest: bytes
    """The hash that was signed: a stranger can change a signature and so the id of a block, but not this."""


class SigningRecord(Protocol):
    """The interface that a producer asks before it signs, and informs afterwards."""

    def refusal(self, slot: int, head_time: int) -> str: ...
    def record(self, block: Block) -> None: ...
    def unapplied(self, head_id: bytes, head_time: int) -> Block | None: ...


class LastSigned:
    """The record of one data directory; of a signer, which knows no chain, it is that of any."""

    def __init__(self, folder: Path, chain_id: bytes | None, name: str = FILE) -> None:
        self.path = folder / name
        self._chain = "" if chain_id is None else chain_id.hex()
        self._is_of_any_chain = chain_id is None
        self._last = self._read()
        self._found = 0 if self._last is None else self._last.time
        """The time of the block that an earlier run signed last."""

    @property
    def time(self) -> int:
        return 0 if self._last is None else self._last.time

    @property
    def block(self) -> Block | None:
        return None if self._last is None else self._block_of(self._last)

    @property
    def latest(self) -> SignedSlot | None:
        return None if self._last is None else SignedSlot(self._last.time, self._block_of(self._last).header.digest)

    def refusal(self, slot: int, head_time: int) -> str:
        if self._last is None:
            return ""
        if slot <= self._last.time:
            return f"slot {time_text(slot)} is not after {time_text(self._last.time)}, which was signed here already"
        if head_time < self._found:
            return (
                f"this node signed block #{self._last.number} of {time_text(self._found)}, and its head is older "
                f"({time_text(head_time)}): production waits until the chain has come that far. If that block was "
                f"never seen by anybody, stop the node, remove {self.path} and start it again"
            )
        return ""

    def record(self, block: Block) -> None:
        """Durable when this returns; after an `OperatorError` the record is as it was, and the block must not leave."""
        signed = self._sealed(block)
        fresh = self.path.with_name(f"{FILE}.new")
        try:
            fresh.write_bytes(msgspec.json.encode(signed))
            put_in_place(fresh, self.path)
        except OSError as error:
            raise OperatorError(
                f"{self.path} cannot be written ({error}), so block #{block.number} is not sent: check the disk's free "
                "space and the permissions, then start again; nothing is lost"
            ) from error
        self._last = signed

    def encoded(self, block: Block) -> bytes:
        """The content of the file for a block without its transactions; a signer writes the file itself."""
        header = block.header
        plain = BlockHeader(
            header.previous, header.timestamp, header.validator, header.transaction_merkle_root, header.extensions
        )
        return msgspec.json.encode(self._sealed(signed_block(plain, (), block.validator_signature)))

    def _sealed(self, block: Block) -> SignedBlockRecord:
        packed = block.packed.hex()
        return SignedBlockRecord(FORMAT, self._chain, block.timestamp, block.number, block.id.hex(), packed).sealed()

    def unapplied(self, head_id: bytes, head_time: int) -> Block | None:
        """A block of ours that was signed and never applied, where it still continues the head."""
        if self._last is None or self._last.time <= head_time:
            return None
        block = self._block_of(self._last)
        return block if block.previous == head_id else None

    def _block_of(self, signed: SignedBlockRecord) -> Block:
        try:
            return codec_of(Block).decode_exactly(bytes.fromhex(signed.block))
        except (CodecError, ValueError) as error:
            raise self._damaged() from error

    def _read(self) -> SignedBlockRecord | None:
        try:
            raw = read_file(self.path, LARGEST_RECORD)
            found = msgspec.json.decode(raw, type=FileFormat)
            newer = found.newer_than(FORMAT, f"{self.path}, which says what was signed last,")
            if newer:
                raise NewerRecord(newer)
            signed = msgspec.json.decode(raw, type=SignedBlockRecord)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OperatorError(
                f"{self.path}, which says what this node signed last, cannot be read: {error.strerror}: see to its "
                "owner and to the disk, and leave the file where it is"
            ) from error
        except (UnicodeDecodeError, msgspec.MsgspecError) as error:
            raise self._damaged() from error
        if found.format != FORMAT or signed.sealed() != signed:
            raise self._damaged()
        if self._is_of_any_chain:
            self._chain = signed.chain
        if signed.chain != self._chain:
            raise OperatorError(f"{self.path} belongs to another chain: use another --data-dir, or move the file away")
        return signed

    def _damaged(self) -> OperatorError:
        return OperatorError(
            f"{self.path}, which says what this node signed last, cannot be read: it is damaged, or of another version "
            "of this program; remove the file only when no other copy of this node has run since"
        )
