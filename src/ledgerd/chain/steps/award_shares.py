"""Awards leave the competition for the reward fund after a while (spec 03, section 15.19)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint128
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.state.objects.awards import AWARD_SHARES_BY_EXPIRATION


def expire_award_shares(ledger: Ledger, _progress: BlockContext) -> None:
    """The shares of an award count for as long as its energy takes to come back."""
    globals_ = ledger.globals
    for expiring in ledger.store.scan(AWARD_SHARES_BY_EXPIRATION, upper=(ledger.now,)):
        with ledger.editing(globals_):
            globals_.total_reward_shares = uint128(globals_.total_reward_shares - expiring.rshares)
        ledger.store.remove(expiring)
