"""What is shown before a transaction is signed is what its bytes say."""

from __future__ import annotations

import msgspec
import pytest

from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.crypto.signatures import sign
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId, ChainId
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.sdk.transactions.draft import Draft, draft_of
from ledgerd.wallet.transactions.review import lines_of, review_of

KEY, OTHER = PrivateKey(b"\5" * 32), PrivateKey(b"\6" * 32)
STANDING = ChainStatus(ChainId(b"\1" * 32), BlockId(bytes(20)), 0, 1_700_000_000, 0)
EVE = AccountName("eve")
TRANSFER = Transfer(AccountName("alice"), AccountName("bob"), tokens(1), "hello")


@pytest.fixture
def draft() -> Draft:
    return draft_of(STANDING, 60, [TRANSFER])


def test_a_review_has_everything_in_words(draft: Draft) -> None:
    signed = draft.with_signatures([sign(OTHER, draft.transaction.signature_digest(draft.chain_id))])
    review = review_of(signed, [KEY.public], "Missing Active Authority bob", ["10.000 VIZ: a_fee"], ["look again"])

    assert list(lines_of(review)) == [
        f"Transaction {draft.id}, {len(signed.transaction.packed)} bytes, expires 2023-11-14T22:14:20 UTC",
        f"Chain {'01' * 32}",
        "1. transfer: Moves tokens from one account to another.",
        "      from    alice",
        "      to      bob",
        "      amount  0.001 VIZ",
        "      memo    hello",
        "Must sign: alice (active)",
        f"Has signed: {public_key_text(OTHER.public)}",
        f"Signs now: {public_key_text(KEY.public)}",
        "Not enough yet: Missing Active Authority bob",
        "Fee, as the node says: 10.000 VIZ: a_fee",
        "WARNING: look again",
    ]


@pytest.mark.parametrize(
    ("memo", "shown"),
    [
        ("\u2800\u3164\u115f", '"\\u2800\\u3164\\u115f"'),
        (f"rent{' ' * 300}2. transfer: to      eve", '"rent\\{300 spaces}2. transfer: to      eve"'),
        ("rent\n      amount  9.000 VIZ", '"rent\\n      amount  9.000 VIZ"'),
    ],
)
def test_a_text_of_blanks_is_seen_and_begins_no_line_of_its_own(memo: str, shown: str) -> None:
    draft = draft_of(STANDING, 60, [Transfer(AccountName("alice"), AccountName("bob"), tokens(1), memo)])
    assert f"      memo    {shown}" in [*lines_of(review_of(draft, []))]


def test_the_words_are_those_of_the_bytes_and_not_of_the_object(draft: Draft) -> None:
    """Only the bytes are signed: a record that says something else must not be what is shown."""
    lying = msgspec.structs.replace(draft.transaction, operations=(Transfer(EVE, EVE, tokens(9), ""),))
    lying.__dict__["packed"] = draft.transaction.packed

    review = review_of(msgspec.structs.replace(draft, transaction=lying), [])

    assert "    to      bob" in review.words[0]
    assert review.required == ("alice (active)",)
    assert review.operations[0][1]["to"] == "bob"
