"""Who signed a block and its transactions, worked out ahead of the rules that ask for it (design decision 6).

What there is to recover is listed here, and the keys are put where the rules look for them; who recovers them, and
beside what, is no matter here. A key that could not be recovered is left to the rules, which say what is wrong.
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
    """The key behind one of them; nothing where there is none."""
    try:
        return recover(Signature(signed[:SIGNATURE_SIZE]), signed[SIGNATURE_SIZE:])
    except RuleViolation:
        return None


def remember_signers(blocks: Iterable[Block], chain_id: bytes, keys: Iterable[PublicKey | None]) -> None:
    """Put the keys, in the order of `signed_in`, where the rules look for them."""
    coming = iter(keys)
    for block in blocks:
        key = next(coming, None)
        if key is not None:
            block.header.remember_signee(key)
        for transaction in block.transactions:
            signers = [each for each in islice(coming, len(transaction.signatures)) if each is not None]
            if len(set(signers)) == len(transaction.signatures):
                transaction.remember_signers(chain_id, signers)
