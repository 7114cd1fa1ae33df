from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.globals import count_bandwidth_candidates
from tests.chain.ledgers import NOW, change, create_account, run

FEW = 500_000_000
ACTIVE_TIME = 2_592_000
HOURLY_HEAD = 2_400


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    change(ledger, ledger.globals, head_block_number=HOURLY_HEAD, bandwidth_reserve_candidates=77)
    return ledger


def test_active_accounts_of_few_shares_are_counted_and_one_more(ledger: Ledger) -> None:
    for number, (shares, age) in enumerate(
        ((FEW - 1, 0), (FEW - 1, ACTIVE_TIME), (FEW - 1, ACTIVE_TIME + 1), (FEW, 0), (0, 5))
    ):
        create_account(ledger, f"account{number}", shares=shares, last_bandwidth_update=NOW - age)
    create_account(ledger, "lender", shares=FEW, delegated_vesting_shares=1, last_bandwidth_update=NOW)
    create_account(ledger, "borrower", received_vesting_shares=FEW, last_bandwidth_update=NOW)

    assert run(ledger, count_bandwidth_candidates) == []

    assert ledger.globals.bandwidth_reserve_candidates == 1 + 4


def test_on_a_young_chain_accounts_count_that_never_did_anything(ledger: Ledger) -> None:
    change(ledger, ledger.globals, time=ACTIVE_TIME)

    run(ledger, count_bandwidth_candidates)

    assert ledger.globals.bandwidth_reserve_candidates == 1 + 5


def test_they_are_counted_once_an_hour(ledger: Ledger) -> None:
    change(ledger, ledger.globals, head_block_number=HOURLY_HEAD + 1)

    run(ledger, count_bandwidth_candidates)

    assert ledger.globals.bandwidth_reserve_candidates == 77
