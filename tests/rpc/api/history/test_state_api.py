"""What is asked of past blocks is bounded, and what is not known is refused with the first block of which it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest

from ledgerd.chain.log.histories import History, HistoryView
from ledgerd.projections.accounts.balances import Amounts
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.history.state_api import MOST_NAMES
from tests.rpc.api.past_answers import answer, dispatcher_of


class Told(History):
    """A history of balances from a block on, in which each account has its number of letters, and the block."""

    def __init__(self, first: int | None, head: int = 900) -> None:
        self.balances_begin = first
        self.head_number = head

    @contextmanager
    def reading(self) -> Iterator[HistoryView]:
        yield cast("HistoryView", self)

    def balances_at(self, account: AccountName, block: int) -> Amounts:
        return (len(account), 0, block, 0, 0, 0, 0, 1)


def test_balances_come_in_the_order_of_the_names() -> None:
    dispatcher = dispatcher_of(Told(5))
    found = answer(dispatcher, "get_balances_at", 5, ["viz", "al", "viz"])
    assert [each["account"] for each in found] == ["viz", "al", "viz"]
    assert found[1] == {
        "account": "al",
        "balance": "0.002 VIZ",
        "reserved_balance": "0.000 VIZ",
        "vesting_shares": "0.000005 SHARES",
        "delegated_vesting_shares": "0.000000 SHARES",
        "received_vesting_shares": "0.000000 SHARES",
        "pm_bets_staked": "0.000 VIZ",
        "pm_liquidity_committed": "0.000 VIZ",
        "pm_leverage_collateral": "0.001 VIZ",
    }
    assert len(answer(dispatcher, "get_balances_at", 900, ["viz"])) == 1
    assert answer(dispatcher, "get_balances_at", 900, []) == []


@pytest.mark.parametrize(
    ("first", "block", "said"),
    [
        (5, 4, "block 4: balances are known from block 5 on"),
        (5, 0, "block 0: balances are known from block 5 on"),
        (5, 901, "block 901 is not there yet: the last one that is recorded is block 900"),
        (0, 4294967295, "block 4294967295 is not there yet"),
        (None, 7, "balances of past blocks are not kept here"),
    ],
)
def test_a_block_that_is_not_known_is_refused(first: int | None, block: int, said: str) -> None:
    assert said in answer(dispatcher_of(Told(first)), "get_balances_at", block, ["viz"])


def test_no_more_than_a_hundred_accounts_are_looked_for() -> None:
    dispatcher = dispatcher_of(Told(0))
    assert len(answer(dispatcher, "get_balances_at", 7, ["viz"] * MOST_NAMES)) == MOST_NAMES
    refused = answer(dispatcher, "get_balances_at", 7, ["viz"] * (MOST_NAMES + 1))
    assert "at most 100 accounts can be asked for at once" in refused
