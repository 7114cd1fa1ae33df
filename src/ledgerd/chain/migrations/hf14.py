"""Hardfork 14: the lazy pool begins, empty (spec 07, section 1)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.state.objects.lazy_pool import PM_LAZY_POOLS, PmLazyPool


def begin_lazy_pool(ledger: Ledger) -> None:
    """The only one that there will be."""
    ledger.store.create(PM_LAZY_POOLS, PmLazyPool())
