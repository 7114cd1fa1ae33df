from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.housekeeping import return_delegations
from ledgerd.protocol.operations.virtual import ReturnVestingDelegation
from ledgerd.protocol.types.assets import shares
from ledgerd.state.objects.money.vesting import VESTING_DELEGATION_EXPIRATIONS, VestingDelegationExpiration
from tests.chain.ledgers import ALICE, NOW, create_account, run

LedgerAt = Callable[[int], Ledger]


@pytest.mark.parametrize(("hardfork", "energy"), [(9, 10_000), (10, 10_000 - 1_566 - 568)])
def test_lent_shares_return_since_hardfork_10_without_energy(ledger_at: LedgerAt, hardfork: int, energy: int) -> None:
    ledger = ledger_at(hardfork)
    alice = create_account(ledger, ALICE, shares=1_000, delegated_vesting_shares=300, last_vote_time=NOW)
    for amount, expiration in ((100, NOW), (50, NOW - 1), (130, NOW - 2)):
        ledger.store.create(VESTING_DELEGATION_EXPIRATIONS, VestingDelegationExpiration(0, ALICE, amount, expiration))

    assert run(ledger, return_delegations) == [
        ReturnVestingDelegation(ALICE, shares(130)),
        ReturnVestingDelegation(ALICE, shares(50)),
    ]

    assert alice.delegated_vesting_shares == 120
    # 130 of 830 shares, then 50 of 880, each rounded down
    assert alice.energy == energy
    assert [each.vesting_shares for each in ledger.store.scan(VESTING_DELEGATION_EXPIRATIONS)] == [100]
