"""What waits may ask for so many members of authorities; what is in a block may ask for any number."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.chain.pending.pending import MEMBERS_OF_REFUSED
from ledgerd.chain.rules.transactions.bounds import BeyondMemberBound
from ledgerd.protocol.authorities.authority_check import MissingActive
from ledgerd.protocol.authorities.authority_web import MOST_MEMBERS
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate, ProposalUpdate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import VIZ, Network
from tests.chain.webs import MASTER, STRANGER, block_of, everybody, found_web, key_in_web

COUNT = 75
WEB = everybody(COUNT)
FIRST = WEB.names[0]
TOLD = f"have more than {MOST_MEMBERS} keys and members to look at"


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    """Accounts with more members in all than may be looked at."""
    assert COUNT * COUNT > MOST_MEMBERS
    network = Network(tmp_path)
    network.start()
    found_web(network, WEB)
    yield network
    network.chain.close()


def gift(amount: int = 1) -> Transfer:
    return Transfer(FIRST, VIZ, tokens(amount), "")


def test_a_web_beyond_the_bound_is_refused_after_so_many_members(network: Network) -> None:
    for key in (STRANGER, MASTER, key_in_web(FIRST)):
        with pytest.raises(BeyondMemberBound, match=TOLD):
            network.send(gift(), key=key)
        assert MOST_MEMBERS < network.chain.members_checked < MOST_MEMBERS + 2 * COUNT
    assert network.chain.waiting == ()


def test_the_same_is_law_in_a_block_and_each_account_is_looked_at_once(network: Network) -> None:
    transaction = network.signed(gift(), key=MASTER)
    with pytest.raises(BeyondMemberBound):
        network.chain.push_transaction(transaction)

    before = network.chain.parts.ledger.lookups.checked
    network.chain.push_block(block_of(network, [transaction])).or_raise()

    assert network.chain.parts.ledger.lookups.checked - before < COUNT * (COUNT + 5)


def test_what_waits_is_applied_again_within_the_bound(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("ledgerd.chain.pending.pending.MOST_MEMBERS", 10 * MOST_MEMBERS)
        network.send(gift(), key=MASTER)
    waited = len(network.chain.waiting)

    network.chain.push_block(block_of(network, [])).or_raise()

    assert (waited, len(network.chain.waiting)) == (1, 0)


def test_a_block_of_ours_is_made_within_the_bound(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.chain.pending.pending.MOST_MEMBERS", 10 * MOST_MEMBERS)
    network.send(gift(), key=MASTER)

    assert network.make().transactions == ()


def test_what_is_too_late_is_refused_for_that_where_its_authorities_would_take_long(network: Network) -> None:
    late = network.signed(gift(), key=STRANGER, lifetime=-200)

    with pytest.raises(RuleViolation, match=r"now < trx\.expiration"):
        network.chain.push_transaction(late)
    assert network.chain.members_checked <= MEMBERS_OF_REFUSED + COUNT + 2


def test_what_is_too_late_is_refused_for_its_authority_where_that_is_soon_known(network: Network) -> None:
    """As recorded from the reference, which looks at authorities first."""
    late = network.signed(Transfer(VIZ, VIZ, tokens(1), ""), key=STRANGER, lifetime=-200)

    with pytest.raises(MissingActive):
        network.chain.push_transaction(late)


def test_trying_a_transaction_out_has_the_bound(network: Network) -> None:
    with pytest.raises(BeyondMemberBound, match=TOLD):
        network.chain.simulate_transaction(network.signed(gift(), key=STRANGER))


def test_approvals_of_a_proposal_have_the_bound(network: Network) -> None:
    """A proposal that is not carried out fails no transaction by itself; this does."""
    title, end = "title", network.chain.head_time + 86_400
    network.send(ProposalCreate(VIZ, title, "", end, (OperationWrapper(gift()),), None, ()))
    network.produce()
    approved = (key_in_web(AccountName(FIRST)).public,)
    update = ProposalUpdate(VIZ, title, (), (), (), (), (), (), approved, (), ())

    with pytest.raises(BeyondMemberBound, match=TOLD):
        network.send(update, key=key_in_web(FIRST))
