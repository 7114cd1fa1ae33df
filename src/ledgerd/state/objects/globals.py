"""The global properties of the chain: its head, its funds, its load (spec 02, section 3.14; spec 07, section 11.2).

Beside them its hardforks (spec 02, section 3.13), and the shares of awards in the reward fund (spec 02, section 3.15).
"""

from __future__ import annotations

from ledgerd.codec.types.numbers import Int16, ShareAmount, UInt8, UInt16, UInt32, UInt64, UInt128
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.assets import Price, Shares, Tokens, shares, tokens, worth_of
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.protocol.types.versions import HardforkVersion
from ledgerd.state.tables.keys import TIME
from ledgerd.state.tables.tables import Entity, Table, ordered

FIRST_PRICE = 1_000_000, 1_000
"""So many shares cost so many tokens while there are none."""


class DynamicGlobalProperty(Entity):
    """There is one.

    The flags say what of the markets was counted once, for display; the cursors, where the batches of bets go on.
    """

    head_block_number: UInt32 = 0
    head_block_id: BlockId = NO_BLOCK
    genesis_time: Time = 0
    time: Time = 0
    current_validator: AccountName = NO_NAME
    committee_fund: Tokens = 0
    committee_requests: UInt32 = 0
    current_supply: Tokens = 0
    total_vesting_fund: Tokens = 0
    total_vesting_shares: Shares = 0
    total_reward_fund: Tokens = 0
    total_reward_shares: UInt128 = 0
    average_block_size: UInt32 = 0
    maximum_block_size: UInt32 = 0
    current_aslot: UInt64 = 0
    recent_slots_filled: UInt128 = 0
    participation_count: UInt8 = 0
    last_irreversible_block_num: UInt32 = 0
    last_irreversible_block_id: BlockId = NO_BLOCK
    last_irreversible_block_ref_num: UInt16 = 0
    last_irreversible_block_ref_prefix: UInt32 = 0
    max_virtual_bandwidth: UInt64 = 0
    current_reserve_ratio: UInt64 = 1
    vote_regeneration_per_day: UInt32 = 1
    bandwidth_reserve_candidates: UInt32 = 1
    inflation_calc_block_num: UInt32 = 0
    inflation_validator_percent: Int16 = 0
    inflation_ratio: Int16 = 0
    emergency_consensus_active: bool = False
    emergency_consensus_start_block: UInt32 = 0
    pm_frozen_counters_seeded: bool = False
    pm_frozen_counters_reseeded_v1: bool = False
    pm_active_markets_seeded: bool = False
    pm_oracle_gauges_seeded: bool = False
    pm_batch_settle_cursor: UInt64 = 0
    pm_batch_settle_bet_cursor: UInt64 = 0

    @property
    def share_price(self) -> Price:
        """What all shares are worth together (spec 02, section 1.4)."""
        vested, fund = self._worths
        return Price(shares(vested), tokens(fund))

    @property
    def _worths(self) -> tuple[int, int]:
        vested, fund = self.total_vesting_shares, self.total_vesting_fund
        return (vested, fund) if vested and fund else FIRST_PRICE

    def shares_for(self, amount: int) -> int:
        vested, fund = self._worths
        require(fund > 0, "b.quote.amount.value > 0: ")
        return worth_of(amount, fund, vested)

    def tokens_for(self, amount: int) -> int:
        vested, fund = self._worths
        require(vested > 0, "b.base.amount.value > 0: ")
        return worth_of(amount, vested, fund)


DYNAMIC_GLOBAL_PROPERTIES = Table(DynamicGlobalProperty, number=0)


class HardforkProperty(Entity):
    """There is one."""

    processed_hardforks: tuple[Time, ...] = ()
    last_hardfork: UInt32 = 0
    current_hardfork_version: HardforkVersion = 0
    next_hardfork: HardforkVersion = 0
    next_hardfork_time: Time = 0

    def has(self, number: int) -> bool:
        return len(self.processed_hardforks) > number


HARDFORK_PROPERTIES = Table(HardforkProperty, number=11)


class AwardSharesExpire(Entity):
    """Shares of an award that leave the sum of all again."""

    expires: Time = 0
    rshares: ShareAmount = 0


AWARD_SHARES_EXPIRE = Table(AwardSharesExpire, number=27)
AWARD_SHARES_BY_EXPIRATION = ordered(AWARD_SHARES_EXPIRE, "by_expiration", lambda shares: (shares.expires,), (TIME,))
