from __future__ import annotations

import pytest

from ledgerd.chain.ledger.block_context import Step
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.housekeeping import (
    claim_committee_account,
    clear_anonymous_account,
    clear_null_account,
)
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT, COMMITTEE_ACCOUNT, NULL_ACCOUNT
from ledgerd.protocol.types.names import AccountName
from tests.chain.ledgers import ALICE, change, create_account, run

ALL: list[tuple[AccountName, Step]] = [
    (NULL_ACCOUNT, clear_null_account),
    (ANONYMOUS_ACCOUNT, clear_anonymous_account),
    (COMMITTEE_ACCOUNT, claim_committee_account),
]


@pytest.mark.parametrize(("name", "step"), ALL)
@pytest.mark.parametrize(("balance", "shares"), [(0, 0), (5, 0), (0, 1_999), (5, 1_999), (-5, 0), (-5, 1_000)])
def test_special_accounts_lose_all_they_receive(
    ledger: Ledger, name: AccountName, step: Step, balance: int, shares: int
) -> None:
    create_account(ledger, ALICE, shares=10_000)
    change(ledger, ledger.account(name), balance=balance, vesting_shares=shares)
    worth = shares // 1_000
    taken = max(balance, 0) + worth

    assert run(ledger, step) == []

    account, globals_ = ledger.account(name), ledger.globals
    assert (account.balance, account.vesting_shares) == (min(balance, 0), 0)
    assert (globals_.total_vesting_shares, globals_.total_vesting_fund) == (10_000 - shares, 10 - worth)
    to_committee = taken if name == COMMITTEE_ACCOUNT else 0
    assert (globals_.committee_fund, globals_.current_supply) == (to_committee, 10 - taken + to_committee)
