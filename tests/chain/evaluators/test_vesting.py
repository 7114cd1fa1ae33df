from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import NULL_ACCOUNT
from ledgerd.protocol.operations.money.transfers import SetWithdrawVestingRoute, TransferToVesting, WithdrawVesting
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.money.vesting import ROUTE_BY_ACCOUNTS, WITHDRAW_VESTING_ROUTES
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, carry_out, change, create_account, refuses, set_median

LedgerAt = Callable[[int], Ledger]

DAY = 86_400


@pytest.fixture
def alice(ledger: Ledger) -> Account:
    create_account(ledger, BOB)
    return create_account(ledger, ALICE, balance=5_000, shares=2_800_000)


# -- transfer_to_vesting


@pytest.mark.parametrize(("recipient", "owner"), [(NO_NAME, ALICE), (ALICE, ALICE), (BOB, BOB)])
def test_tokens_become_shares(ledger: Ledger, alice: Account, recipient: AccountName, owner: AccountName) -> None:
    before = ledger.account(owner).vesting_shares

    assert carry_out(ledger, TransferToVesting(ALICE, recipient, tokens(5_000))) == []

    assert ledger.account(owner).vesting_shares == before + 5_000_000
    assert alice.balance == 0
    assert (ledger.globals.total_vesting_fund, ledger.globals.total_vesting_shares) == (7_800, 7_800_000)


def test_more_tokens_than_there_are_cannot_become_shares(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        TransferToVesting(alice.name, BOB, tokens(5_001)),
        "_db.get_balance(from_account, TOKEN_SYMBOL) >= o.amount: Account does not have sufficient TOKEN for transfer.",
    )


# -- withdraw_vesting


def withdraw(amount: int) -> WithdrawVesting:
    return WithdrawVesting(ALICE, shares(amount))


def withdrawal_of(account: Account) -> tuple[int, int, int, int]:
    return (
        account.vesting_withdraw_rate,
        account.next_vesting_withdrawal,
        account.to_withdraw,
        account.withdrawn,
    )


def test_a_withdrawal_takes_a_part_of_all_that_is_available_at_a_time(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, withdrawn=5)

    assert carry_out(ledger, withdraw(28)) == []

    assert withdrawal_of(alice) == (100_000, NOW + DAY, 28, 0)


def test_validators_vote_on_the_number_of_parts(ledger: Ledger, alice: Account) -> None:
    set_median(ledger, withdraw_intervals=7)

    carry_out(ledger, withdraw(2_800_000))

    assert alice.vesting_withdraw_rate == 400_000


@pytest.mark.parametrize(("hardfork", "rate"), [(4, 10_000), (5, 100_000), (8, 100_000), (9, 200_000)])
def test_the_rate_before_hardforks(ledger_at: LedgerAt, hardfork: int, rate: int) -> None:
    ledger = ledger_at(hardfork)
    set_median(ledger, withdraw_intervals=14)
    alice = create_account(ledger, ALICE, shares=2_800_000)

    carry_out(ledger, withdraw(280_000))

    assert alice.vesting_withdraw_rate == rate


def test_a_rate_is_never_zero(ledger: Ledger) -> None:
    alice = create_account(ledger, ALICE, shares=27)

    carry_out(ledger, withdraw(27))

    assert alice.vesting_withdraw_rate == 1


def test_no_shares_stop_a_withdrawal(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, withdraw(28))

    carry_out(ledger, withdraw(0))

    assert withdrawal_of(alice) == (0, LATEST, 0, 0)


def test_a_withdrawal_can_be_stopped_that_does_not_run(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, withdraw(0))

    assert withdrawal_of(alice) == (0, LATEST, 0, 0)


def test_what_is_delegated_cannot_be_withdrawn(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, delegated_vesting_shares=800_000)

    refuses(
        ledger,
        withdraw(2_000_001),
        "account.available_vesting_shares() >= o.vesting_shares: Account does not have sufficient SHARES for withdraw.",
    )
    carry_out(ledger, withdraw(2_000_000))


def test_a_debt_of_shares_cannot_be_withdrawn(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, vesting_shares=-1)

    refuses(
        ledger,
        withdraw(0),
        "account.vesting_shares.amount >= 0: Account does not have sufficient SHARES for withdraw.",
    )


def test_a_withdrawal_that_runs_cannot_begin_again_at_the_same_rate(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, withdraw(28))

    refuses(
        ledger,
        withdraw(56),
        "account.vesting_withdraw_rate != new_vesting_withdraw_rate: "
        "This operation would not change the vesting withdraw rate.",
    )
    change(ledger, alice, vesting_shares=2_800_028)
    carry_out(ledger, withdraw(56))


# -- set_withdraw_vesting_route


def route(percent: int, to: str = BOB, *, auto_vest: bool = False) -> SetWithdrawVestingRoute:
    return SetWithdrawVestingRoute(ALICE, AccountName(to), percent, auto_vest)


def routes_of(ledger: Ledger, account: Account) -> list[tuple[int, int, bool]]:
    found = ledger.store.scan(ROUTE_BY_ACCOUNTS, lower=(account.id,), upper=(account.id,))
    return [(each.to_account, each.percent, each.auto_vest) for each in found]


def test_a_route_is_laid_changed_and_removed(ledger: Ledger, alice: Account) -> None:
    bob = ledger.account(BOB)

    assert carry_out(ledger, route(10_000, auto_vest=True)) == []
    assert (routes_of(ledger, alice), alice.withdraw_routes) == ([(bob.id, 10_000, True)], 1)

    carry_out(ledger, route(1))
    assert (routes_of(ledger, alice), alice.withdraw_routes) == ([(bob.id, 1, False)], 1)

    carry_out(ledger, route(0))
    assert (routes_of(ledger, alice), alice.withdraw_routes) == ([], 0)


def test_a_route_for_nothing_is_refused(ledger: Ledger, alice: Account) -> None:
    refuses(ledger, route(0, alice.name), "o.percent != 0: Cannot create a 0% destination.")


def test_there_are_ten_routes_at_most(ledger: Ledger, alice: Account) -> None:
    for number in range(11):
        create_account(ledger, f"to{number}")
    for number in range(10):
        carry_out(ledger, route(1, f"to{number}"))

    refuses(
        ledger,
        route(1, "to10"),
        "from_account.withdraw_routes < CHAIN_MAX_WITHDRAW_ROUTES: Account already has the maximum number of routes.",
    )
    assert alice.withdraw_routes == 10


def test_routes_share_a_hundred_percent(ledger: Ledger, alice: Account) -> None:
    create_account(ledger, CAROL)
    carry_out(ledger, route(9_999))

    refuses(
        ledger,
        route(2, CAROL),
        "total_percent <= CHAIN_100_PERCENT: More than 100% of vesting withdrawals allocated to destinations.",
    )
    carry_out(ledger, route(1, CAROL))
    assert alice.withdraw_routes == 2


def test_a_route_to_the_first_account_does_not_count(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, route(10_000, NULL_ACCOUNT))

    carry_out(ledger, route(10_000))

    assert [percent for _, percent, _ in routes_of(ledger, alice)] == [10_000, 10_000]


def test_both_ends_of_a_route_exist(ledger: Ledger) -> None:
    refuses(ledger, route(1), "unknown key: ")
    create_account(ledger, ALICE)
    refuses(ledger, route(1), "unknown key: ")
    assert ledger.store.first(WITHDRAW_VESTING_ROUTES) is None
