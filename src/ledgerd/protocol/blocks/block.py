"""Blocks: header, signature, id, merkle root (spec 01, section 11); and excepted ones (spec 03, section 2)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec

from ledgerd.codec import Void, codec_of, one_of, sorted_by
from ledgerd.codec.types.lazy import lazy
from ledgerd.codec.types.varint import pack_varint
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.hashing import ripemd160
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.crypto.signatures import Signature, recover, sign
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, MerkleRoot, block_number_of
from ledgerd.protocol.types.times import Time
from ledgerd.protocol.types.versions import HardforkVersionVote, Version

EXCEPTED_BLOCKS: dict[int, MerkleRoot] = {
    3705111: MerkleRoot(bytes.fromhex("0a8f0fd5450c3706ec8b8cbad795cd0b3679bf35")),
    3705120: MerkleRoot(bytes.fromhex("2027edb72b671f7011c8cc4c7a8b59c39b305093")),
    3713940: MerkleRoot(bytes.fromhex("bf8a1d516927c506ebdbb7b38bef2e992435435f")),
    3714132: MerkleRoot(bytes.fromhex("e8b77773d268b72c8d650337b8cce360bbe64779")),
    3714567: MerkleRoot(bytes.fromhex("45af59a8c2d7d4a606151ef5dae03d2dfe13fbdd")),
    3714588: MerkleRoot(bytes.fromhex("e64275443bdc82f104ac936486d367af8f6d1584")),
    4138790: MerkleRoot(bytes.fromhex("f65a3a788a2ef52406d8ba5705d7288be228403f")),
    5435426: MerkleRoot(bytes.fromhex("0b32538b2d22bd3146d54b6e3cb5ae8b9780e8a5")),
}
"""The merkle root that the transactions of a block really have, by its number. Their active authorities may be missing
too.
"""


NO_TRANSACTIONS = MerkleRoot(bytes(20))


class RunningVersion(msgspec.Struct, frozen=True):
    """The version that the producer runs, told when it changes."""

    version: Version

    TRANSPARENT: ClassVar[bool] = True


class HardforkVote(msgspec.Struct, frozen=True):
    """The hardfork that the producer votes for, and when."""

    vote: HardforkVersionVote

    TRANSPARENT: ClassVar[bool] = True


HeaderExtension = Annotated[Void | RunningVersion | HardforkVote, one_of(memory=28)]

EXTENSION_ORDER: dict[type, int] = {Void: 0, RunningVersion: 1, HardforkVote: 2}


def extension_order(extension: object) -> int:
    """Header extensions are ordered, and equal, by their tag (spec 01, section 2.7)."""
    return EXTENSION_ORDER[type(extension)]


HeaderExtensions = Annotated[tuple[HeaderExtension, ...], sorted_by(extension_order)]


class BlockHeader(msgspec.Struct, frozen=True):
    """The part of a block that its validator signs."""

    previous: BlockId
    timestamp: Time
    validator: str
    transaction_merkle_root: MerkleRoot
    extensions: HeaderExtensions

    TITLE: ClassVar[str] = "block header"

    @property
    def digest(self) -> bytes:
        """The hash that the validator signs; no chain id is in it."""
        return hashlib.sha256(codec_of(BlockHeader).encode(self)).digest()


class SignedHeader(msgspec.Struct, frozen=True, dict=True):
    """A header with its validator's signature: all that a block's id depends on."""

    previous: BlockId
    timestamp: Time
    validator: str
    transaction_merkle_root: MerkleRoot
    extensions: HeaderExtensions
    validator_signature: Signature

    TITLE: ClassVar[str] = "signed block header"
    KEEPS_PACKED: ClassVar[bool] = True

    @lazy
    def packed(self) -> bytes:
        return codec_of(SignedHeader).encode(self)

    @lazy
    def number(self) -> int:
        """One more than the number in the previous block's id, in 32 bits."""
        return (block_number_of(self.previous) + 1) & 0xFFFFFFFF

    @lazy
    def digest(self) -> bytes:
        """The hash that the validator signed: the header without the signature."""
        return hashlib.sha256(self.packed[: -len(self.validator_signature)]).digest()

    @lazy
    def id(self) -> BlockId:
        """The block's number, then the hash of the signed header; so it covers the signature."""
        hashed = hashlib.sha224(self.packed).digest()
        return BlockId(self.number.to_bytes(4, "big") + hashed[4:20])

    @lazy
    def signee(self) -> PublicKey:
        return recover(self.validator_signature, self.digest)

    @property
    def known_signee(self) -> PublicKey | None:
        known: PublicKey | None = self.__dict__.get("signee")
        return known

    def remember_signee(self, key: PublicKey) -> None:
        self.__dict__["signee"] = key

    def remember_packed(self, packed: bytes) -> None:
        self.__dict__["packed"] = packed

    def remember_id(self, block_id: BlockId) -> None:
        self.__dict__["id"] = block_id


class Block(msgspec.Struct, frozen=True, dict=True):
    """A signed header and its transactions."""

    previous: BlockId
    timestamp: Time
    validator: str
    transaction_merkle_root: MerkleRoot
    extensions: HeaderExtensions
    validator_signature: Signature
    transactions: tuple[Transaction, ...]

    TITLE: ClassVar[str] = "signed block"
    MEMORY: ClassVar[int] = 200
    KEEPS_PACKED: ClassVar[bool] = True

    @lazy
    def packed(self) -> bytes:
        """The canonical bytes; what is measured, logged and relayed."""
        return codec_of(Block).encode(self)

    @lazy
    def header(self) -> SignedHeader:
        header = SignedHeader(
            self.previous,
            self.timestamp,
            self.validator,
            self.transaction_merkle_root,
            self.extensions,
            self.validator_signature,
        )
        behind = len(pack_varint(len(self.transactions))) + sum([len(each.packed) for each in self.transactions])
        header.remember_packed(self.packed[:-behind])
        return header

    @lazy
    def number(self) -> int:
        return self.header.number

    @lazy
    def id(self) -> BlockId:
        return self.header.id

    @property
    def signee(self) -> PublicKey:
        return self.header.signee

    @lazy
    def merkle_root(self) -> MerkleRoot:
        """The root that the transactions have; the header must say the same."""
        return merkle_root([transaction.merkle_digest for transaction in self.transactions])

    def remember(self, block_id: BlockId, root: MerkleRoot, signee: PublicKey | None) -> None:
        """Store what was computed elsewhere: the id, the root of the transactions, and the key that signed."""
        header = self.header
        header.remember_id(block_id)
        if signee is not None:
            header.remember_signee(signee)
        self.__dict__["merkle_root"] = root


def require_merkle_root(block: Block) -> None:
    is_excepted = EXCEPTED_BLOCKS.get(block.number) == block.merkle_root
    require(
        block.transaction_merkle_root == block.merkle_root or is_excepted,
        "next_block.transaction_merkle_root == merkle_root: Merkle check failed",
    )


def require_block_size(size: int, most: int) -> None:
    require(
        size <= most,
        "block_size <= gprops.maximum_block_size: Block Size is too Big: ${block_size} > ${max}",
        block_size=size,
        max=most,
    )


def merkle_root(leaves: Sequence[bytes]) -> MerkleRoot:
    """Neighbours are hashed together, an odd last one is carried up, and the root is hashed once more."""
    if not leaves:
        return NO_TRANSACTIONS
    level = list(leaves)
    while len(level) > 1:
        paired = [hashlib.sha256(level[i] + level[i + 1]).digest() for i in range(0, len(level) - 1, 2)]
        level = paired + level[len(paired) * 2 :]
    return MerkleRoot(ripemd160(level[0]))


def previous_of_packed(block: bytes) -> BlockId:
    """The id of the block before this one: the bytes of a block begin with it."""
    return BlockId(block[: len(NO_BLOCK)])


def number_of_packed(block: bytes) -> int:
    return (block_number_of(previous_of_packed(block)) + 1) & 0xFFFFFFFF


def signed_block(header: BlockHeader, transactions: tuple[Transaction, ...], signature: Signature) -> Block:
    return Block(
        header.previous,
        header.timestamp,
        header.validator,
        header.transaction_merkle_root,
        header.extensions,
        signature,
        transactions,
    )


def sign_block(header: BlockHeader, transactions: tuple[Transaction, ...], key: PrivateKey) -> Block:
    return signed_block(header, transactions, sign(key, header.digest))
