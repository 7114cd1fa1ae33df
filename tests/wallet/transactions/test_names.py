"""Names that are mistyped: found by what is known, and by what exists."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate
from ledgerd.protocol.operations.money.awards import Award
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.operations.named_accounts import named_accounts
from ledgerd.wallet.node.ledger import LedgerReader
from ledgerd.wallet.transactions.names import Doubt, corrected, doubts_about, is_one_off, slips_of
from tests.wallet.node.test_ledger import recorded_accounts
from tests.wallet.nodes import FakeNode, asking

ALICE, BOB = AccountName("alice"), AccountName("bob")


def transfer(recipient: str) -> Operation:
    return Transfer(ALICE, AccountName(recipient), tokens(1), "")


def doubts(operation: Operation, known: Collection[str]) -> list[Doubt]:
    accounts = recorded_accounts()
    node = FakeNode(lookup_account_names=lambda names: [accounts.get(each) for each in names])
    with asking(node) as client:
        return list(doubts_about(operation, LedgerReader(client), known))


@pytest.mark.parametrize(
    ("recipient", "known", "found"),
    [
        ("bob", ["alice"], []),
        ("bob", ["bob"], []),
        ("charlei", ["alice"], [Doubt("to", "charlei", exists=False, meant="charlie")]),
        ("bobb", [], [Doubt("to", "bobb", exists=False, meant="bob")]),
        ("bxb", ["bob"], [Doubt("to", "bxb", exists=False, meant="bob")]),
        ("zzzzz", ["bob"], [Doubt("to", "zzzzz", exists=False)]),
        ("lot01", ["lot02"], [Doubt("to", "lot01", exists=True, meant="lot02")]),
        ("lot01", ["lot01", "lot02"], []),
    ],
)
def test_a_name_is_doubted_when_it_does_not_exist_or_is_almost_a_known_one(
    recipient: str, known: list[str], found: list[Doubt]
) -> None:
    assert doubts(transfer(recipient), known) == found


def test_the_name_that_was_meant_is_put_in() -> None:
    assert corrected(transfer("bobb"), Doubt("to", "bobb", exists=False, meant="bob")) == transfer("bob")


def test_all_accounts_of_an_operation_are_looked_at() -> None:
    award = Award(ALICE, BOB, 1, 0, "", (Beneficiary(AccountName("frank"), 5),))
    assert list(named_accounts(award)) == [
        ("initiator", "alice"),
        ("receiver", "bob"),
        ("beneficiaries.account", "frank"),
    ]
    proposal = ProposalCreate(ALICE, "t", "", 1, (OperationWrapper(transfer("dan")),), None, ())
    assert list(named_accounts(proposal)) == [("author", "alice"), ("from", "alice"), ("to", "dan")]
    grant = SetAgentPermission(ALICE, AccountName("bot"), MAINNET.initiator_key, ("award",), 0, (), ())
    assert list(named_accounts(grant)) == [("account", "alice")]


words = st.text("abc-", min_size=2, max_size=6)


@given(words, words)
def test_one_off_is_symmetric_and_is_what_one_slip_makes(one: str, other: str) -> None:
    assert is_one_off(one, other) == is_one_off(other, one)
    assert not is_one_off(one, one)
    if other in slips_of(one) and one != other:
        assert is_one_off(one, other)


@given(words, st.data())
def test_every_single_slip_is_one_off(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from("xyz"))

    assert is_one_off(name, name[:place] + letter + name[place:])
    assert is_one_off(name, name[:place] + letter + name[place + 1 :])
