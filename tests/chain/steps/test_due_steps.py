"""Steps that are called when something is due: not before, and not too late."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.block_context import BlockContext, when_due
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.applying import STEPS
from ledgerd.chain.steps.housekeeping import expire_escrows
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_AUCTION_START, ACCOUNTS
from ledgerd.state.objects.globals import AWARD_SHARES_EXPIRE, AwardSharesExpire
from ledgerd.state.objects.money.committee import COMMITTEE_REQUESTS, REJECTED, CommitteeRequest
from ledgerd.state.objects.money.escrow import ESCROW_BY_DEADLINE, ESCROWS, Escrow
from ledgerd.state.objects.money.invites import INVITES, Invite
from ledgerd.state.objects.money.vesting import VESTING_DELEGATION_EXPIRATIONS, VestingDelegationExpiration
from ledgerd.state.tables.tables import Entity, Table
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, create_account, pass_time, run

PLACES = {step.__name__: step for step in STEPS}
IN_A_DAY = NOW + 86_400
USED = 1


def escrow(deadline: int, number: int = 1) -> Escrow:
    return Escrow(0, number, ALICE, BOB, CAROL, deadline, deadline + 1, 70, 30)


ENDS: dict[str, tuple[Table[Any], Entity, int]] = {
    "expire_escrows": (ESCROWS, escrow(IN_A_DAY), IN_A_DAY),
    "expire_award_shares": (AWARD_SHARES_EXPIRE, AwardSharesExpire(0, IN_A_DAY, 5), IN_A_DAY),
    "return_delegations": (
        VESTING_DELEGATION_EXPIRATIONS,
        VestingDelegationExpiration(0, ALICE, 5, IN_A_DAY),
        IN_A_DAY + 1,
    ),
    "clear_used_invites": (
        INVITES,
        Invite(claim_time=NOW, status=USED),
        NOW + MAINNET.clear_used_invite_delay + 1,
    ),
    "clear_closed_committee_requests": (
        COMMITTEE_REQUESTS,
        CommitteeRequest(conclusion_time=NOW, status=REJECTED),
        NOW + MAINNET.clear_closed_committee_request_delay + 1,
    ),
}
"""By the name of a step, something that it removes, and when."""


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_by_time_ends_in_its_second(ledger: Ledger, name: str) -> None:
    table, entity, end = ENDS[name]
    create_account(ledger, ALICE, shares=100)
    run(ledger, PLACES[name])
    ended = ledger.store.create(table, entity.__copy__()).id

    for moment in (NOW, end - 1, end - 1):
        pass_time(ledger, moment - ledger.now)
        run(ledger, PLACES[name])
        assert ledger.store.find(table, ended) is not None
    pass_time(ledger, 1)
    run(ledger, PLACES[name])

    assert ledger.store.find(table, ended) is None


def test_a_step_is_called_when_something_is_due_and_once_more_behind_it(ledger: Ledger) -> None:
    called: list[int] = []

    def step(ledger: Ledger, context: BlockContext) -> None:
        called.append(ledger.now - NOW)
        expire_escrows(ledger, context)

    create_account(ledger, ALICE)
    timed = when_due(step, ESCROW_BY_DEADLINE, False)
    ledger.store.create(ESCROWS, escrow(NOW + 10))
    for moment in range(20):
        run(ledger, timed)
        if moment == 5:
            ledger.store.create(ESCROWS, escrow(NOW + 8, number=2))
        pass_time(ledger, 1)

    assert called == [0, 8, 9, 10, 11]
    assert list(ledger.store.scan(ESCROWS)) == []


def test_what_an_undo_brings_back_is_due_again(ledger: Ledger) -> None:
    step = PLACES["end_auctions"]
    account = create_account(ledger, ALICE, account_on_auction=True, account_on_sale_start_time=NOW + 5)
    run(ledger, step)
    due = ledger.due_times[ACCOUNT_BY_AUCTION_START]
    assert due.at == NOW + 5

    with ledger.store.begin():
        with ledger.editing(account):
            account.account_on_auction = False
        pass_time(ledger, 5)
        run(ledger, step)
        assert due.at > NOW + 5
    assert ledger.store.get(ACCOUNTS, account.id).account_on_auction
    assert due.at == NOW + 5
