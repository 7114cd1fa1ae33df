"""Counters that an import counts again come out as recorded (spec 09, section 4.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.liquidation import ends_due
from ledgerd.chain.rules.markets.seeds import (
    COUNTERS,
    GAUGES,
    FrozenTally,
    record_leverage_ends,
    recount_accounts,
    recount_oracles,
)
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.filling import fill
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.markets.leverage import ACTIVE, LEVERAGE_ENDS, PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.markets import PM_MARKETS, RESOLVED, PmMarket
from ledgerd.state.objects.markets.oracles import PM_ORACLES
from tests.chain.imported import imported_state
from tests.chain.ledgers import change
from tests.chain.recorded_chains import light_state
from tests.snapshot.recorded import packed

Counts = dict[tuple[str, str], int]


def counts(store: Store) -> Counts:
    fields = (*GAUGES, "active_markets")
    found: Counts = {}
    for account in store.scan(ACCOUNTS):
        found.update({(account.name, field): getattr(account, field) for field in COUNTERS})
    for oracle in store.scan(PM_ORACLES):
        found.update({(oracle.owner, field): getattr(oracle, field) for field in fields})
    return found


CAN_COME_OUT_HIGHER = ("active_markets", "markets_in_dispute_window")


def own_markets(ledger: Ledger) -> list[PmMarket]:
    """Markets whose creator is their oracle."""
    return [market for market in ledger.store.scan(PM_MARKETS) if market.creator == market.oracle]


def tally_of_rows(store: Store) -> FrozenTally:
    tally = FrozenTally()
    for table in STORED_TABLES:
        for row in store.scan(table):
            tally.add(row)
    return tally


def spoil(ledger: Ledger) -> None:
    """What is counted now tells nothing of what was."""
    for account in list(ledger.store.scan(ACCOUNTS)):
        change(ledger, account, pm_bets_staked=account.pm_bets_staked + 1, pm_liquidity_committed=0)
    for oracle in list(ledger.store.scan(PM_ORACLES)):
        change(ledger, oracle, active_markets=99, markets_in_dispute_window=99, disputes_awaiting_decision=99)
    ledger.store.commit()


@pytest.mark.parametrize(
    ("name", "height"),
    [("open-pm", 700), ("open-pm", 1200), ("open-pm", 2027), ("open-pm2", 463), ("open-big", 1350), ("open-big", 207)],
)
def test_what_rows_come_to_is_what_was_counted_along_the_way(name: str, height: int, tmp_path: Path) -> None:
    with imported_state(name, height, tmp_path) as ledger:
        recorded = counts(ledger.store)
        spoil(ledger)
        assert counts(ledger.store) != recorded

        recount_accounts(ledger, tally_of_rows(ledger.store))
        recount_oracles(ledger)

        found = counts(ledger.store)
        differing = {key for key in recorded if found[key] != recorded[key]}
        # Who was the oracle of markets of its own before it registered was never counted for these.
        assert differing <= {key for key in recorded if key[1] in CAN_COME_OUT_HIGHER}
        assert differing <= {(market.oracle, field) for market in own_markets(ledger) for field in CAN_COME_OUT_HIGHER}
        assert all(found[key] > recorded[key] for key in differing)


def test_a_file_that_has_counted_its_oracles_is_believed_and_the_first_block_still_to_come(tmp_path: Path) -> None:
    state = light_state("open-pm", 1200)
    with Store.open(tmp_path, STORED_TABLES) as store:
        fill(store, Snapshot.from_bytes(packed(state)))
        recorded = counts(store)
    with Store.open(tmp_path / "loaded", STORED_TABLES) as store:
        load(store, Snapshot.from_bytes(packed(state)), TESTNET, 42_045)

        assert counts(store) == recorded
        head = store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)
        assert not head.pm_frozen_counters_seeded
        assert not head.pm_frozen_counters_reseeded_v1
        assert not head.pm_active_markets_seeded
        assert not head.pm_oracle_gauges_seeded


def test_a_file_that_has_counted_nothing_is_counted_when_it_is_loaded(tmp_path: Path) -> None:
    state = light_state("open-big", 1350)
    with Store.open(tmp_path, STORED_TABLES) as store:
        fill(store, Snapshot.from_bytes(packed(state)))
        recorded = counts(store)
    for account in state["account"]:
        account.update(pm_bets_staked="0.000 VIZ", pm_liquidity_committed="9.000 VIZ")
    for oracle in state["pm_oracle"]:
        oracle.update(active_markets=0, markets_in_dispute_window=0)
    state["dynamic_global_property"][0].update(pm_active_markets_seeded=False)
    with Store.open(tmp_path / "loaded", STORED_TABLES) as store:
        load(store, Snapshot.from_bytes(packed(state)), TESTNET)

        assert counts(store) == recorded


def test_markets_with_positions_have_their_ends(tmp_path: Path) -> None:
    with imported_state("open-pm", 1200, tmp_path) as ledger:
        record_leverage_ends(ledger)

        standing = {row.market for row in ledger.store.scan(PM_LEVERAGE_POSITIONS) if row.status == ACTIVE}
        assert standing
        assert {end.market for end in ledger.store.scan(LEVERAGE_ENDS)} == standing
        over = {
            market.id
            for market in (ledger.store.get(PM_MARKETS, market_id) for market_id in standing)
            if market.status >= RESOLVED or 0 != market.betting_expiration <= ledger.now
        }
        assert {end.market for end in ends_due(ledger)} == over
