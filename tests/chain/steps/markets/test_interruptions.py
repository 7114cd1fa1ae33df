"""Whatever the budget cuts goes on the same after a crash in the next block, and in a node that begins with a snapshot.

Each scene is a piece of work of spec 09 that one block cannot do; what it comes to is worked out in the tests of its
section. Here it is done three times: without a break, with a crash at each cut, and through a snapshot at each cut.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.offline.audit import tally_of
from ledgerd.chain.steps.markets.frame import process_markets
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations import Operation
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.markets.markets import PM_MARKETS
from ledgerd.state.objects.markets.settlements import PM_SETTLEMENTS
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, create_account, run, set_median
from tests.chain.market_scenes import create_bet, create_liquidity, create_market, create_oracle, market_ledger, pool_of
from tests.chain.recorded_chains import difference
from tests.chain.steps.markets.market_blocks import next_block, resolved_market
from tests.chain.steps.markets.test_batches import queue
from tests.chain.steps.markets.test_collection import ended_market
from tests.chain.steps.markets.test_dispute_close import disputed_market as market_closed_by_time
from tests.chain.steps.markets.test_dispute_finish import FIRST_TALLY, disputed_market, vote
from tests.chain.steps.markets.test_forfeits import commit
from tests.chain.steps.markets.test_frame import wait_for
from tests.chain.steps.markets.test_refunding import bet_on, unresolved_market
from tests.chain.steps.markets.test_settling import worked_market
from tests.snapshot.test_round_trip import CHANGED_BY_AN_IMPORT

BLOCKS, MEANWHILE = 16, 5


def _settlement(ledger: Ledger) -> None:
    """Section 6.1, phases 2, 3 and 4."""
    worked_market(ledger)


def _no_contest(ledger: Ledger) -> None:
    """Section 6.1 with both pots to share out."""
    create_oracle(ledger, insurance=500)
    market = resolved_market(ledger, -1, forfeit_pool=77)
    for account, amount in ((ALICE, 1_000), (BOB, 2_001), (CAROL, 4_000)):
        create_bet(ledger, market, account, amount)


def _refund(ledger: Ledger) -> None:
    """Section 6.2, phases 11 and 12, of a result that was missed."""
    create_oracle(ledger)
    market = unresolved_market(ledger, forfeit_pool=77)
    bet_on(ledger, market)
    create_liquidity(ledger, market, CAROL, 100_001)


def _open_ended(ledger: Ledger) -> None:
    """Section 6.2: a market that takes bets while it is refunded, and has nothing to share out."""
    create_oracle(ledger)
    bet_on(ledger, unresolved_market(ledger, betting_expiration=0))


def _bet_meanwhile(ledger: Ledger) -> None:
    """Made when the refund stands at its second bet: behind it, so that it is refunded too."""
    create_bet(ledger, ledger.store.get(PM_MARKETS, 0), BOB, 500, side=1)


def _closed_by_time(ledger: Ledger) -> None:
    """The quirk of section 5.6: settled as it stands, then closed and refunded once more."""
    create_oracle(ledger, insurance=10_000)
    market, _ = market_closed_by_time(ledger, forfeit_pool=77)
    create_liquidity(ledger, market, ALICE, 100_001)
    bet_on(ledger, market)


def _committee(ledger: Ledger) -> None:
    """Section 5.7: ballots are rows, so that disputes end one a block, and each is settled behind the next."""
    create_oracle(ledger, insurance=1_000_000)
    create_account(ledger, "others", shares=102_000_000 - sum(shares for shares, _, _ in FIRST_TALLY))
    vote(ledger, FIRST_TALLY, 102_000_000)
    for place in range(3):
        market, dispute = disputed_market(ledger, dispute_penalty_percent=5_000 - 5_000 * place)
        change(ledger, dispute, ballots=0 if place else len(FIRST_TALLY))
        create_bet(ledger, market, ALICE, 10_000 + place)
        create_bet(ledger, market, BOB, 5_000, side=1)


def _collection(ledger: Ledger) -> None:
    """Section 6.5: one thing of each kind goes after the other."""
    ended_market(ledger, forfeit_pool=77)


def _epoch(ledger: Ledger) -> None:
    """Section 5.10: a pass over two markets."""
    first, second = create_market(ledger), create_market(ledger)
    for market in (first, first, first, second, second):
        queue(ledger, market, 1_000)
    change(ledger, ledger.globals, head_block_number=999)


def _forfeits(ledger: Ledger) -> None:
    """Section 5.1: one a turn."""
    create_market(ledger, open_commits=3)
    for deadline in (NOW, NOW - 2, NOW - 1):
        commit(ledger, reveal_deadline=deadline)
    set_median(ledger, pm_processing_cap_per_block=1)


def _withdrawals(ledger: Ledger) -> None:
    """Section 5.14: one payment a row."""
    wait_for(ledger, 5, 7, 9)
    pool_of(ledger, free_balance=100)


class Work(NamedTuple):
    """A scene, and how many rows a block has for it."""

    scene: Callable[[Ledger], None]
    rows: int
    phases: frozenset[int] = frozenset()
    """Those of a settlement in which it must have been cut."""
    meanwhile: Callable[[Ledger], None] | None = None
    """What somebody does between two blocks."""


WORKS = [
    *(Work(_settlement, rows) for rows in (2, 3, 6)),
    Work(_settlement, 1, frozenset({2, 3, 4})),
    *(Work(_no_contest, rows) for rows in (2, 4)),
    Work(_no_contest, 1, frozenset({2, 4})),
    *(Work(_refund, rows) for rows in (3, 5)),
    Work(_refund, 1, frozenset({11, 12})),
    Work(_open_ended, 1, frozenset({11, 12}), _bet_meanwhile),
    Work(_closed_by_time, 2, frozenset({11, 12})),
    Work(_committee, 4),
    Work(_committee, 5),
    Work(_collection, 1),
    Work(_collection, 5),
    Work(_epoch, 2),
    Work(_forfeits, 100),
    Work(_withdrawals, 1),
]


def crashed(ledger: Ledger, old: Path, new: Path) -> Ledger:
    """What is on the disk when the power fails in the middle of the next block."""
    ledger.store.commit()
    run(ledger, process_markets)
    shutil.copytree(old, new)
    ledger.store.close()
    return Ledger(Store.open(new, STORED_TABLES), ledger.network)


def through_a_snapshot(ledger: Ledger, old: Path, new: Path) -> Ledger:
    """A new node that was given the state of this one; these ledgers have more tokens than their supply says."""
    file, residual = exported(ledger)
    ledger.store.close()
    shutil.rmtree(old)
    store = Store.open(new, STORED_TABLES)
    load(store, Snapshot.from_bytes(file), MAINNET, residual)
    return Ledger(store, MAINNET)


def exported(ledger: Ledger) -> tuple[bytes, int]:
    ledger.store.commit()
    file = BytesIO()
    export(ledger.store, file, Occasion(MAINNET.chain_id, 0))
    return file.getvalue(), tally_of(ledger.store).excess


class Done(NamedTuple):
    """What a scene came to: the operations of each block, and the records that were left."""

    operations: list[list[Operation]]
    records: dict[str, Any]
    cuts: set[int]
    """The phases in which settlements stood between blocks."""


def carried_through(work: Work, folder: Path, interrupt: Callable[[Ledger, Path, Path], Ledger] | None = None) -> Done:
    """Some blocks, with an interruption after each."""
    ledger = market_ledger(folder)
    round_of_validators = (COMMITTEE_ACCOUNT,) * MAINNET.max_validators
    change(ledger, ledger.schedule, current_shuffled_validators=round_of_validators)
    set_median(ledger, pm_settle_rows_per_block=work.rows)
    work.scene(ledger)
    done: list[list[Operation]] = []
    cuts = set[int]()
    state = folder / "state"
    for number in range(BLOCKS):
        if number == MEANWHILE and work.meanwhile is not None:
            work.meanwhile(ledger)
        done.append(next_block(ledger))
        cuts |= {each.phase for each in ledger.store.scan(PM_SETTLEMENTS)}
        if interrupt is not None:
            ledger, state = interrupt(ledger, state, folder / f"{number}"), folder / f"{number}"
    records = json.loads(zlib.decompress(exported(ledger)[0]).decode("utf-8", "surrogateescape"))["state"]
    ledger.store.close()
    for field in CHANGED_BY_AN_IMPORT:
        del records["dynamic_global_property"][0][field]
    return Done(done, records, cuts)


@pytest.mark.parametrize("work", WORKS, ids=lambda work: f"{work.scene.__name__[1:]}-{work.rows}")
def test_work_goes_on_the_same_after_every_cut(work: Work, tmp_path: Path) -> None:
    whole = carried_through(work, tmp_path / "unbroken")
    assert whole.cuts >= work.phases
    for interrupt in (crashed, through_a_snapshot):
        done = carried_through(work, tmp_path / interrupt.__name__, interrupt)
        assert done.operations == whole.operations
        found = difference(done.records, whole.records, interrupt.__name__)
        assert found is None, found
        assert done.cuts == whole.cuts
