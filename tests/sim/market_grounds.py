"""What the clients of a world find: players with tokens, rules under which little time is long, and old markets.

A dispute may be filed for an hour at least, and a world lasts for minutes. So here markets are opened and resolved one
after the other, and then nobody makes a block for most of an hour: in every world the first of them become due.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets.bets import PmCancelBet, PmPlaceBet
from ledgerd.protocol.operations.markets.liquidity import PmLazyDeposit
from ledgerd.protocol.operations.markets.markets import (
    BINARY,
    BY_ACCOUNT,
    BY_COMMITTEE,
    MULTI,
    PmCreateMarket,
    PmResolveMarket,
)
from ledgerd.protocol.operations.markets.oracles import PmOracleAcceptMarket, PmOracleRegister
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.validators import VersionedChainPropertiesUpdate
from ledgerd.protocol.types.assets import Asset, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.chain.networks import OTHERS, VIZ, Network

SECONDS_A_BLOCK = 3
ORACLES, RESOLVER = OTHERS[:2], OTHERS[2]
WEALTH = tokens(2_000_000_000)
INSURANCE, LIQUIDITY, DEPOSIT = tokens(20_000_000), tokens(10_000_000), tokens(100_000_000)

GRACE = 3_600
"""For how long one may dispute: the least that validators may vote for."""
MARKETS = 10
BETWEEN = 30
"""Seconds from the result of one old market to that of the next."""
RESOLVED = 7
"""So many of the old markets are resolved; the oracles forget the others."""
BETTING = 30
ROUND = len(OTHERS) + 1
LONGEST_SILENCE = 390
"""Slots: a few more without a block would be an emergency."""
RECOVERY = 128
"""Blocks after which nobody sees any more that slots were missed."""

PROPERTIES = {
    "validator_miss_penalty_percent": 0,
    "pm_oracle_accept_window_sec": 30,
    "pm_dispute_grace_sec": GRACE,
    "pm_dispute_fee": tokens(10_000),
    "pm_oracle_dispute_response_sec": 30,
    "pm_dispute_vote_period_sec": 30,
    "pm_dispute_auto_close_sec": 63,
    "pm_dispute_vote_min_vesting": tokens(1_000),
    "pm_batch_epoch_blocks": 4,
    "pm_reveal_window_blocks": 8,
    "pm_closed_market_retention_sec": 45,
    "pm_processing_cap_per_block": 3,
    "pm_settle_rows_per_block": 100,
    "pm_lazy_lock_sec": 30,
    "pm_leverage_fund_percent": 100,
    "pm_leverage_max_per_position_bp": 1_000,
    "pm_leverage_max_position_ratio_percent": 50,
    "pm_leverage_expiration_buffer_sec": 3,
    "pm_leverage_funding_rate_ppm_per_day": 1_000_000,
}
"""Windows of seconds where the rules have hours, and a budget so small that sections of a block are cut."""


def open_market(
    creator: AccountName,
    oracle: AccountName,
    now: int,
    outcomes: int = 2,
    liquidity: Asset = LIQUIDITY,
    **fields: Any,
) -> PmCreateMarket:
    """A market of two outcomes or of more, which takes bets for a while."""
    is_binary = outcomes == 2
    market = PmCreateMarket(
        creator=creator,
        oracle=oracle,
        market_type=BINARY if is_binary else MULTI,
        outcomes=tuple(f"outcome {place}" for place in range(outcomes)),
        url="https://example.test/market",
        oracle_fee_percent=100,
        oracle_fixed_fee=tokens(100),
        creator_fee_percent=100,
        liquidity_fee_percent=200,
        liquidity=liquidity,
        lmsr_b=0 if is_binary else depth_of_liquidity(liquidity.amount, outcomes),
        betting_expiration=now + BETTING,
        result_expiration=now + BETTING + GRACE,
        time_penalty_type=1,
        time_penalty_value=10_000,
        penalty_curve_type=0,
        allow_early_resolution=True,
        allow_cancellation=True,
        allow_batch=True,
        allow_instant_bet=True,
        endogeneity_tier=2,
        dispute_mode=BY_COMMITTEE,
        dispute_resolver=NO_NAME,
        dispute_penalty_percent=1_000,
        metadata="",
        extensions=(),
    )
    return replace(market, **fields)


def place_bet(account: AccountName, market: int, place: int, amount: int, *, is_binary: bool) -> PmPlaceBet:
    """At once, for whatever it gets."""
    side, outcome = (place, -1) if is_binary else (-1, place)
    return PmPlaceBet(account, market, side, outcome, tokens(amount), 0, 0, ())


def prepare_markets(network: Network) -> None:
    """Go on from seven validators to where the first old market is about to be settled."""
    _agree_on_properties(network)
    _found(network)
    first = network.chain.head_time
    _bet_on_old_markets(network)
    while network.chain.head_time <= first + BETTING + SECONDS_A_BLOCK:
        network.produce()
    for number in range(RESOLVED):
        _as(network, oracle := ORACLES[number % 2], PmResolveMarket(oracle, number, number % 2, "", "", ()))
        network.produce(BETWEEN // SECONDS_A_BLOCK)
    due = first + BETTING + GRACE
    while (slots := (due - network.chain.head_time) // SECONDS_A_BLOCK - RECOVERY) > 0:
        network.produce(skipped=min(slots, LONGEST_SILENCE) - 1)
    network.produce(RECOVERY)


def _as(network: Network, name: AccountName, *operations: Operation) -> None:
    network.send(*operations, key=network.keys[name])


def _agree_on_properties(network: Network) -> None:
    wanted = replace(network.chain.parts.ledger.median, **PROPERTIES)
    for name in (VIZ, *OTHERS):
        _as(network, name, VersionedChainPropertiesUpdate(name, wanted))
    network.produce(2 * ROUND)
    assert network.chain.parts.ledger.median == wanted


def _found(network: Network) -> None:
    """Players get rich, two of them become oracles, and the pool has something to lend."""
    network.send(*(Transfer(VIZ, name, WEALTH, "") for name in OTHERS))
    network.produce()
    for name in ORACLES:
        register = PmOracleRegister(name, INSURANCE, 50, tokens(100), "", NO_NAME, NO_NAME, True, ())
        _as(network, name, register)
    _as(network, OTHERS[3], PmLazyDeposit(OTHERS[3], DEPOSIT, ()))
    network.produce()


def _bet_on_old_markets(network: Network) -> None:
    """Every other one is of three outcomes; those with a resolver are the ones that their oracles are asked about.

    Whoever bet first on the winning side of the others leaves when others have bet on it, and has a claim on it.
    """
    now = network.chain.head_time
    for number in range(MARKETS):
        creator = OTHERS[3 + number % 3]
        judged: dict[str, Any] = {"dispute_mode": BY_ACCOUNT, "dispute_resolver": RESOLVER} if number % 4 == 0 else {}
        due: dict[str, Any] = (
            {} if number < RESOLVED else {"result_expiration": now + 2 * BETTING + BETWEEN * (number - RESOLVED)}
        )
        _as(network, creator, open_market(creator, ORACLES[number % 2], now, 2 + number % 2, **judged, **due))
    network.produce()
    for number in range(0, MARKETS, 4):
        oracle = ORACLES[0]
        accept = PmOracleAcceptMarket(
            oracle, number, accept=True, oracle_fee_percent=100, oracle_fixed_fee=tokens(100), extensions=()
        )
        _as(network, oracle, accept)
    network.produce()
    for number in range(MARKETS):
        for place, name in enumerate(OTHERS):
            _as(
                network,
                name,
                place_bet(name, number, int(place % 3 == 2), 50_000 * (place + 1), is_binary=number % 2 == 0),
            )
    network.produce()
    for number in range(0, MARKETS, 2):
        _as(network, OTHERS[0], PmCancelBet(OTHERS[0], number * len(OTHERS), 0, ()))
    network.produce()
