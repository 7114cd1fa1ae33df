"""Parts of a block's bytes: to decode a whole one of two megabytes takes a second."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.kinds import Reading
from ledgerd.codec.partial import bytes_before
from ledgerd.codec.types.numbers import UInt16, UInt32
from ledgerd.codec.types.varint import pack_varint, read_varint
from ledgerd.protocol.blocks.block import SignedHeader
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.signatures import SIGNATURE_SIZE, Signature
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import Extensions
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.times import Time


class BlockOpening(NamedTuple):
    """The beginning of a block's bytes."""

    header: SignedHeader
    transactions: int
    begin: int


class TransactionReference(msgspec.Struct, frozen=True):
    """The first fields of a transaction."""

    ref_block_num: UInt16
    ref_block_prefix: UInt32
    expiration: Time

    TITLE: ClassVar[str] = "reference of a transaction"


BEFORE_OPERATIONS = bytes_before(Transaction, "operations")
"""Bytes of a transaction before the count of its operations."""


class TransactionClosing(msgspec.Struct, frozen=True):
    """The fields after the operations of a transaction."""

    extensions: Extensions
    signatures: tuple[Signature, ...]

    TITLE: ClassVar[str] = "closing of a transaction"


class TransactionPart(NamedTuple):
    """A transaction with some of its operations."""

    reference: TransactionReference
    signatures: tuple[Signature, ...]
    total: int
    operations: tuple[Operation, ...]


def opening_of(packed: bytes) -> BlockOpening:
    header, end = codec_of(SignedHeader).decode_from(packed, 0)
    return BlockOpening(header, *read_varint(packed, end, Reading()))


def part_at(packed: bytes, identifier: TransactionId, offsets: Sequence[int], wanted: slice) -> TransactionPart | None:
    """Decodes the wanted operations alone; None where the offsets are not those of all its operations."""
    count = pack_varint(len(offsets))
    if not offsets or packed[offsets[0] - len(count) : offsets[0]] != count:
        return None
    begin = offsets[0] - len(count) - BEFORE_OPERATIONS
    reference, _ = codec_of(TransactionReference).decode_from(packed, begin)
    decode = codec_of(Operation).decode_from
    _, end = decode(packed, offsets[-1])
    closing, end = codec_of(TransactionClosing).decode_from(packed, end)
    signatures = len(closing.signatures)
    end -= SIGNATURE_SIZE * signatures + len(pack_varint(signatures))
    if hashlib.sha256(packed[begin:end]).digest()[: len(identifier)] != identifier:
        return None
    operations = tuple(decode(packed, each)[0] for each in offsets[wanted])
    return TransactionPart(reference, closing.signatures, len(offsets), operations)


def part_in(
    packed: bytes, identifier: TransactionId, opening: BlockOpening, place: int, wanted: slice
) -> TransactionPart | None:
    """The part of a transaction whose place in the block is known, but not where its bytes begin: those before it are
    read too.
    """
    if place >= opening.transactions:
        return None
    decode, where = codec_of(Transaction).decode_from, opening.begin
    for _ in range(place):
        where = decode(packed, where)[1]
    found, _ = decode(packed, where)
    if found.id != identifier:
        return None
    reference = TransactionReference(found.ref_block_num, found.ref_block_prefix, found.expiration)
    return TransactionPart(reference, found.signatures, len(found.operations), found.operations[wanted])
