from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.transactions import expire_proposals
from ledgerd.protocol.operations.accounts.proposals import ProposalDelete
from ledgerd.state.objects.accounts.proposals import PROPOSALS, REQUIRED_APPROVALS
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, change, create_account, pass_time, run
from tests.chain.proposing import DAY, TITLE, active, find, pays, proposal, stored


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE, balance=5)
    create_account(ledger, BOB, balance=100)
    return ledger


def test_a_proposal_lives_until_its_time(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays()))
    pass_time(ledger, DAY - 1)

    assert run(ledger, expire_proposals) == []
    assert find(ledger) is not None

    pass_time(ledger, 1)
    assert run(ledger, expire_proposals) == []
    assert find(ledger) is None
    assert ledger.store.first(REQUIRED_APPROVALS) is None


def test_a_proposal_under_review_is_carried_out_at_its_end(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays(BOB, 10), pays(BOB, 20), review_period_time=NOW + 9))
    carry_out(ledger, active(BOB))
    pass_time(ledger, DAY)

    assert run(ledger, expire_proposals) == [pays(BOB, 10), pays(BOB, 20)]

    assert ledger.account(ALICE).balance == 35
    assert find(ledger) is None
    applied = ledger.operations
    assert [(each.transaction_in_block, each.virtual_operation) for each in applied] == [(65_535, 1), (65_535, 2)]


def test_what_fails_at_the_end_is_undone_and_forgotten(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays(BOB, 60), pays(BOB, 40), review_period_time=NOW + 9))
    carry_out(ledger, active(BOB))
    change(ledger, ledger.account(BOB), balance=99)
    pass_time(ledger, DAY)

    assert run(ledger, expire_proposals) == []

    assert (ledger.account(BOB).balance, ledger.account(ALICE).balance) == (99, 5)
    assert find(ledger) is None


def test_those_that_end_first_come_first_and_of_equals_the_older(ledger: Ledger) -> None:
    review = NOW + 9
    late = proposal(pays(BOB, 3), title="c", expiration_time=NOW + DAY + 1, review_period_time=review)
    for each in (late, proposal(pays(BOB, 1), title="b", review_period_time=review)):
        carry_out(ledger, each)
    carry_out(ledger, proposal(pays(BOB, 2), title="a", review_period_time=review))
    for title in "abc":
        change(ledger, stored(ledger, title), available_active_approvals=(BOB,))
    pass_time(ledger, DAY + 1)

    assert run(ledger, expire_proposals) == [pays(BOB, 1), pays(BOB, 2), pays(BOB, 3)]


def test_a_proposal_may_do_away_with_the_next_one(ledger: Ledger) -> None:
    carry_out(ledger, proposal(pays(BOB, 1), title="second", expiration_time=NOW + DAY))
    delete = ProposalDelete(ALICE, "second", BOB, ())
    carry_out(ledger, proposal(delete, expiration_time=NOW + DAY - 1, review_period_time=NOW + 9))
    carry_out(ledger, active(BOB))
    pass_time(ledger, DAY)

    assert run(ledger, expire_proposals) == [delete]
    assert ledger.store.first(PROPOSALS) is None


def test_a_proposal_may_do_away_with_itself(ledger: Ledger) -> None:
    """Undefined in the reference (spec 02, open question 4); here it is gone."""
    delete = ProposalDelete(ALICE, TITLE, BOB, ())
    carry_out(ledger, proposal(pays(BOB, 1)))
    carry_out(ledger, proposal(delete, title="that deletes the other"))
    carry_out(ledger, ProposalDelete(ALICE, TITLE, BOB, ()))
    other = stored(ledger, "that deletes the other")
    change(ledger, other, title=TITLE, available_active_approvals=(BOB,))
    pass_time(ledger, DAY)

    assert run(ledger, expire_proposals) == [delete]
    assert ledger.store.first(PROPOSALS) is None
