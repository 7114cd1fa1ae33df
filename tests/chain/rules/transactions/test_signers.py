"""Whose signatures a transaction needs, as the state stands and while it changes (spec 10, sections 4.3 to 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.rules.accounts import authorities
from ledgerd.chain.rules.accounts.authorities import agents_of
from ledgerd.chain.rules.transactions.transactions import apply_transaction, check_signers
from ledgerd.protocol.blocks.block import EXCEPTED_BLOCKS
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.account_market import BuyAccount
from ledgerd.protocol.operations.accounts.accounts import AccountMetadata, AccountUpdate
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AGENT_PERMISSIONS, AgentPermission
from ledgerd.state.objects.accounts.proposals import PROPOSALS
from ledgerd.state.views.view import View
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    authority_for,
    carry_out,
    change,
    create_account,
    key_of,
    pass_time,
    set_median,
)

LedgerAt = Callable[[int], Ledger]

G, M = "key of the agent", "key of another agent"
NO_ALICE = "Missing Active Authority alice"
UNSEEN = Skip.REFERENCED_BLOCK | Skip.TRANSACTION_DUPES


def prepared(ledger: Ledger) -> Ledger:
    for name in (ALICE, BOB, CAROL):
        create_account(ledger, name, balance=1_000, shares=1_000_000)
    set_median(ledger, maximum_block_size=1 << 16)
    return ledger


@pytest.fixture
def ledger(ledger_at: LedgerAt) -> Ledger:
    ledger = prepared(ledger_at(15))
    carry_out(ledger, grant("bot", G, "transfer"))
    return ledger


def grant(name: str, key: str, *operations: str, expiration: int = 0) -> SetAgentPermission:
    return SetAgentPermission(ALICE, AccountName(name), key_of(key), operations, expiration, (), ())


def revoke(name: str) -> SetAgentPermission:
    return SetAgentPermission(ALICE, AccountName(name), NULL_KEY, (), 0, (), ())


def pay(sender: AccountName = ALICE) -> Transfer:
    return Transfer(sender, CAROL, tokens(1), "")


def update(**fields: Authority) -> AccountUpdate:
    given = {"master": None, "active": None, "regular": None} | fields
    return AccountUpdate(ALICE, given["master"], given["active"], given["regular"], NULL_KEY, "")


def send(ledger: Ledger, *operations: Operation, by: tuple[str, ...], skip: int = 0) -> str:
    """What the chain has against a transaction; it takes effect if that is nothing."""
    signers = [PrivateKey(sha256(name.encode())) for name in by]
    transaction = Transaction(0, 0, ledger.now + 60, operations, (), ())
    try:
        with ledger.store.begin() as session:
            apply_transaction(ledger, transaction.signed(ledger.network.chain_id, signers), skip | UNSEEN)
            session.squash()
    except RuleViolation as refusal:
        return refusal.message
    return ""


def test_an_agent_signs_what_it_was_allowed_to(ledger: Ledger) -> None:
    assert send(ledger, pay(), by=(G,)) == ""
    assert ledger.account(CAROL).balance == 1_001
    assert send(ledger, AccountMetadata(ALICE, "{}"), by=(G,)) == "Missing Regular Authority alice"
    assert send(ledger, pay(), by=(ALICE, G)) == "Unnecessary signature detected"
    assert send(ledger, pay(), pay(BOB), by=(G, BOB)) == ""
    assert send(ledger, pay(), pay(BOB), by=(G,)) == "Missing Active Authority bob"


def test_before_hardfork_15_a_row_is_no_agent(ledger_at: LedgerAt) -> None:
    ledger = prepared(ledger_at(14))
    row = AgentPermission(account=ALICE, agent_name=AccountName("a"), agent_key=key_of(G), operations="transfer")
    ledger.store.create(AGENT_PERMISSIONS, row)
    assert send(ledger, pay(), by=(G,)) == 'Missing Active Authority ["alice"]'
    assert send(ledger, pay(), pay(BOB), by=()) == 'Missing Active Authority ["bob","alice"]'


def test_an_agent_signs_until_its_time(ledger: Ledger) -> None:
    carry_out(ledger, grant("bot", G, "transfer", expiration=NOW + 2))
    pass_time(ledger, 1)
    assert send(ledger, pay(), by=(G,)) == ""
    pass_time(ledger, 1)
    assert send(ledger, pay(), by=(G,)) == NO_ALICE


def test_an_agent_is_asked_for_again_before_its_operation(ledger: Ledger) -> None:
    carry_out(ledger, grant("master", M, "set_agent_permission"))
    assert send(ledger, pay(), revoke("bot"), by=(M, G)) == ""
    carry_out(ledger, grant("bot", G, "transfer"))
    for earlier in (
        revoke("bot"),
        grant("bot", G, "custom"),
        grant("bot", BOB, "transfer"),
        grant("bot", G, "transfer", expiration=NOW),
    ):
        assert send(ledger, earlier, pay(), by=(M, G)) == NO_ALICE
    # Another row with the same key and right does as well.
    assert send(ledger, grant("also", G, "transfer"), revoke("bot"), pay(), by=(M, G)) == ""


def test_new_authorities_end_agents_within_the_transaction(ledger: Ledger) -> None:
    """Alice's own key stays good for what it was good for at the start; the agent's does not."""
    changed = update(active=authority_of(key_of("new")))
    custom = Custom((ALICE,), (), "V", "{}")
    carry_out(ledger, grant("custom", M, "custom"))
    assert send(ledger, changed, custom, by=(M, ALICE)) == "Unnecessary signature detected"
    assert send(ledger, changed, pay(), by=(ALICE,)) == ""
    assert authority_for(ledger, ALICE).active == authority_of(key_of("new"))


def test_an_account_that_is_sold_has_lost_its_agents(ledger: Ledger) -> None:
    set_median(ledger, account_creation_fee=tokens(10))
    change(ledger, ledger.account(ALICE), account_on_sale=True, account_seller=CAROL, account_offer_price=50)
    buy = BuyAccount(BOB, ALICE, tokens(50), key_of("new"), tokens(10))
    assert send(ledger, buy, pay(), by=(BOB, G)) == NO_ALICE
    assert send(ledger, pay(), buy, by=(BOB, G)) == ""


def test_an_agent_signs_alone_for_an_account_of_several_keys(ledger: Ledger) -> None:
    change(ledger, authority_for(ledger, ALICE), active=Authority(2, {}, {key_of(ALICE): 1, key_of(M): 1}))
    assert send(ledger, pay(), by=(G,)) == ""
    # One of the two keys was of no use.
    assert send(ledger, pay(), by=(ALICE, G)) == "Unnecessary signature detected"


def test_an_agent_of_this_very_transaction_does_not_sign(ledger: Ledger) -> None:
    carry_out(ledger, grant("master", M, "set_agent_permission"))
    custom = Custom((ALICE,), (), "V", "{}")
    assert send(ledger, grant("bot", G, "custom", "transfer"), custom, by=(M, G)) == NO_ALICE


def test_what_was_proved_at_the_start_is_not_asked_again(ledger: Ledger) -> None:
    assert send(ledger, revoke("bot"), pay(), by=(ALICE,)) == ""


def test_a_regular_key_of_a_member_no_longer_signs_for_an_active_authority(ledger_at: LedgerAt) -> None:
    """Row 9 of spec 10, section 12.3: the second check refuses what the first let pass (quirk A)."""
    kc = "regular key of carol"
    for hardfork, message in ((14, ""), (15, "Missing Regular Authority bob")):
        ledger = prepared(ledger_at(hardfork))
        change(ledger, authority_for(ledger, BOB), active=Authority(1, {CAROL: 1}, {}))
        change(ledger, authority_for(ledger, CAROL), regular=authority_of(key_of(kc)))
        assert send(ledger, AccountMetadata(BOB, "{}"), by=(kc,)) == message


def test_an_agent_of_a_member_is_nobody(ledger: Ledger) -> None:
    change(ledger, authority_for(ledger, BOB), active=Authority(1, {ALICE: 1}, {}))
    assert send(ledger, pay(BOB), by=(G,)) == "Missing Active Authority bob"
    assert send(ledger, pay(BOB), by=(ALICE,)) == ""


def test_an_imported_right_that_cannot_be_granted_is_none(ledger: Ledger) -> None:
    row = AgentPermission(account=ALICE, agent_name=AccountName("a"), agent_key=key_of(M), operations="account_update")
    ledger.store.create(AGENT_PERMISSIONS, row)
    assert send(ledger, update(regular=authority_of(key_of(M))), by=(M,)) == NO_ALICE


def test_nothing_is_asked_where_signatures_are_not_looked_at(ledger: Ledger) -> None:
    for skip in (Skip.AUTHORITIES, Skip.TRANSACTION_SIGNATURES):
        assert send(ledger, revoke("bot"), pay(), by=(G,), skip=skip) == ""
        carry_out(ledger, grant("bot", G, "transfer"))


def test_without_any_signature_nothing_is_asked_again(ledger: Ledger) -> None:
    """Bob's authority is open to all. With no key there is no second check, which would not find Alice's open."""
    change(ledger, authority_for(ledger, ALICE), active=Authority(0, {}, {}))
    assert send(ledger, update(active=authority_of(key_of("new"))), pay(), by=()) == ""


def test_blocks_that_are_let_through_still_want_agents_at_the_second_look(ledger: Ledger) -> None:
    change(ledger, ledger.globals, head_block_number=min(EXCEPTED_BLOCKS) - 1)
    assert send(ledger, pay(), by=()) == ""
    assert send(ledger, pay(), by=("nobody's key",)) == NO_ALICE
    change(ledger, ledger.globals, head_block_number=min(EXCEPTED_BLOCKS))
    assert send(ledger, pay(), by=()) == NO_ALICE


def test_an_agent_that_may_propose_may_propose_anything(ledger: Ledger) -> None:
    """What it proposes is agreed to with ordinary approvals alone (spec 10, section 4.5)."""
    carry_out(ledger, grant("proposer", M, "proposal_create"))
    operations = (OperationWrapper(pay(BOB)),)
    proposed = ProposalCreate(ALICE, "t", "m", NOW + 600, operations, None, ())
    assert send(ledger, proposed, by=(M,)) == ""
    (proposal,) = ledger.store.scan(PROPOSALS)
    assert proposal.required_active_approvals == (BOB,)
    assert ledger.account(BOB).balance == 1_000


def test_the_principal_pays_with_its_bandwidth(ledger: Ledger) -> None:
    before = ledger.account(ALICE).lifetime_bandwidth
    assert send(ledger, pay(), by=(G,)) == ""
    assert ledger.account(ALICE).lifetime_bandwidth > before


def test_the_agents_of_an_account_are_read_once_for_all_operations_of_a_transaction(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[AccountName] = []

    def counted(state: View, principal: AccountName) -> Iterator[AgentPermission]:
        read.append(principal)
        return agents_of(state, principal)

    monkeypatch.setattr(authorities, "agents_of", counted)
    transaction = Transaction(0, 0, NOW + 60, tuple(pay() for _ in range(50)), (), ())
    left = check_signers(ledger, transaction, {key_of(G)})
    assert (len(left), read) == (50, [ALICE])
    left[49].check_again(ledger)
    assert read == [ALICE, ALICE], "as they are by now"
