"""The books of markets agree in every state of the reference, and an error of a single unit is found in each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.offline.audit import tally_of
from ledgerd.chain.offline.market_books import markets_agree
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.filling import fill
from ledgerd.state import Store, Table
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.markets.bets import ACTIVE, PM_BETS
from ledgerd.state.objects.markets.commitments import PM_COMMITS
from ledgerd.state.objects.markets.disputes import PM_DISPUTES
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_DEPOSITS, PM_LAZY_POOLS
from ledgerd.state.objects.markets.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.markets.markets import PAID, PM_MARKETS, PM_OUTCOMES
from ledgerd.state.objects.markets.oracles import PM_ORACLES
from ledgerd.state.tables.tables import Entity
from tests.chain.recorded_chains import MARKET_STATES
from tests.snapshot.recorded import market_document, packed

RECORDED = [(name, height) for name in ("open-pm", "open-big") for height in MARKET_STATES[name] if height > 14]


def filled(folder: Path, name: str, height: int) -> Store:
    """A store with the records of a state as they are."""
    store = Store.open(folder, STORED_TABLES)
    fill(store, Snapshot.from_bytes(packed(market_document(name, height)["state"])))
    store.commit()
    return store


@pytest.mark.parametrize(("name", "height"), RECORDED)
def test_the_books_of_recorded_states_agree(tmp_path: Path, name: str, height: int) -> None:
    with filled(tmp_path, name, height) as store:
        assert list(markets_agree(store)) == []


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with filled(tmp_path_factory.mktemp("books"), "open-pm", 60) as store:
        yield store


def of(store: Store, table: Table[Any], **wanted: object) -> Entity:
    """The last object with these values, of a market that is not paid."""
    unpaid = {market.id for market in store.scan(PM_MARKETS) if market.status >= 0 and market.payout_status != PAID}
    for entity in store.scan(table, reverse=True):
        market = entity.id if table is PM_MARKETS else getattr(entity, "market", None)
        if (market is None or market in unpaid) and all(getattr(entity, key) == value for key, value in wanted.items()):
            found: Entity = entity
            return found
    raise AssertionError(f"{table} has none with {wanted}")


FAULTS: tuple[tuple[Table[Any], str, dict[str, object], str], ...] = (
    (ACCOUNTS, "pm_liquidity_committed", {}, "the liquidity of"),
    (ACCOUNTS, "pm_bets_staked", {}, "the bets of"),
    (ACCOUNTS, "pm_leverage_collateral", {}, "the collateral of"),
    (PM_BETS, "amount", {"status": ACTIVE}, "the bets of market"),
    (PM_BETS, "weight", {"status": ACTIVE, "side": -1}, "the tokens of outcome"),
    (PM_MARKETS, "bets_sum", {}, "the bets of market"),
    (PM_MARKETS, "a_bets_sum", {"market_type": 0}, "the bets on A of market"),
    (PM_MARKETS, "b_bets_sum", {"market_type": 0}, "the bets on B of market"),
    (PM_MARKETS, "liquidity_sum", {}, "the liquidity of market"),
    (PM_MARKETS, "open_commits", {}, "the open commits of market"),
    (PM_MARKETS, "deferred_claim_count", {}, "the deferred claims of market"),
    (PM_OUTCOMES, "bets_sum", {}, "the bets on outcome"),
    (PM_LIQUIDITY, "amount", {"status": 0}, "the liquidity of market"),
    (PM_DISPUTES, "ballots", {}, "the ballots on market"),
    (PM_LAZY_POOLS, "pending_withdrawals", {}, "the withdrawals from the lazy pool"),
    (PM_LAZY_POOLS, "allocated_balance", {}, "what the lazy pool has in markets"),
    (PM_LAZY_POOLS, "leverage_fund_used", {}, "what the lazy pool has lent"),
    (PM_LAZY_DEPOSITS, "shares", {}, "the shares of the lazy pool"),
)


@pytest.mark.parametrize(("table", "field", "wanted", "told"), FAULTS, ids=lambda each: getattr(each, "title", None))
def test_one_unit_too_much_is_found(
    store: Store, table: Table[Any], field: str, wanted: dict[str, object], told: str
) -> None:
    if table is PM_OUTCOMES:
        lmsr = max(market.id for market in store.scan(PM_MARKETS) if market.market_type and not market.payout_status)
        wanted = {"market": lmsr}
    with store.begin():
        entity = of(store, table, **wanted)
        with store.editing(entity):
            setattr(entity, field, getattr(entity, field) + 1)
        assert any(problem.startswith(told) for problem in markets_agree(store))
    assert list(markets_agree(store)) == []


def has_owner(entity: Entity) -> bool:
    """What the pool provides is counted at the pool."""
    return not hasattr(entity, "provider") or entity.provider != ""


HOLDING: tuple[tuple[Table[Any], str, dict[str, object]], ...] = (
    (PM_BETS, "amount", {"status": ACTIVE}),
    (PM_LIQUIDITY, "amount", {"status": 0}),
    (PM_LAZY_POOLS, "free_balance", {}),
    (PM_MARKETS, "forfeit_pool", {}),
    (PM_ORACLES, "insurance", {}),
    (PM_LEVERAGE_POSITIONS, "loan", {"status": 0}),
    (PM_LEVERAGE_POSITIONS, "collateral", {"status": 0}),
    (PM_COMMITS, "escrow_amount", {"status": 0}),
    (PM_DISPUTES, "dispute_fee", {"status": 0}),
)


@pytest.mark.parametrize(("table", "field", "wanted"), HOLDING)
def test_a_token_too_much_anywhere_is_found(
    tmp_path: Path, table: Table[Any], field: str, wanted: dict[str, object]
) -> None:
    height = 700 if table in (PM_COMMITS, PM_ORACLES) else 60
    with filled(tmp_path, "open-pm", height) as other:
        before = tally_of(other).excess
        entity = next(
            each
            for each in other.scan(table)
            if all(getattr(each, key) == value for key, value in wanted.items()) and has_owner(each)
        )
        with other.editing(entity):
            setattr(entity, field, getattr(entity, field) + 1)
        assert tally_of(other).excess == before + 1
