"""All about a market at once, as a site shows it to one of its visitors (spec 11, section 6)."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import Int64
from ledgerd.projections.tables.market_records import META_BY_MARKET, PmMarketMeta
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.rpc.api.prediction_market.declared import MOST_OF_A_PAGE, PREDICTION_MARKET_API
from ledgerd.rpc.api.prediction_market.oracles import OracleRecord, oracle_record
from ledgerd.rpc.api.prediction_market.shared.cards import MarketCard, card_text, require_market
from ledgerd.rpc.api.prediction_market.stakes import Position, WeightSums, outcomes_of, positions_of, weight_sums_of
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.call.counts import from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets.bets import BET_BY_MARKET_ACCOUNT
from ledgerd.state.objects.markets.leverage import LEVERAGE_BY_MARKET_STATUS, PmLeveragePosition
from ledgerd.state.objects.markets.liquidity import LIQUIDITY_BY_MARKET, PmLiquidity
from ledgerd.state.objects.markets.markets import PmOutcome
from ledgerd.state.objects.markets.oracles import ORACLE_BY_OWNER
from ledgerd.state.tables.tables import E, Index


class FullMarket(msgspec.Struct, frozen=True):
    """A market with all that belongs to it, and what an account has in it."""

    market: MarketCard
    outcomes: tuple[PmOutcome, ...]
    weight_sums: WeightSums
    oracle: OracleRecord | None
    meta: PmMarketMeta | None
    my_positions: tuple[Position, ...]
    my_leverage_positions: tuple[PmLeveragePosition, ...]
    my_liquidity: tuple[PmLiquidity, ...]


FullMarketText = Annotated[str, Printed(FullMarket)]


@PREDICTION_MARKET_API.method(args=from_to(1, 2), examples=[[0], [0, "alice"]])
def get_market_full(view: ApiView, market: Int64, account: AccountName = NO_NAME) -> FullMarketText:
    """A market with its outcomes, sums, oracle and metadata, and what an account has in it."""
    found = require_market(view, market)
    oracle = view.state.lookup(ORACLE_BY_OWNER, found.oracle)
    meta = view.projections.lookup(META_BY_MARKET, market)
    bets = view.state.under(BET_BY_MARKET_ACCOUNT, market, account) if account else ()

    def own(index: Index[E], owner: str) -> tuple[E, ...]:
        rows = view.state.under(index, market) if account else ()
        return tuple(islice((each for each in rows if getattr(each, owner) == account), MOST_OF_A_PAGE))

    parts: list[tuple[str, Any, object]] = [
        ("outcomes", tuple[PmOutcome, ...], outcomes_of(view, market)),
        ("weight_sums", WeightSums, weight_sums_of(view, found)),
        ("oracle", OracleRecord, None if oracle is None else oracle_record(view, oracle)),
        ("meta", PmMarketMeta, meta),
        ("my_positions", tuple[Position, ...], positions_of(view, islice(bets, MOST_OF_A_PAGE))),
        ("my_leverage_positions", tuple[PmLeveragePosition, ...], own(LEVERAGE_BY_MARKET_STATUS, "account")),
        ("my_liquidity", tuple[PmLiquidity, ...], own(LIQUIDITY_BY_MARKET, "provider")),
    ]
    texts = [f'"{name}":{codec_of(kind).to_json(value)}' for name, kind, value in parts if value is not None]
    return f'{{"market":{card_text(view, market)},{",".join(texts)}}}'
