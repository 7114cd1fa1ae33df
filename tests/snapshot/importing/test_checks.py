"""What 4.1.0 checks of a snapshot before and after it takes it in (spec 11, sections 8.3 and 8.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.checks import excess_warning
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.markets.disputes import DISPUTE_BY_MARKET
from ledgerd.state.objects.markets.oracles import ORACLE_BY_OWNER
from tests.snapshot.recorded import market_document, packed, small_state

WITH_MARKETS = ("open-pm", 700)
RESIDUAL = 42_045

State = dict[str, Any]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, STORED_TABLES) as store:
        yield store


def take(store: Store, state: State, residual: int = RESIDUAL, **header: Any) -> None:
    counts = {name: len(rows) for name, rows in state.items() if isinstance(rows, list)}
    file = packed(state, **{"object_counts": counts, **header})
    load(store, Snapshot.from_bytes(file), TESTNET, residual)


@pytest.fixture
def state() -> State:
    return dict(market_document(*WITH_MARKETS)["state"])


@pytest.mark.parametrize("residual", [0, RESIDUAL - 1, -RESIDUAL])
def test_tokens_that_do_not_add_up_are_refused_with_what_makes_the_sum(
    store: Store, state: State, residual: int
) -> None:
    with pytest.raises(SnapshotError) as caught:
        take(store, state, residual)
    text = str(caught.value)
    assert "the tokens in the snapshot are 42045 more than its supply" in text
    assert "bets 15581711" in text
    assert "snapshot-pm-legacy-residual = 42045" in text


def test_a_residual_is_exact(store: Store) -> None:
    with pytest.raises(SnapshotError, match="are 0 more than its supply"):
        take(store, small_state(), residual=1)


def test_tokens_of_the_sum_that_is_told_are_taken(store: Store, state: State) -> None:
    take(store, state)
    assert store.get(DYNAMIC_GLOBAL_PROPERTIES, 0).head_block_number == 700


def test_shares_that_do_not_add_up_are_refused(store: Store, state: State) -> None:
    state["account"][3]["vesting_shares"] = "1.000000 SHARES"
    with pytest.raises(SnapshotError, match="shares together, and not"):
        take(store, state)


def test_an_authority_of_nobody_is_refused(store: Store, state: State) -> None:
    state["account_authority"][3]["account"] = "nobody"
    with pytest.raises(SnapshotError, match="an authority of nobody"):
        take(store, state)


def _without_head(state: State) -> None:
    del state["fork_db_head_block"]


def _without_agents(state: State) -> None:
    del state["agent_permission"]


def _with_odd_keys(state: State) -> None:
    state["key_history"] = {}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_without_head, "Post-HF15 snapshot lacks signed head block anchor"),
        (_without_agents, "Post-HF15 snapshot lacks agent_permission section"),
        (_with_odd_keys, "key_history"),
    ],
)
def test_what_hardfork_15_needs_must_be_there(
    store: Store, state: State, change: Callable[[State], None], told: str
) -> None:
    change(state)
    with pytest.raises(SnapshotError, match=told):
        take(store, state)


@pytest.mark.parametrize("name", ["agent_permission", "key_history"])
def test_what_hardfork_15_needs_is_counted(store: Store, state: State, name: str) -> None:
    with pytest.raises(SnapshotError, match=f"Post-HF15 snapshot {name} count mismatch"):
        take(
            store, state, object_counts={"agent_permission": 1, "key_history": 1, name: 100_000} | _others(state, name)
        )


def _others(state: State, name: str) -> dict[str, int]:
    return {each: len(state[each]) for each in ("agent_permission", "key_history") if each != name}


def test_every_section_is_counted(store: Store, state: State) -> None:
    counts = {name: len(rows) for name, rows in state.items() if isinstance(rows, list)}
    counts["invite"] += 1
    with pytest.raises(SnapshotError, match="records of invite, and it has"):
        take(store, state, object_counts=counts)


@pytest.mark.parametrize("field", ["snapshot_block_time", "snapshot_block_id", "snapshot_block_num"])
def test_the_header_is_of_the_head_block(store: Store, state: State, field: str) -> None:
    other = {
        "snapshot_block_time": "2027-03-01T00:00:00",
        "snapshot_block_id": "000002bc" + "11" * 16,
        "snapshot_block_num": 701,
    }
    header: dict[str, Any] = {field: other[field]}
    with pytest.raises(SnapshotError, match="embedded head block does not match header anchor"):
        take(store, state, **header)


def test_flags_are_down_until_the_next_block(store: Store, state: State) -> None:
    assert state["dynamic_global_property"][0]["pm_active_markets_seeded"] is True
    take(store, state)
    globals_ = store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)
    assert not globals_.pm_active_markets_seeded
    assert not globals_.pm_oracle_gauges_seeded
    assert not globals_.pm_frozen_counters_seeded
    assert not globals_.pm_frozen_counters_reseeded_v1


def test_what_the_reference_drops_is_kept(store: Store, state: State) -> None:
    oracle = state["pm_oracle"][3]
    oracle["banned_by"] = "alice"
    take(store, state)
    kept = store.at(ORACLE_BY_OWNER, oracle["owner"])
    assert (kept.banned_by, kept.active_markets) == ("alice", oracle["active_markets"])


def test_ballots_are_counted(store: Store, state: State) -> None:
    dispute = state["pm_dispute"][0]
    votes = sum(vote["market"] == dispute["market"] for vote in state["pm_dispute_vote"])
    dispute["ballots"] = votes + 5
    take(store, state)
    assert store.at(DISPUTE_BY_MARKET, dispute["market"]).ballots == votes


def test_records_of_4_0_may_lack_what_came_later(store: Store, state: State) -> None:
    later = {"pm_market": ["open_commits", "deferred_claim_count"], "pm_bet": ["entry_liquidity", "outcome_index"]}
    for name, fields in later.items():
        for record in state[name]:
            for field in fields:
                del record[field]
    del state["pm_dispute_vote"]
    take(store, state)


def test_records_lack_nothing_else(store: Store, state: State) -> None:
    del state["pm_market"][0]["oracle"]
    with pytest.raises(SnapshotError, match=r"a record of pm_market .* oracle"):
        take(store, state)


def test_no_file_is_written_that_nobody_takes(store: Store, state: State) -> None:
    take(store, state)
    with pytest.raises(SnapshotError, match="no node takes a snapshot without it"):
        export(store, BytesIO(), Occasion(TESTNET.chain_id, 0))


def test_whoever_writes_a_file_that_does_not_add_up_is_told() -> None:
    assert "unless snapshot-pm-legacy-residual is 637 there" in excess_warning(637)
