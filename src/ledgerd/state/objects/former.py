"""What former versions stored otherwise (spec 07, sections 8 and 11)."""

from __future__ import annotations

from functools import partial

from ledgerd.protocol.properties import ChainPropertiesHf13
from ledgerd.state.former import Change, Former, added_fields, added_within
from ledgerd.state.objects.accounts import ACCOUNT_BY_AUCTION_START, ACCOUNTS, Account
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty
from ledgerd.state.objects.validators import VALIDATOR_SCHEDULES, VALIDATORS, Validator, ValidatorSchedule

UNTIL_HARDFORK_13 = Former(
    "a version that knows the hardforks up to 13",
    "c03dc464b8fad06c01653feb243ed5ad48a7be2a338d173a74b12a95e1331ac2",
    {
        DYNAMIC_GLOBAL_PROPERTIES: Change(
            partial(
                added_fields,
                DynamicGlobalProperty,
                "pm_frozen_counters_seeded",
                "pm_frozen_counters_reseeded_v1",
                "pm_active_markets_seeded",
                "pm_oracle_gauges_seeded",
                "pm_batch_settle_cursor",
                "pm_batch_settle_bet_cursor",
            )
        ),
        ACCOUNTS: Change(
            partial(added_fields, Account, "pm_liquidity_committed", "pm_bets_staked", "pm_leverage_collateral"),
            {ACCOUNT_BY_AUCTION_START.title: "Account.by_account_on_auction"},
        ),
        VALIDATORS: Change(partial(added_within, Validator, "props", ChainPropertiesHf13)),
        VALIDATOR_SCHEDULES: Change(partial(added_within, ValidatorSchedule, "median_props", ChainPropertiesHf13)),
    },
)
"""Its auctions were in one order of equals, whenever they begin: those with one start keep the order they had there."""

FORMERS = (UNTIL_HARDFORK_13,)
