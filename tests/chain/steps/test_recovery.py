from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.housekeeping import (
    change_recovery_accounts,
    expire_recovery_requests,
    forget_master_authorities,
)
from ledgerd.state.objects.accounts.recovery import (
    ACCOUNT_RECOVERY_REQUESTS,
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    MASTER_AUTHORITY_HISTORY,
    AccountRecoveryRequest,
    ChangeRecoveryAccountRequest,
    MasterAuthorityHistory,
)
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, create_account, run

MONTH = 2_592_000


def test_requests_end_when_their_time_has_come(ledger: Ledger) -> None:
    for name, expires in ((ALICE, NOW + 1), (BOB, NOW), (CAROL, NOW - 1)):
        ledger.store.create(ACCOUNT_RECOVERY_REQUESTS, AccountRecoveryRequest(account_to_recover=name, expires=expires))

    assert run(ledger, expire_recovery_requests) == []

    assert [each.account_to_recover for each in ledger.store.scan(ACCOUNT_RECOVERY_REQUESTS)] == [ALICE]


def test_master_authorities_are_forgotten_up_to_the_first_that_is_young_enough(ledger: Ledger) -> None:
    for age in (MONTH + 2, MONTH + 1, MONTH, MONTH + 1):
        ledger.store.create(MASTER_AUTHORITY_HISTORY, MasterAuthorityHistory(account=ALICE, last_valid_time=NOW - age))

    run(ledger, forget_master_authorities)

    assert [each.id for each in ledger.store.scan(MASTER_AUTHORITY_HISTORY)] == [2, 3]


def test_recovery_accounts_change_when_their_time_has_come(ledger: Ledger) -> None:
    names = (ALICE, BOB, CAROL)
    for name, effective_on in zip(names, (NOW + 1, NOW, NOW - 1), strict=True):
        create_account(ledger, name, recovery_account=ALICE)
        ledger.store.create(
            CHANGE_RECOVERY_ACCOUNT_REQUESTS, ChangeRecoveryAccountRequest(0, name, CAROL, effective_on)
        )

    run(ledger, change_recovery_accounts)

    assert [ledger.account(name).recovery_account for name in names] == [ALICE, CAROL, CAROL]
    assert [each.id for each in ledger.store.scan(CHANGE_RECOVERY_ACCOUNT_REQUESTS)] == [0]
