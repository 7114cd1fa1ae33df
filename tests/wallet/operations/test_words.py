"""Operations in words: nothing of what is signed is left out, and nothing in it moves a terminal's cursor."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.money.awards import Award
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset, shares, tokens
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.operations.fields import SENDABLE, fields_of_operation
from ledgerd.wallet.operations.words import amount_words, authority_words, sentence_of, words_of
from tests.strategies import values_of

ALICE, BOB = AccountName("alice"), AccountName("bob")
KEY = MAINNET.initiator_key


def test_a_transfer_in_words() -> None:
    assert words_of(Transfer(ALICE, BOB, tokens(1500), "thank you")) == [
        "transfer: Moves tokens from one account to another.",
        "    from    alice",
        "    to      bob",
        "    amount  1.500 VIZ",
        "    memo    thank you",
    ]


def test_operations_within_an_operation_are_in_words_too() -> None:
    inner = Transfer(ALICE, BOB, tokens(1), "inside")
    words = words_of(ProposalCreate(ALICE, "rent", "", 60, (OperationWrapper(inner),), None, ()))

    assert [line.strip() for line in words][-6:-1] == [
        "1. transfer: Moves tokens from one account to another.",
        "from    alice",
        "to      bob",
        "amount  0.001 VIZ",
        "memo    inside",
    ]
    assert words[-1].split() == ["review_period_time", "(nothing)"]


def test_keys_lists_times_and_authorities_are_written_out() -> None:
    words = words_of(SetAgentPermission(ALICE, AccountName("bot"), KEY, ("award", "transfer"), 0, (), ()))

    assert f"    agent_key   {public_key_text(KEY)}" in words
    assert "    operations  award, transfer" in words
    assert "    expiration  (no time)" in words
    assert authority_words(Authority(2, {BOB: 1}, {KEY: 1})) == f"2 of bob (1) + {public_key_text(KEY)} (1)"


@pytest.mark.parametrize("operation", SENDABLE, ids=name_of)
@settings(max_examples=5)
@given(st.data())
def test_every_field_is_shown_and_every_line_can_be(operation: type[Operation], data: st.DataObject) -> None:
    value = data.draw(values_of(operation))
    words = words_of(value)

    assert words[0] == f"{name_of(operation)}: {sentence_of(operation)}"
    for field in fields_of_operation(operation):
        assert any(line.split()[0] == field.name for line in words[1:]), field.name
    assert all(line.isprintable() for line in words)


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (shares(5), "0.000005 SHARES"),
        (tokens(-1500), "minus 1.500 VIZ"),
        (Asset(7, 15), "7 of the unknown symbol 0xf"),
        (Asset(1500, TOKEN_SYMBOL + 1), "1500 of the unknown symbol 0x5a495604"),
    ],
)
def test_no_amount_is_shown_as_another_one(amount: Asset, words: str) -> None:
    assert amount_words(amount) == words


def test_words_are_those_of_the_bytes() -> None:
    award = Award(ALICE, BOB, 100, 0, "memo", ())
    again = codec_of(Operation).decode_exactly(codec_of(Operation).encode(award))

    assert words_of(again) == words_of(award)
    assert words_of(again) != words_of(Award(ALICE, BOB, 101, 0, "memo", ()))


def test_every_operation_has_a_sentence() -> None:
    assert all(len(sentence_of(each)) > 10 for each in OPERATIONS)
