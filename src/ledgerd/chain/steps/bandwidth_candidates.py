"""How many accounts share the reserve of bandwidth: those of few shares that were active lately (spec 02, 4.13)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import BANDWIDTH_RESERVE_ACTIVE_TIME, BLOCKS_PER_HOUR
from ledgerd.state.objects.accounts import ACCOUNT_BY_LAST_BANDWIDTH_UPDATE


def count_bandwidth_candidates(ledger: Ledger, _progress: BlockContext) -> None:
    """Count them once an hour.

    What counts as few is voted on, and time passes for all of them, so no count could be kept up with each change.
    The walk is over the accounts of the last thirty days alone, not over all there are.
    """
    if ledger.head_number % BLOCKS_PER_HOUR != 0:
        return
    since = max(ledger.now - BANDWIDTH_RESERVE_ACTIVE_TIME, 0)
    few = ledger.median.bandwidth_reserve_below.amount
    active = ledger.store.scan(ACCOUNT_BY_LAST_BANDWIDTH_UPDATE, lower=(since,))
    globals_ = ledger.globals
    candidates = 1 + sum(account.effective_shares < few for account in active)
    with ledger.editing(globals_):
        globals_.bandwidth_reserve_candidates = candidates
