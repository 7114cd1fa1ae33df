from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.accounts.accounts import AccountMetadata, AccountUpdate, ChangeRecoveryAccount
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from tests.chain.ledgers import ALICE, BOB, CAROL, authority_for, carry_out, change, create_account, key_of, refuses
from tests.chain.proposing import active, approval, find, pays, proposal, stored

DAVE = AccountName("dave")
KEY = key_of("somebody")

IDLE_KEY = "Unnecessary signature(s) detected"
IDLE_APPROVAL = "Unnecessary approval(s) detected"


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    for name in (ALICE, BOB, CAROL, DAVE):
        create_account(ledger, name, balance=100)
    return ledger


def test_a_useful_approval_is_kept_while_others_are_missing(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays(BOB), pays(CAROL)))

    carry_out(ledger, active(CAROL))

    assert stored(ledger).available_active_approvals == (CAROL,)


def test_an_idle_approval_is_refused_while_others_are_missing(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays(BOB), pays(CAROL)))

    refuses(ledger, active(DAVE), IDLE_APPROVAL)
    refuses(ledger, active(CAROL, DAVE), IDLE_APPROVAL)


def test_an_idle_key_is_refused_while_others_are_missing(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays(BOB), pays(CAROL)))

    refuses(ledger, approval(key_approvals_to_add=(KEY,)), IDLE_KEY)


def test_an_idle_key_is_refused_beside_a_useful_one(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays(BOB), pays(CAROL)))
    keys = tuple(sorted((key_of(CAROL), KEY)))

    refuses(ledger, approval(key_approvals_to_add=keys), IDLE_KEY)


def test_a_key_that_is_one_of_several_is_useful_before_it_suffices(ledger: Ledger) -> None:
    both = Authority(2, {}, dict.fromkeys(sorted((KEY, key_of(BOB))), 1))
    change(ledger, authority_for(ledger, BOB), active=both)
    carry_out(ledger, proposal(pays(BOB)))

    carry_out(ledger, approval(key_approvals_to_add=(KEY,)))
    assert stored(ledger).available_key_approvals == (KEY,)
    carry_out(ledger, approval(key_approvals_to_add=(key_of(BOB),)))

    assert ledger.account(ALICE).balance == 110
    assert find(ledger) is None


def test_keys_of_accounts_inside_an_authority_are_useful(ledger: Ledger) -> None:
    change(ledger, authority_for(ledger, BOB), active=Authority(1, {CAROL: 1}, {}))
    carry_out(ledger, proposal(pays(BOB)))

    carry_out(ledger, approval(key_approvals_to_add=(key_of(CAROL),)))

    assert ledger.account(ALICE).balance == 110


def test_approvals_of_accounts_inside_an_authority_are_refused(ledger: Ledger) -> None:
    """Spec 02, section 15.3, quirk."""
    change(ledger, authority_for(ledger, BOB), active=Authority(1, {CAROL: 1}, {}))
    carry_out(ledger, proposal(pays(BOB)))

    refuses(ledger, active(CAROL), IDLE_APPROVAL)


def test_approvals_that_are_no_longer_needed_do_no_harm(ledger: Ledger) -> None:
    """Only what the operation itself adds is looked at, and idle approvals do not keep from execution."""
    carry_out(ledger, proposal(pays(BOB), pays(CAROL)))
    change(ledger, stored(ledger), available_active_approvals=(BOB, DAVE), available_key_approvals=(KEY,))

    carry_out(ledger, active(CAROL))

    assert ledger.account(ALICE).balance == 120


@pytest.mark.parametrize("kind", ["active_approvals_to_add", "master_approvals_to_add"])
def test_approvals_of_a_kind_that_is_not_looked_at_are_stored_without_effect(ledger: Ledger, kind: str) -> None:
    carry_out(ledger, proposal(AccountMetadata(BOB, "new")))

    carry_out(ledger, approval(**{kind: (DAVE,)}))

    assert find(ledger) is not None


def test_an_idle_regular_approval_is_refused(ledger: Ledger) -> None:
    carry_out(ledger, proposal(AccountMetadata(BOB, "new")))

    refuses(ledger, approval(regular_approvals_to_add=(DAVE,)), IDLE_APPROVAL)
    refuses(ledger, approval(key_approvals_to_add=(KEY,)), IDLE_KEY)


def test_an_active_key_is_useful_where_regular_authority_is_asked_for(ledger: Ledger) -> None:
    change(ledger, authority_for(ledger, BOB), active=authority_of(KEY))
    carry_out(ledger, proposal(AccountMetadata(BOB, "1"), AccountMetadata(CAROL, "2")))

    carry_out(ledger, approval(key_approvals_to_add=(KEY,)))

    assert stored(ledger).available_key_approvals == (KEY,)


def test_masters_and_actives_are_assumed_one_after_the_other(ledger: Ledger) -> None:
    update = AccountUpdate(BOB, authority_of(KEY), None, None, KEY, "")
    carry_out(ledger, proposal(update, pays(CAROL)))

    refuses(ledger, approval(key_approvals_to_add=(KEY,)), IDLE_KEY)
    refuses(ledger, approval(active_approvals_to_add=(DAVE,)), IDLE_APPROVAL)
    carry_out(ledger, approval(key_approvals_to_add=(key_of(BOB),)))
    assert stored(ledger).available_key_approvals == (key_of(BOB),)
    carry_out(ledger, active(CAROL))

    assert authority_for(ledger, BOB).master == authority_of(KEY)


def test_an_account_that_is_gone_cannot_be_asked(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays(BOB), pays(CAROL)))
    ledger.store.remove(authority_for(ledger, BOB))

    refuses(ledger, active(CAROL), "unknown key: ")


def test_a_key_of_an_account_whose_master_authority_is_given_is_idle(ledger: Ledger) -> None:
    """Who has signed as master counts inside of others' authorities without its active keys (spec 01, section 10.2)."""
    master = key_of("master of bob")
    change(ledger, authority_for(ledger, BOB), master=authority_of(master))
    change(ledger, authority_for(ledger, CAROL), master=Authority(1, {BOB: 1}, {}))
    carry_out(ledger, proposal(*(ChangeRecoveryAccount(name, ALICE, ()) for name in (BOB, CAROL))))
    keys = tuple(sorted((master, key_of(BOB))))

    refuses(ledger, approval(key_approvals_to_add=keys), IDLE_KEY)
    carry_out(ledger, approval(key_approvals_to_add=(master,)))
    assert find(ledger) is None
