"""Work that is cut over many blocks goes on after a kill, an undo, or in a node that began with a snapshot.

A usual run begins at every other recorded height, and at each with
`EVERY_CHAIN=1 scripts/test tests/chain/steps/markets/test_cuts.py`.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.steps.markets.frame import process_markets
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.markets.markets import PAID, PM_MARKETS
from ledgerd.state.objects.transactions import REVERSIBLE_BLOCKS, ReversibleBlock
from tests.chain.ledgers import CAROL, change, run, set_median
from tests.chain.market_scenes import create_liquidity, create_oracle, market_ledger
from tests.chain.recorded_chains import (
    LIKE_THE_RECORDING,
    MARKET_STATES,
    SUMMARIES,
    difference,
    exported_state,
    light_state,
    recorded_state,
)
from tests.chain.steps.markets.market_blocks import next_block
from tests.chain.steps.markets.test_dispute_close import disputed_market
from tests.chain.steps.markets.test_refunding import bet_on, unresolved_market
from tests.chain.steps.markets.test_settling import WORKED, balances, worked_market
from tests.chain.whole_state import first_change, whole_state
from tests.recorded import recorded_blocks
from tests.snapshot.recorded import packed

NAME = "open-big"
HEIGHTS = MARKET_STATES[NAME]

ALL_DONE = 1366
"""There no settlement is under way, and a snapshot does not tell how many there were: ids begin again."""

PAIRS = [pair for pair in pairwise(HEIGHTS) if pair[0] != ALL_DONE]


def begin_at(folder: Path, height: int) -> None:
    """A data directory of a node that was given a recorded state."""
    (folder / STATE_FOLDER).mkdir()
    with Store.open(folder / STATE_FOLDER, STORED_TABLES) as store:
        load(store, Snapshot.from_bytes(packed(light_state(NAME, height))), TESTNET)
        head = ReversibleBlock(number=height, packed=recorded_blocks(NAME)[height - 1])
        store.create(REVERSIBLE_BLOCKS, head)
        store.commit()


def push(chain: Chain, to: int) -> None:
    for packed_block in recorded_blocks(NAME)[chain.head_number : to]:
        block = codec_of(Block).decode(packed_block)
        chain.push_block(block, LIKE_THE_RECORDING, commit=False).or_raise()
    chain.commit()


def assert_recorded(chain: Chain, height: int) -> None:
    ours, recorded = exported_state(chain, summaries=0), recorded_state(NAME, height)
    for state in (ours, recorded):
        del state[SUMMARIES]
        for field in [each for each in state["dynamic_global_property"][0] if "irreversible" in each]:
            del state["dynamic_global_property"][0][field]
    found = difference(ours, recorded, f"{NAME} at {height}: ")
    assert found is None, found


@pytest.mark.parametrize(("begun", "until"), PAIRS if "EVERY_CHAIN" in os.environ else PAIRS[::2])
def test_a_snapshot_at_a_cut_goes_on_to_the_next_recorded_state(begun: int, until: int, tmp_path: Path) -> None:
    begin_at(tmp_path, begun)

    with Chain.open(tmp_path, TESTNET, clock=lambda: 0.0) as chain:
        push(chain, until)
        assert_recorded(chain, until)


def test_a_node_is_opened_again_between_all_blocks_with_cuts(tmp_path: Path) -> None:
    begin_at(tmp_path, 1347)

    for height in range(1348, 1367):
        with Chain.open(tmp_path, TESTNET, clock=lambda: 0.0) as chain:
            push(chain, height)
            if height in HEIGHTS:
                assert_recorded(chain, height)


def reopened(ledger: Ledger, folder: Path) -> Ledger:
    """What a kill right after the commit leaves."""
    ledger.store.commit()
    ledger.store.close()
    return Ledger(Store.open(folder / "state", STORED_TABLES), ledger.network)


def step_twice(ledger: Ledger) -> None:
    """The step of the next block, undone once, without a trace."""
    change(ledger, ledger.globals, pm_oracle_gauges_seeded=True)
    before = whole_state(ledger.store)
    with ledger.store.begin() as session:
        run(ledger, process_markets)
        session.undo()
    changed = first_change(before, whole_state(ledger.store))
    assert changed is None, changed
    next_block(ledger)


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
def test_a_settlement_goes_on_after_a_kill_and_an_undo_at_each_cut(rows: int, tmp_path: Path) -> None:
    ledger = market_ledger(tmp_path)
    worked_market(ledger)
    set_median(ledger, pm_settle_rows_per_block=rows)

    blocks = 0
    while ledger.store.get(PM_MARKETS, 0).payout_status != PAID:
        step_twice(ledger)
        ledger = reopened(ledger, tmp_path)
        blocks += 1

    assert balances(ledger) == WORKED
    assert blocks == -(-14 // rows)
    ledger.store.close()


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_a_refund_goes_on_after_a_kill_and_an_undo_at_each_cut(rows: int, tmp_path: Path) -> None:
    ledger = market_ledger(tmp_path)
    create_oracle(ledger)
    market = unresolved_market(ledger, forfeit_pool=77)
    bet_on(ledger, market)
    create_liquidity(ledger, market, CAROL, 100_001)
    set_median(ledger, pm_settle_rows_per_block=rows)

    while ledger.store.get(PM_MARKETS, 0).payout_status != PAID:
        step_twice(ledger)
        ledger = reopened(ledger, tmp_path)

    assert [balances(ledger)[name] for name in ("alice", "bob", "carol")] == [1_010, 2_023, 4_045 + 100_001]
    ledger.store.close()


def test_a_dispute_closed_by_time_that_was_cut_is_undone_without_a_trace(tmp_path: Path) -> None:
    ledger = market_ledger(tmp_path)
    market, _ = disputed_market(ledger, forfeit_pool=77)
    bet_on(ledger, market)
    set_median(ledger, pm_settle_rows_per_block=2)

    for _ in range(3):
        step_twice(ledger)
    ledger.store.close()
