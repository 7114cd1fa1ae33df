"""Hardfork 14 makes the lazy pool."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hardforks import begin_lazy_pool
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS, PmLazyPool


def test_there_is_one_lazy_pool_with_nothing_in_it(ledger: Ledger) -> None:
    begin_lazy_pool(ledger)

    assert list(ledger.store.scan(PM_LAZY_POOLS)) == [PmLazyPool()]
