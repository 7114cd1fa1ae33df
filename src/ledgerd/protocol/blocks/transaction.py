"""Transactions: fields, ids, digests, signatures, and the block that they refer to (spec 01, 9)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import ClassVar

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.types.lazy import lazy
from ledgerd.codec.types.numbers import UInt16, UInt32
from ledgerd.codec.types.varint import pack_varint
from ledgerd.protocol.authorities.authority_check import required_authorities
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.crypto.signatures import SIGNATURE_SIZE, Signature, recover, sign
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Authorities, Extensions, Operation
from ledgerd.protocol.types.identifiers import BlockId, TransactionId, block_number_of
from ledgerd.protocol.types.times import Time

SIGNERS = "signers"
"""The attribute for the recovered keys, with their chain id."""
CHECKED_FOR = "checked for"
"""The attribute for the id of the chain by whose constants all operations are known to be valid."""


class DuplicateSignature(RuleViolation):
    """Two signatures of one key."""

    code = 3060000
    name = "tx_duplicate_sig"


class Transaction(msgspec.Struct, frozen=True, dict=True):
    """Operations that are applied together or not at all, on the chain of the block that it refers to."""

    ref_block_num: UInt16
    ref_block_prefix: UInt32
    expiration: Time
    operations: tuple[Operation, ...]
    extensions: Extensions
    signatures: tuple[Signature, ...]

    TITLE: ClassVar[str] = "signed transaction"
    MEMORY: ClassVar[int] = 88
    KEEPS_PACKED: ClassVar[bool] = True

    @lazy
    def packed(self) -> bytes:
        """The canonical bytes, signatures included; what is measured and relayed."""
        return codec_of(Transaction).encode(self)

    @lazy
    def unsigned(self) -> bytes:
        count = len(self.signatures)
        return self.packed[: len(self.packed) - SIGNATURE_SIZE * count - len(pack_varint(count))]

    @lazy
    def id(self) -> TransactionId:
        return TransactionId(hashlib.sha256(self.unsigned).digest()[:20])

    @lazy
    def merkle_digest(self) -> bytes:
        """The leaf of a block's merkle tree."""
        return hashlib.sha256(self.packed).digest()

    @lazy
    def required(self) -> Authorities:
        return required_authorities(self.operations)

    @lazy
    def required_each(self) -> tuple[Authorities, ...]:
        if len(self.operations) == 1:
            return (self.required,)
        return tuple(required_authorities((operation,)) for operation in self.operations)

    def signature_digest(self, chain_id: bytes) -> bytes:
        """The hash that signatures sign: of the chain id, then the unsigned bytes."""
        return hashlib.sha256(chain_id + self.unsigned).digest()

    def check(self, network: ChainParameters) -> None:
        """Raise unless every operation is valid by itself; extensions are not checked."""
        if self.__dict__.get(CHECKED_FOR) == network.chain_id:
            return
        require(self.operations, "operations.size() > 0: A transaction must have at least one operation")
        for operation in self.operations:
            operation.check(network)

    def signature_keys(self, chain_id: bytes) -> frozenset[PublicKey]:
        """The keys that signed, each only once. They are recovered once, since nothing else is as slow."""
        known = self.known_signers(chain_id)
        if known is not None:
            return known
        digest = self.signature_digest(chain_id)
        keys: set[PublicKey] = set()
        for signature in self.signatures:
            key = recover(signature, digest)
            if key in keys:
                raise DuplicateSignature("Duplicate Signature detected")
            keys.add(key)
        return self.remember_signers(chain_id, keys)

    def known_signers(self, chain_id: bytes) -> frozenset[PublicKey] | None:
        known: tuple[bytes, frozenset[PublicKey]] | None = self.__dict__.get(SIGNERS)
        return known[1] if known is not None and known[0] == chain_id else None

    def remember_signers(self, chain_id: bytes, keys: Iterable[PublicKey]) -> frozenset[PublicKey]:
        signers = frozenset(keys)
        self.__dict__[SIGNERS] = chain_id, signers
        return signers

    def remember(self, transaction_id: TransactionId, chain_id: bytes, *, is_well_formed: bool) -> None:
        """What was computed of it elsewhere: its id, and whether it passes `check`."""
        found = self.__dict__
        found["id"] = transaction_id
        if is_well_formed:
            found[CHECKED_FOR] = chain_id

    def signed(self, chain_id: bytes, keys: Iterable[PrivateKey]) -> Transaction:
        digest = self.signature_digest(chain_id)
        signatures = tuple(sign(key, digest) for key in keys)
        return msgspec.structs.replace(self, signatures=self.signatures + signatures)


def reference_to(block: BlockId) -> tuple[int, int]:
    """The reference to a block in a transaction: number and prefix (spec 01, section 9)."""
    return block_number_of(block) & 0xFFFF, int.from_bytes(block[4:8], "little")


def unsigned_transaction(reference: BlockId, expiration: int, operations: Iterable[Operation]) -> Transaction:
    number, prefix = reference_to(reference)
    return Transaction(number, prefix, expiration, tuple(operations), (), ())
