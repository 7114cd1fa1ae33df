"""The reward fund: what a claim of reward shares is worth, and taking it out (spec 02, section 4.10)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import DivideByZero, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.assets import MAX_AMOUNT, fits_int64
from ledgerd.state.objects.globals import AWARD_SHARES_EXPIRE, AwardSharesExpire

FITS_AN_AMOUNT = "payout_u256 <= u256(uint64_t(std::numeric_limits<int64_t>::max())): "


def award_worth(ledger: Ledger, reward_shares: int) -> int:
    """What an award of so many reward shares would pay: its part of the fund, its own shares counted in."""
    require(reward_shares > 0, "rshares > 0: ")
    globals_ = ledger.globals
    worth = globals_.total_reward_fund * reward_shares // (globals_.total_reward_shares + reward_shares)
    require(worth <= MAX_AMOUNT, FITS_AN_AMOUNT)
    return worth


def claim_award(ledger: Ledger, reward_shares: int) -> int:
    """Pay an award out of the fund; its shares count against later awards until they expire."""
    worth = award_worth(ledger, reward_shares)
    globals_ = ledger.globals
    ledger.remember(globals_)
    globals_.total_reward_fund = fits_int64(globals_.total_reward_fund - worth)
    globals_.total_reward_shares = uint128(globals_.total_reward_shares + reward_shares)
    expires = (ledger.now + ledger.network.energy_regeneration_seconds) & 0xFFFFFFFF
    ledger.store.create(AWARD_SHARES_EXPIRE, AwardSharesExpire(expires=expires, rshares=reward_shares))
    return worth


def claim_content_reward(ledger: Ledger, reward_shares: int) -> int:
    """Pay a content out of the fund: its part of all reward shares."""
    require(reward_shares > 0, "rshares > 0: ")
    globals_ = ledger.globals
    if globals_.total_reward_shares == 0:
        raise DivideByZero("")
    worth = globals_.total_reward_fund * reward_shares // globals_.total_reward_shares
    require(worth <= MAX_AMOUNT, FITS_AN_AMOUNT)
    ledger.remember(globals_)
    globals_.total_reward_fund = fits_int64(globals_.total_reward_fund - worth)
    return worth
