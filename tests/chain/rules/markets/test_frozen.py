from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.market import COLLATERAL, LIQUIDITY, STAKES, Frozen, adjust_frozen, move_balance
from ledgerd.protocol.errors import Overflow
from ledgerd.protocol.types.names import AccountName
from tests.chain.ledgers import ALICE, change, create_account


def counters(ledger: Ledger) -> list[int]:
    alice = ledger.account(ALICE)
    return [alice.pm_liquidity_committed, alice.pm_bets_staked, alice.pm_leverage_collateral]


@pytest.mark.parametrize(("counter", "place"), [(LIQUIDITY, 0), (STAKES, 1), (COLLATERAL, 2)])
def test_each_counter_stands_alone(ledger: Ledger, counter: Frozen, place: int) -> None:
    create_account(ledger, ALICE)

    adjust_frozen(ledger, ALICE, counter, 5)

    assert counters(ledger) == [5 if each == place else 0 for each in range(3)]


@pytest.mark.parametrize(("change_", "left"), [(-4, 1), (-5, 0), (-6, 0), (0, 5)])
def test_a_counter_stops_at_zero(ledger: Ledger, change_: int, left: int) -> None:
    change(ledger, create_account(ledger, ALICE), pm_bets_staked=5)

    adjust_frozen(ledger, ALICE, STAKES, change_)

    assert counters(ledger)[1] == left


def test_an_account_that_is_not_there_is_passed_over(ledger: Ledger) -> None:
    adjust_frozen(ledger, AccountName("nobody"), STAKES, 5)


def test_a_counter_has_the_width_of_amounts(ledger: Ledger) -> None:
    alice = create_account(ledger, ALICE, balance=7)
    change(ledger, alice, pm_bets_staked=2**63 - 1)

    with pytest.raises(Overflow):
        move_balance(ledger, alice, -1, STAKES, 1)

    assert (alice.balance, alice.pm_bets_staked) == (7, 2**63 - 1)
