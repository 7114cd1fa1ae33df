"""Recovery of the keys that signed a block and its transactions, ahead of the rules that need them.

This lists the signatures, and puts recovered keys into the cache that the rules use. Other processes may recover them.
A key that cannot be recovered is left to the rules, which raise the error.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.signatures import DIGEST_SIZE, SIGNATURE_SIZE, Signature, recover

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledgerd.protocol.block import Block
    from ledgerd.protocol.keys import PublicKey

SIGNED_SIZE = SIGNATURE_SIZE + DIGEST_SIZE
"""The bytes of a signature and of the digest that it signs."""


def signed_in(blocks: Iterable[Block], chain_id: bytes) -> list[bytes]:
    """Every signature with its digest: of each block its own, then those of its transactions."""
    signed = []
    for block in blocks:
        signed.append(block.validator_signature + block.header.digest)
        for transaction in block.transactions:
            digest = transaction.signature_digest(chain_id)
            signed += [signature + digest for signature in transaction.signatures]
    return signed


def signer_of(signed: bytes) -> PublicKey | None:
    """The key of a signature; None if it cannot be recovered."""
    try:
        return recover(Signature(signed[:SIGNATURE_SIZE]), signed[SIGNATURE_SIZE:])
    except RuleViolation:
        return None


def remember_signers(blocks: Iterable[Block], chain_id: bytes, keys: Iterable[PublicKey | None]) -> None:
    """Put the keys, in the order of `signed_in`, into the cache that the rules use."""
    coming = iter(keys)
    for block in blocks:
        key = next(coming, None)
        if key is not None:
            block.header.remember_signee(key)
        for transaction in block.transactions:
            signers = [each for each in islice(coming, len(transaction.signatures)) if each is not None]
            if len(set(signers)) == len(transaction.signatures):
                transaction.remember_signers(chain_id, signers)
