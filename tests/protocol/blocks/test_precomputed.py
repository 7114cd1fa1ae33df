"""What is computed ahead is what the rules would find, and nothing is taken for a key that is none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks import block, transaction
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.blocks.precomputed import apply_precomputed, precompute
from ledgerd.protocol.blocks.transaction import DuplicateSignature
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.recorded import recorded_blocks

CHAIN = TESTNET.chain_id


def recorded() -> list[Block]:
    """Blocks of a testnet, many with transactions, fresh from their bytes."""
    return [codec_of(Block).decode(packed) for packed in recorded_blocks("open-1")[200:260]]


def fresh(made: Block) -> Block:
    """The same block from its bytes, with nothing computed."""
    return codec_of(Block).decode_exactly(codec_of(Block).encode(made))


def computed_ahead(made: Block) -> Block:
    """A block that was given what another process computed of its bytes."""
    taken, results = fresh(made), precompute(fresh(made), TESTNET)
    assert apply_precomputed(taken, CHAIN, results, 0) == len(results)
    return taken


def with_transactions() -> Block:
    return next(each for each in recorded() if each.transactions)


def all_of(made: Block) -> tuple[object, ...]:
    """All that can be asked of a block without a state."""
    each = [(trx.id, trx.signature_keys(CHAIN)) for trx in made.transactions]
    return made.id, made.merkle_root, made.signee, each


def test_what_is_computed_ahead_of_a_recorded_chain_is_what_the_rules_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, expected = [computed_ahead(each) for each in recorded()], [all_of(each) for each in recorded()]
    assert any(made.transactions for made in taken)
    for module, name in ((block, "recover"), (transaction, "recover"), (block, "merkle_root"), (block, "hashlib")):
        monkeypatch.setattr(module, name, None)
    monkeypatch.setattr(Transfer, "check", None)
    assert [all_of(each) for each in taken] == expected
    for each in taken:
        for trx in each.transactions:
            trx.check(TESTNET)


def test_a_signature_without_a_key_is_left_to_the_rules() -> None:
    made = with_transactions()
    (first, *others) = made.transactions
    bad = replace(first, signatures=(Signature(b"\xff" * 65),))
    forged = computed_ahead(replace(made, transactions=(bad, *others), validator_signature=Signature(bytes(65))))
    with pytest.raises(Exception, match="unable to reconstruct"):
        _ = forged.signee
    with pytest.raises(Exception, match="unable to reconstruct"):
        forged.transactions[0].signature_keys(CHAIN)


def test_one_key_that_signs_twice_is_still_refused() -> None:
    made = with_transactions()
    (first, *others) = made.transactions
    twice = computed_ahead(replace(made, transactions=(replace(first, signatures=first.signatures * 2), *others)))
    with pytest.raises(DuplicateSignature):
        twice.transactions[0].signature_keys(CHAIN)


def test_an_operation_that_is_not_well_formed_is_still_refused() -> None:
    made = with_transactions()
    (first, *others) = made.transactions
    for ill in (
        Transfer(AccountName("alice"), AccountName("bob"), tokens(0), ""),
        Custom((), (AccountName("alice"),), "any", "["),
    ):
        bad = computed_ahead(replace(made, transactions=(replace(first, operations=(ill,)), *others)))
        with pytest.raises(RuleViolation):
            bad.transactions[0].check(TESTNET)


def test_keys_and_checks_for_one_chain_say_nothing_of_another() -> None:
    (first, *_) = computed_ahead(with_transactions()).transactions
    ours = first.signature_keys(CHAIN)
    assert first.signature_keys(bytes(32)) != ours
    assert first.signature_keys(CHAIN) == ours


def test_the_header_has_its_bytes_from_those_of_the_block() -> None:
    made_blocks = [codec_of(Block).decode(packed) for packed in recorded_blocks("open-1")[:300]]
    assert {bool(made.transactions) for made in made_blocks} == {True, False}
    for made in made_blocks:
        assert made.header.packed == codec_of(SignedHeader).encode(made.header)
