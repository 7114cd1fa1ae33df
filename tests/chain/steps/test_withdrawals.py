from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.payments import withdraw_vesting
from ledgerd.protocol.constants import NULL_ACCOUNT
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.virtual import FillVestingWithdraw
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.money.vesting import WITHDRAW_VESTING_ROUTES, WithdrawVestingRoute
from ledgerd.state.objects.validators import VALIDATOR_VOTES, ValidatorVote
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, create_account, create_validator, run

DAY = 86_400
BIG, EVE = AccountName("big"), AccountName("eve")


@pytest.fixture(autouse=True)
def others(ledger: Ledger) -> None:
    """Enough shares of others that the price stays a thousand for a token."""
    create_account(ledger, BIG, shares=1_000_000_000)
    create_account(ledger, BOB)
    create_account(ledger, CAROL)


def withdrawing(ledger: Ledger, name: AccountName = ALICE, **fields: Any) -> Account:
    """A withdrawal of 10,000 shares in parts of 3,000, the first of which is due now."""
    withdrawal = {"vesting_withdraw_rate": 3_000, "to_withdraw": 10_000, "next_vesting_withdrawal": NOW}
    return create_account(ledger, name, **({"shares": 12_000, "last_vote_time": NOW} | withdrawal | fields))


def route(ledger: Ledger, account: Account, to: AccountName, percent: int, *, auto_vest: bool) -> None:
    ledger.store.create(
        WITHDRAW_VESTING_ROUTES, WithdrawVestingRoute(0, account.id, ledger.account(to).id, percent, auto_vest)
    )


def paid(to: AccountName, withdrawn: int, deposited: int, account: AccountName = ALICE) -> Operation:
    return FillVestingWithdraw(account, to, shares(withdrawn), tokens(deposited))


def vested(to: AccountName, amount: int) -> Operation:
    return FillVestingWithdraw(ALICE, to, shares(amount), shares(amount))


def test_a_part_that_is_due_becomes_tokens(ledger: Ledger) -> None:
    alice = withdrawing(ledger)

    assert run(ledger, withdraw_vesting) == [paid(ALICE, 3_000, 3)]

    assert (alice.vesting_shares, alice.balance, alice.withdrawn) == (9_000, 3, 3_000)
    assert (alice.vesting_withdraw_rate, alice.next_vesting_withdrawal) == (3_000, NOW + DAY)
    assert (alice.energy, alice.last_vote_time) == (7_500, NOW)
    globals_ = ledger.globals
    assert (globals_.total_vesting_shares, globals_.total_vesting_fund) == (1_000_009_000, 1_000_009)


def test_a_part_waits_for_its_time(ledger: Ledger) -> None:
    alice = withdrawing(ledger, next_vesting_withdrawal=NOW + 1)

    assert run(ledger, withdraw_vesting) == []

    assert alice.withdrawn == 0


def test_the_last_part_is_what_is_left_over(ledger: Ledger) -> None:
    alice = withdrawing(ledger, withdrawn=9_000)

    assert run(ledger, withdraw_vesting) == [paid(ALICE, 1_000, 1)]

    assert (alice.vesting_withdraw_rate, alice.next_vesting_withdrawal) == (0, LATEST)
    assert (alice.to_withdraw, alice.withdrawn) == (10_000, 10_000)


def test_a_withdrawal_ends_with_the_last_share(ledger: Ledger) -> None:
    alice = withdrawing(ledger, shares=2_500)

    assert run(ledger, withdraw_vesting) == [paid(ALICE, 2_500, 2)]

    assert (alice.vesting_shares, alice.balance) == (0, 2)
    assert (alice.vesting_withdraw_rate, alice.next_vesting_withdrawal) == (0, LATEST)


def test_a_last_part_of_zero_is_paid_without_a_virtual_operation(ledger: Ledger) -> None:
    """A sum that its rate divides, when less than a rate is left, leaves no rest."""
    alice = withdrawing(ledger, to_withdraw=9_000, withdrawn=7_000, energy=0, last_vote_time=NOW - 44)

    assert run(ledger, withdraw_vesting) == []

    assert (alice.withdrawn, alice.next_vesting_withdrawal) == (7_000, NOW + DAY)
    assert (alice.energy, alice.last_vote_time) == (1, NOW)


def test_a_debt_of_shares_pays_nothing(ledger: Ledger) -> None:
    alice = withdrawing(ledger, shares=-5)

    assert run(ledger, withdraw_vesting) == []

    assert (alice.vesting_shares, alice.balance, alice.withdrawn) == (-5, 0, 0)


def test_routes_are_served_first_those_to_shares_before_those_to_tokens(ledger: Ledger) -> None:
    alice = withdrawing(ledger)
    route(ledger, alice, BOB, 4_000, auto_vest=False)
    route(ledger, alice, CAROL, 3_333, auto_vest=True)

    assert run(ledger, withdraw_vesting) == [vested(CAROL, 999), paid(BOB, 1_200, 1), paid(ALICE, 3_000, 0)]

    bob, carol = ledger.account(BOB), ledger.account(CAROL)
    assert (bob.balance, bob.vesting_shares) == (1, 0)
    assert (carol.balance, carol.vesting_shares) == (0, 999)
    assert (alice.balance, alice.vesting_shares, alice.withdrawn) == (0, 9_000, 3_000)
    # The shares that go on as shares keep their energy: 2,001 of 12,000 leave.
    assert alice.energy == 10_000 - 1_667
    globals_ = ledger.globals
    assert (globals_.total_vesting_shares, globals_.total_vesting_fund) == (1_000_009_999, 1_000_011)


def test_a_route_to_the_first_account_is_not_seen(ledger: Ledger) -> None:
    alice = withdrawing(ledger)
    route(ledger, alice, NULL_ACCOUNT, 10_000, auto_vest=False)

    assert run(ledger, withdraw_vesting) == [paid(ALICE, 3_000, 3)]


def test_a_route_for_too_little_is_passed_over(ledger: Ledger) -> None:
    alice = withdrawing(ledger)
    for name, auto_vest in ((BOB, True), (CAROL, False)):
        route(ledger, alice, name, 3, auto_vest=auto_vest)

    assert run(ledger, withdraw_vesting) == [paid(ALICE, 3_000, 3)]


def test_a_route_to_oneself_gives_the_shares_back(ledger: Ledger) -> None:
    alice = withdrawing(ledger)
    route(ledger, alice, ALICE, 5_000, auto_vest=True)

    assert run(ledger, withdraw_vesting) == [vested(ALICE, 1_500), paid(ALICE, 3_000, 1)]

    assert (alice.vesting_shares, alice.balance) == (10_500, 1)


def test_votes_follow_the_shares(ledger: Ledger) -> None:
    alice = withdrawing(ledger, validators_voted_for=1, validators_vote_weight=12_000)
    validator = create_validator(ledger, BOB, votes=12_000, counted_votes=12_000)
    ledger.store.create(VALIDATOR_VOTES, ValidatorVote(0, validator.id, alice.id))
    change(ledger, ledger.account(CAROL), proxy=ALICE)
    route(ledger, alice, CAROL, 5_000, auto_vest=True)

    run(ledger, withdraw_vesting)

    assert (validator.votes, alice.validators_vote_weight) == (10_500, 10_500)
    assert alice.proxied_vsf_votes == (1_500, 0, 0, 0)


def test_who_is_due_twice_is_paid_again_where_the_next_one_comes_before(ledger: Ledger) -> None:
    withdrawing(ledger, next_vesting_withdrawal=NOW - DAY)
    withdrawing(ledger, EVE, next_vesting_withdrawal=NOW - DAY + 1)

    operations = run(ledger, withdraw_vesting)

    assert operations == [paid(ALICE, 3_000, 3), paid(EVE, 3_000, 3, EVE), paid(ALICE, 3_000, 3)]


def test_who_is_due_twice_before_the_next_one_waits_for_another_block(ledger: Ledger) -> None:
    """The next one is chosen before a part is paid, and the walk does not turn back."""
    alice = withdrawing(ledger, next_vesting_withdrawal=NOW - 3 * DAY)
    eve = withdrawing(ledger, EVE, next_vesting_withdrawal=NOW - DAY)

    assert run(ledger, withdraw_vesting) == [paid(ALICE, 3_000, 3), paid(EVE, 3_000, 3, EVE)]

    assert (alice.next_vesting_withdrawal, eve.next_vesting_withdrawal) == (NOW - 2 * DAY, NOW)
