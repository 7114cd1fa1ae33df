from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.housekeeping import expire_award_shares
from ledgerd.state.objects.globals import AWARD_SHARES_EXPIRE, AwardSharesExpire
from tests.chain.ledgers import NOW, change, run


def test_the_shares_of_an_award_count_until_they_expire(ledger: Ledger) -> None:
    change(ledger, ledger.globals, total_reward_shares=1_000)
    for expires, rshares in ((NOW + 1, 1), (NOW, 20), (NOW - 5, 300)):
        ledger.store.create(AWARD_SHARES_EXPIRE, AwardSharesExpire(expires=expires, rshares=rshares))

    assert run(ledger, expire_award_shares) == []

    assert ledger.globals.total_reward_shares == 680
    assert [each.rshares for each in ledger.store.scan(AWARD_SHARES_EXPIRE)] == [1]


def test_shares_that_were_never_counted_wrap_around(ledger: Ledger) -> None:
    ledger.store.create(AWARD_SHARES_EXPIRE, AwardSharesExpire(expires=NOW, rshares=1))

    run(ledger, expire_award_shares)

    assert ledger.globals.total_reward_shares == 2**128 - 1
