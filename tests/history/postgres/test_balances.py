"""What accounts have at any height is what the state had then, and so are the penalties of validators; what lies before
the first rows is not known.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE
from ledgerd.codec import codec_of
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.columns.typed_columns import amount_of
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import follow_with_balances
from ledgerd.history.postgres.verify import StoreComparison
from ledgerd.history.settings import HistorySettings
from ledgerd.projections.accounts.balances import Held, balances_in, penalties_in
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.assets import Asset
from tests.chain.networks import start_seven
from tests.chain.observing import observe
from tests.chain.recorded_chains import open_chain
from tests.history.embedded.test_following import branch
from tests.history.histories import HISTORY_FOLDER, SMALL, followed
from tests.history.postgres.feeding import CHAIN, feed_all, feeding
from tests.postgres import sql
from tests.recorded import recorded_blocks

SETTINGS = HistorySettings(balances=True)
NAME, LAST, EACH = "open-main", 400, 20
"""A recorded chain, how much of it, and at how many heights the state is looked at."""

Balances = dict[tuple[str, str], Decimal]

AT = """
    SELECT account, holding, amount FROM (
        SELECT DISTINCT ON (account, holding) account, holding, amount FROM (
            SELECT * FROM ledger.balances UNION ALL SELECT * FROM ledger.balances_reversible
        ) AS both_kinds
        WHERE block <= {height} ORDER BY account, holding, block DESC, ordinal DESC
    ) AS newest WHERE amount <> 0
"""

PENALTIES_AT = """
    SELECT validator, percent FROM (
        SELECT DISTINCT ON (validator) validator, percent FROM (
            SELECT * FROM ledger.penalties UNION ALL SELECT * FROM ledger.penalties_reversible
        ) AS both_kinds
        WHERE block <= {height} ORDER BY validator, block DESC
    ) AS newest WHERE percent <> 0
"""
PENALTY = "penalty"


def standing(chain: Chain) -> Balances:
    """What accounts have in the state, and the penalties of validators."""
    found: Balances = {}
    with chain.committed() as state:
        for name, amounts in balances_in(state):
            for held, amount in zip(Held, amounts, strict=True):
                if amount:
                    found[name, held.name.lower()] = amount_of(Asset(amount, held.symbol))[0]
        found |= {(name, PENALTY): Decimal(percent) for name, percent in penalties_in(state)}
    return found


def balances_at(address: str, height: int) -> Balances:
    rows: Any = sql(address, AT.format(height=height))
    penalties: Any = sql(address, PENALTIES_AT.format(height=height))
    found = {(account, holding): amount for account, holding, amount in rows}
    return found | {(validator, PENALTY): Decimal(percent) for validator, percent in penalties}


@contextmanager
def recording(chain: Chain, folder: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(folder / HISTORY_FOLDER, SETTINGS, chain.block_log, SMALL) as store:
        follow_with_balances(chain, store, SETTINGS)
        yield store


def feed(address: str, folder: Path) -> None:
    source = HistorySource(folder, SETTINGS)
    with feeding(address, source, SETTINGS) as feeder:
        feed_all(feeder)
    assert list(StoreComparison(address, source, SETTINGS, CHAIN).differences()) == []
    source.close()


def replay(chain: Chain, first: int, last: int) -> dict[int, Balances]:
    """Apply recorded blocks; what the state has at some heights."""
    found = {}
    for number in range(first, last + 1):
        block = codec_of(Block).decode_exactly(recorded_blocks(NAME)[number - 1])
        chain.push_block(block, VERIFIED_BEFORE).or_raise()
        if number % (LAST // EACH) == 0:
            found[number] = standing(chain)
    return found


def test_the_balances_at_any_height_are_those_of_the_state(postgres: str, tmp_path: Path) -> None:
    with open_chain(NAME, tmp_path) as chain, recording(chain, tmp_path):
        heights = replay(chain, 1, LAST)
    feed(postgres, tmp_path)
    assert len(heights) == EACH
    for height, expected in heights.items():
        assert balances_at(postgres, height) == expected, height
    assert sql(postgres, "SELECT count(*) FROM ledger.balances WHERE change = 0") == [(0,)]
    assert sum(holding == PENALTY for _, holding in heights[LAST]) > 5
    tied = "SELECT count(*) > 20 FROM ledger.statement WHERE type IS NOT NULL"
    assert sql(postgres, tied) == [(True,)]


def test_what_lies_before_the_first_rows_is_not_known(postgres: str, tmp_path: Path) -> None:
    with open_chain(NAME, tmp_path) as chain:
        replay(chain, 1, 100)
    with open_chain(NAME, tmp_path) as chain, recording(chain, tmp_path):
        begun = standing(chain)
        heights = replay(chain, 101, 300)
    feed(postgres, tmp_path)
    assert balances_at(postgres, 100) == begun
    for height, expected in heights.items():
        assert balances_at(postgres, height) == expected, height
    asked = "SELECT ledger.balance_at('viz', 'balance', {0}), ledger.balance_at('nobody', 'balance', {0})"
    ((before, nobody),) = sql(postgres, asked.format(99))
    assert (before, nobody) == (None, None)
    ((at_once, nobody),) = sql(postgres, asked.format(100))
    assert (at_once, nobody) == (begun["viz", "balance"], 0)


def test_balances_that_are_recorded_later_begin_there(postgres: str, tmp_path: Path) -> None:
    """The blocks were fed already when the node was told to record balances too."""
    with open_chain(NAME, tmp_path) as chain, followed(chain, tmp_path):
        replay(chain, 1, 60)
    feed(postgres, tmp_path)
    assert balances_at(postgres, 60) == {}
    with open_chain(NAME, tmp_path) as chain, recording(chain, tmp_path):
        begun = standing(chain)
        feed_within(postgres, tmp_path)
        assert balances_at(postgres, 60) == begun
        replay(chain, 61, 90)
        expected = standing(chain)
    feed(postgres, tmp_path)
    assert balances_at(postgres, 90) == expected


def feed_within(address: str, folder: Path) -> None:
    """Feed while the chain is open, in a process of its own: one process opens a history only once."""
    code = (
        "from pathlib import Path; from tests.history.postgres.test_balances import feed; "
        f"feed({address!r}, Path({str(folder)!r}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)  # noqa: S603 - ourselves


def test_a_fork_takes_balances_back_exactly(postgres: str, tmp_path: Path) -> None:
    other = start_seven(tmp_path / "other")
    node = start_seven(tmp_path / "node")
    with other.chain, node.chain as chain, recording(chain, node.folder) as store:
        for each in other.produce(40):
            node.chain.push_block(each).or_raise()
        branch(node, 2, 0, "short")
        feed_within(postgres, node.folder)
        assert balances_at(postgres, chain.head_number) == standing(chain)
        node.follow(branch(other, 4, 1, "long"))
        assert chain.head_id == other.chain.head_id
        feed_within(postgres, node.folder)
        assert balances_at(postgres, chain.head_number) == standing(chain)
        assert store.balances_begin is not None


@pytest.mark.parametrize("kept", [True, False])
def test_nothing_is_gathered_for_nobody(tmp_path: Path, kept: bool) -> None:
    with open_chain(NAME, tmp_path) as chain:
        with EmbeddedStore(tmp_path / HISTORY_FOLDER, SETTINGS, chain.block_log, SMALL) as store:
            follow_with_balances(chain, store, HistorySettings(balances=kept))
            told: list[Any] = []
            observe(chain, told.append)
            replay(chain, 1, 3)
            assert (store.balances_begin is not None) == kept
        assert all((event.traced is not None) == kept for event in told if hasattr(event, "traced"))
