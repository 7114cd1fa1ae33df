"""Keys that were recovered ahead are those that the rules would find, and nothing is taken for a key that is none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.codec import codec_of
from ledgerd.protocol import block, transaction
from ledgerd.protocol.block import Block
from ledgerd.protocol.parameters import TESTNET
from ledgerd.protocol.signatures import Signature
from ledgerd.protocol.signers import SIGNED_SIZE, remember_signers, signed_in, signer_of
from ledgerd.protocol.transaction import DuplicateSignature
from tests.recorded import recorded_blocks

CHAIN = TESTNET.chain_id


def recorded() -> list[Block]:
    """Blocks of a testnet, many with transactions, fresh from their bytes."""
    return [codec_of(Block).decode(packed) for packed in recorded_blocks("open-1")[200:260]]


def test_the_keys_of_a_recorded_chain_are_those_that_the_rules_recover(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, plain = recorded(), recorded()
    signed = signed_in(blocks, CHAIN)
    assert {len(each) for each in signed} == {SIGNED_SIZE}
    assert len(signed) == len(blocks) + sum(len(trx.signatures) for each in blocks for trx in each.transactions)
    remember_signers(blocks, CHAIN, [signer_of(each) for each in signed])
    expected = [(each.signee, [trx.signature_keys(CHAIN) for trx in each.transactions]) for each in plain]
    monkeypatch.setattr(block, "recover", None)
    monkeypatch.setattr(transaction, "recover", None)
    found = [(each.signee, [trx.signature_keys(CHAIN) for trx in each.transactions]) for each in blocks]
    assert found == expected
    assert sum(len(keys) for _, keys in expected) > len(blocks)


def test_a_signature_without_a_key_is_left_to_the_rules() -> None:
    made = next(each for each in recorded() if each.transactions)
    (first, *others) = made.transactions
    bad = replace(first, signatures=(Signature(b"\xff" * 65),))
    forged = replace(made, transactions=(bad, *others), validator_signature=Signature(bytes(65)))
    keys = [signer_of(each) for each in signed_in([forged], CHAIN)]
    assert keys[:2] == [None, None]
    remember_signers([forged], CHAIN, keys)
    with pytest.raises(Exception, match="unable to reconstruct"):
        _ = forged.signee
    with pytest.raises(Exception, match="unable to reconstruct"):
        forged.transactions[0].signature_keys(CHAIN)


def test_one_key_that_signs_twice_is_still_refused() -> None:
    made = next(each for each in recorded() if each.transactions)
    (first, *others) = made.transactions
    twice = replace(made, transactions=(replace(first, signatures=first.signatures * 2), *others))
    remember_signers([twice], CHAIN, [signer_of(each) for each in signed_in([twice], CHAIN)])
    with pytest.raises(DuplicateSignature):
        twice.transactions[0].signature_keys(CHAIN)


def test_keys_for_one_chain_say_nothing_of_another() -> None:
    made = next(each for each in recorded() if each.transactions)
    (first, *_) = made.transactions
    ours = first.signature_keys(CHAIN)
    assert first.signature_keys(bytes(32)) != ours
    assert first.signature_keys(CHAIN) == ours
